"""What each route gives."""

from __future__ import annotations

import json
from datetime import datetime

import pytest
from fastapi.testclient import TestClient
from told import Story

from graphstore import GraphStore
from graphstore.errors import CursorMoved

pytestmark = pytest.mark.rule("H1")


class TestConversations:
    def test_an_empty_workspace_lists_nothing(self, client: TestClient):
        assert client.get("/v1/conversations").json() == {"conversations": [], "next": None}

    @pytest.mark.rule("H6")
    def test_pages_follow_each_other_and_hold_each_conversation_once(self, store: GraphStore, client: TestClient):
        made = [store.create_conversation(title=str(n)) for n in range(5)]
        listed, after = [], None
        for _ in range(3):
            page = client.get("/v1/conversations", params={"limit": 2} | ({"after": after} if after else {})).json()
            listed += [conversation["id"] for conversation in page["conversations"]]
            after = page["next"]
        assert after is None
        assert listed == made[::-1]

    def test_a_line_tells_how_many_calls_and_branches_there_are(self, client: TestClient, story: Story):
        (line,) = client.get("/v1/conversations").json()["conversations"]
        assert line["nodes"] == line["branches"] == 2
        assert (line["id"], line["cursor"]) == (story.id, story.again)

    @pytest.mark.rule("H2")
    def test_the_version_is_the_etag_and_changes_with_a_move(self, store: GraphStore, client: TestClient, story: Story):
        before = client.get(f"/v1/conversations/{story.id}")
        assert before.headers["etag"] == f'"{before.json()["version"]}"'
        store.switch(story.id, story.first)
        after = client.get(f"/v1/conversations/{story.id}")
        assert after.headers["etag"] != before.headers["etag"]
        assert after.json()["cursor"] == story.first

    def test_a_running_turn_is_shown_with_who_holds_it(self, store: GraphStore, client: TestClient):
        conversation_id = store.create_conversation()
        with store.turn(conversation_id, owner="tab 1") as turn:
            call = turn.call("Hello?")
            shown = client.get(f"/v1/conversations/{conversation_id}").json()["turn"]
            call.succeed("Hello.")
        assert (shown["owner"], shown["turn_id"], shown["node_id"]) == ("tab 1", turn.id, call.id)
        assert datetime.fromisoformat(shown["expires_at"]).tzinfo is not None


class TestAlongAConversation:
    def test_the_path_holds_the_accepted_answer_only(self, client: TestClient, story: Story):
        (node,) = client.get(f"/v1/conversations/{story.id}/path").json()["nodes"]
        assert (node["id"], node["model"], node["status"]) == (story.again, "gpt-5", "succeeded")

    def test_the_tree_holds_both(self, client: TestClient, story: Story):
        nodes = client.get(f"/v1/conversations/{story.id}/tree").json()["nodes"]
        assert [node["id"] for node in nodes] == [story.first, story.again]

    @pytest.mark.rule("B4")
    def test_markers_say_two_of_two_and_where_the_arrow_leads(self, client: TestClient, story: Story):
        (marker,) = client.get(f"/v1/conversations/{story.id}/markers").json()["markers"]
        assert (marker["position"], marker["count"]) == (2, 2)
        assert (marker["left"], marker["right"]) == (story.first, None)

    @pytest.mark.rule("C4")
    def test_moves_come_in_order_with_their_reasons(self, client: TestClient, story: Story):
        moves = client.get(f"/v1/conversations/{story.id}/moves").json()["moves"]
        assert [move["seq"] for move in moves] == sorted(move["seq"] for move in moves)
        assert [move["to_id"] for move in moves if move["accepted"]][-1] == story.again
        assert "regenerate" in [move["reason"] for move in moves]

    @pytest.mark.rule("C3")
    def test_a_branch_that_lost_the_race_is_listed_as_unseen(self, store: GraphStore, client: TestClient):
        conversation_id = store.create_conversation()
        ours = store.turn(conversation_id, exclusive=False)
        call = ours.call("Ours")
        with store.turn(conversation_id, exclusive=False) as theirs:
            theirs.call("Theirs").succeed("First.")
        call.succeed("Second.")
        with pytest.raises(CursorMoved):
            ours.end()
        (branch,) = client.get(f"/v1/conversations/{conversation_id}/unseen-branches").json()["branches"]
        assert branch["node_id"] == call.id

    def test_a_node_comes_with_its_items(self, client: TestClient, story: Story):
        node = client.get(f"/v1/nodes/{story.first}").json()
        assert node["sent"] == [{"type": "message", "role": "user", "content": "What was our revenue?"}]
        assert node["returned"][0]["content"] == "4.2 million."
        assert node["finished_at"].endswith("Z")


class TestRunning:
    def test_health_asks_no_database(self, store: GraphStore, client: TestClient, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(store.session.database, "session", None)
        assert client.get("/health").json() == {"status": "up"}

    def test_ready_names_the_database_that_answered(self, store: GraphStore, client: TestClient):
        answer = client.get("/ready").json()
        assert (answer["status"], answer["workspace"]) == ("ready", store.workspace)
        assert "Neo4j" in answer["database"]["name"]
        assert answer["database"]["version"]


class TestExactText:
    @pytest.mark.rule("S7")
    def test_numbers_and_lone_surrogates_go_out_as_they_were_stored(self, store: GraphStore, client: TestClient):
        raw = b'[{"type":"message","role":"user","content":"\\ud800\\u0000","n":1e400,"i":18446744073709551617000}]'
        conversation_id = store.create_conversation(title="\ud800")
        with store.turn(conversation_id) as turn:
            call = turn.call(raw)
            call.succeed("Fine.")
        for address in (
            "/v1/conversations",
            f"/v1/conversations/{conversation_id}",
            f"/v1/conversations/{conversation_id}/path",
            f"/v1/conversations/{conversation_id}/tree",
            f"/v1/conversations/{conversation_id}/context",
            f"/v1/nodes/{call.id}",
        ):
            answer = client.get(address)
            assert answer.status_code == 200, address
            json.loads(answer.content.decode("utf-8"))  # strictly UTF-8, and JSON
            if "path" in address or "context" in address or "nodes" in address:
                assert b'"\\ud800\\u0000"' in answer.content
                assert b"1e400" in answer.content
                assert b"18446744073709551617000" in answer.content
