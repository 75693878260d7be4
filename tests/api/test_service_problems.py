"""Every error is a problem (RFC 9457), and says nothing that is nobody's business."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient
from told import Story

from graphstore import GraphStore, errors
from graphstore.api import create_app, problems

pytestmark = pytest.mark.rule("H3")

SECRET = "bolt://neo4j:hunter2@db.internal:7687"


def raising(store: GraphStore, monkeypatch: pytest.MonkeyPatch, error: Exception) -> TestClient:
    """A client of a service whose store can only raise ``error`` when asked for a conversation."""

    def fail(_: str) -> Any:
        raise error

    monkeypatch.setattr(store, "conversation", fail)
    return TestClient(create_app(store))


def problem_of(answer: Any) -> dict[str, Any]:
    assert answer.headers["content-type"] == "application/problem+json"
    body: dict[str, Any] = answer.json()
    assert body["status"] == answer.status_code
    assert body["title"]
    assert body["detail"]
    return body


class TestTheTable:
    def test_every_error_of_the_package_has_a_place(self):
        unlisted = {errors.GraphStoreError, errors.ServerError, errors.SchemaError, errors.QueryError}
        for error in vars(errors).values():
            if isinstance(error, type) and issubclass(error, errors.GraphStoreError) and error not in unlisted:
                assert any(cls in problems.TABLE for cls in error.__mro__), error

    def test_a_lost_race_is_409_with_the_cursor_and_the_branch_kept(self, store, monkeypatch):
        client = raising(store, monkeypatch, errors.CursorMoved("c", "a", "b", "mine"))
        problem = problem_of(client.get("/v1/conversations/c"))
        assert problem["status"] == 409
        assert (problem["expected"], problem["cursor"], problem["kept"]) == ("a", "b", "mine")

    def test_a_running_turn_is_423_with_who_holds_it_and_until_when(self, store, monkeypatch):
        until = datetime(2026, 11, 30, 9, tzinfo=UTC)
        client = raising(store, monkeypatch, errors.TurnInProgress("c", "t", "tab 1", until))
        problem = problem_of(client.get("/v1/conversations/c"))
        assert problem["status"] == 423
        assert (problem["turn_id"], problem["owner"]) == ("t", "tab 1")
        assert problem["expires_at"] == "2026-11-30T09:00:00Z"

    def test_a_damaged_path_is_409(self, store, monkeypatch):
        problem = problem_of(raising(store, monkeypatch, errors.PathBroken("n", "top")).get("/v1/conversations/c"))
        assert (problem["status"], problem["node_id"], problem["top_id"]) == (409, "n", "top")

    def test_a_compaction_that_this_reader_cannot_read_is_409_and_names_those_who_can(self, store, monkeypatch):
        client = raising(store, monkeypatch, errors.CompactionUnreadable("n", "k", ("openai",)))
        problem = problem_of(client.get("/v1/conversations/c"))
        assert (problem["status"], problem["compaction_id"], problem["readers"]) == (409, "k", ["openai"])

    def test_a_database_that_is_away_is_503_with_a_time_to_come_back(self, store, monkeypatch, caplog):
        client = raising(store, monkeypatch, errors.ServerUnavailable(f"{SECRET} can't be reached"))
        answer = client.get("/v1/conversations/c")
        assert problem_of(answer)["status"] == 503
        assert int(answer.headers["retry-after"]) > 0
        assert "hunter2" not in answer.text
        assert "hunter2" in caplog.text

    @pytest.mark.parametrize(
        "error", [RuntimeError(SECRET), errors.QueryError(f"MATCH (n) {SECRET}"), errors.SchemaError(SECRET)]
    )
    def test_anything_else_is_500_without_its_words_and_logged(self, store, monkeypatch, caplog, error):
        with caplog.at_level(logging.ERROR):
            answer = raising(store, monkeypatch, error).get("/v1/conversations/c")
        problem = problem_of(answer)
        assert problem["status"] == 500
        assert "hunter2" not in answer.text
        assert "MATCH" not in answer.text
        assert "Traceback" not in answer.text
        assert problem["instance"] in caplog.text
        assert type(error).__name__ in caplog.text


class TestAddresses:
    @pytest.mark.parametrize("address", ["/", "/nope", "/v1", "/v1/conversations/", "/v1/conversations/a/nope"])
    def test_an_unknown_address_is_404(self, client, address):
        assert problem_of(client.get(address))["status"] == 404

    @pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
    def test_a_method_that_is_not_possible_is_405_and_names_those_that_are(self, client, method):
        answer = client.request(method, "/v1/conversations/a/path")
        assert problem_of(answer)["status"] == 405
        assert "GET" in answer.headers["allow"]

    @pytest.mark.parametrize(
        "query", ["limit=0", "limit=1001", "limit=many", "after=%00", "after=bm90IGEga2V5", "after=@@", "after="]
    )
    def test_a_page_that_cannot_be_is_422(self, client, query):
        assert problem_of(client.get(f"/v1/conversations?{query}"))["status"] == 422

    def test_an_unknown_rendering_is_422_and_names_those_there_are(self, client, story: Story):
        problem = problem_of(client.get(f"/v1/conversations/{story.id}/context?as=telegram"))
        assert problem["status"] == 422
        assert problem["errors"][0]["name"] == "as"
        assert "openai-chat" in problem["detail"]

    def test_what_was_sent_in_the_wrong_place_is_not_repeated(self, client):
        assert "hunter2" not in client.get("/v1/conversations?limit=hunter2").text


class TestIds:
    ROUTES = (
        "/v1/conversations/{}",
        "/v1/conversations/{}/context",
        "/v1/conversations/{}/path",
        "/v1/conversations/{}/markers",
        "/v1/conversations/{}/moves",
        "/v1/conversations/{}/tree",
        "/v1/conversations/{}/unseen-branches",
        "/v1/nodes/{}",
        "/v1/nodes/{}/context",
    )

    @pytest.mark.parametrize("route", ROUTES)
    @pytest.mark.parametrize(
        "id", ["nobody", "%00", "%ED%A0%80", "%FF", "a%2Fb", "%2F", "..%2F..%2Fetc", "%0A", "%F0%9F%8C%B3", "'%7D)"]
    )
    def test_an_id_that_does_not_exist_is_404(self, client, route, id):
        assert problem_of(client.get(route.format(id)))["status"] == 404

    @pytest.mark.parametrize("route", ROUTES)
    def test_an_id_longer_than_any_can_be_is_422(self, client, route):
        problem = problem_of(client.get(route.format("x" * 5000)))
        assert problem["status"] == 422
        assert len(problem["detail"]) < 200

    @pytest.mark.parametrize("id", ["user/7/thread", "a?b#c", "ü 🌳", "100%"])
    def test_any_id_that_can_be_given_can_be_asked_for(self, store, client, id):
        store.create_conversation(id=id)
        with store.turn(id) as turn:
            turn.call("Hello?", id=f"node of {id}").succeed("Hello.")
        assert client.get(f"/v1/conversations/{quote(id, safe='')}").json()["id"] == id
        assert client.get(f"/v1/conversations/{quote(id, safe='')}/path").json()["nodes"][0]["id"] == f"node of {id}"
        assert client.get(f"/v1/nodes/{quote(f'node of {id}', safe='')}").json()["conversation_id"] == id

    @pytest.mark.rule("S8", "H4")
    def test_another_workspace_s_ids_answer_404(self, other_store, client):
        hers = other_store.create_conversation(id="hers")
        with other_store.turn(hers) as turn:
            call = turn.call("Secret?")
            call.succeed("Secret.")
        for route in self.ROUTES:
            answer = client.get(route.format(call.id if "nodes" in route else hers))
            assert problem_of(answer)["status"] == 404
            assert "Secret" not in answer.text


class TestHosts:
    def test_a_service_started_for_some_names_answers_to_no_other(self, store):
        app = create_app(store, hosts={"localhost", "127.0.0.1", "::1"})
        for host in ("localhost", "127.0.0.1:8750", "[::1]:8750", "LOCALHOST:1"):
            assert TestClient(app).get("/health", headers={"host": host}).status_code == 200
        for host in ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example:8750", ""):
            assert problem_of(TestClient(app).get("/health", headers={"host": host}))["status"] == 421
