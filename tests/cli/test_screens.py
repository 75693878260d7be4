"""``graphstore bubbles`` and ``saw``: what a screen shows and showed, and what a model saw."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def screen(store):
    """A conversation whose second answer was regenerated, with bubbles; its nodes in order of writing."""
    id = store.create_conversation(title="Screen")
    nodes = []
    for n in (1, 2):
        with store.turn(id) as turn:
            turn.call(f"Q{n}").succeed(f"A{n}")
        nodes.append(turn.last_id)
        store.add_bubble(turn.last_id, f"Q{n} \x1b[2J")
    turn = store.regenerate(id)
    turn.current.succeed("A2b", end_turn=True)
    nodes.append(turn.last_id)
    store.add_bubble(turn.last_id, {"chart": [1, 2]})
    return id, nodes


@pytest.mark.rule("D2", "L3")
def test_bubbles_are_shown_with_the_place_of_their_turn_and_exact_for_programs(cli, screen):
    id, _ = screen
    page = json.loads(cli("bubbles", id, "--json").out)
    assert [bubble["content"] for bubble in page["bubbles"]] == [{"text": "Q1 \x1b[2J"}, {"chart": [1, 2]}]
    assert [(marker["position"], marker["count"]) for marker in page["markers"]] == [(1, 1), (2, 2)]
    shown = cli("bubbles", id)
    assert "\x1b" not in shown.out
    assert "2/2" in shown.out.splitlines()[-1]
    assert '{"chart":[1,2]}' in shown.out


@pytest.mark.rule("D2", "L3")
def test_a_page_of_bubbles_says_how_to_see_the_one_above(cli, screen):
    id, _ = screen
    last = cli("bubbles", id, "--limit", "1")
    key = last.err.split()[-1]
    above = json.loads(cli("bubbles", id, "--before", key, "--json").out)
    assert [bubble["content"]["text"] for bubble in above["bubbles"]] == ["Q1 \x1b[2J"]
    assert cli("bubbles", id, "--before", "nowhere").code == 2


@pytest.mark.rule("R1", "L3")
def test_saw_prints_the_request_of_a_call_and_whether_it_is_the_one_that_was_sent(cli, screen):
    id, nodes = screen
    told = json.loads(cli("saw", id, "--node", nodes[1], "--as", "openai-chat", "--json").out)
    assert (told["verdict"], told["hash"] == told["recorded_hash"]) == ("same", True)
    assert [message["content"] for message in told["request"]["messages"]] == ["Q1", "A1", "Q2"]
    shown = cli("saw", id, "--node", nodes[1])
    assert [item["content"] for item in json.loads(shown.out)["items"]] == ["Q1", "A1", "Q2"]
    assert "this is what was sent" in shown.err


@pytest.mark.rule("R2", "L3")
def test_saw_prints_the_screen_of_a_time(cli, screen, store):
    id, nodes = screen
    second = next(move for move in store.moves(id) if move.to_id == nodes[1])
    told = json.loads(cli("saw", id, "--at", second.at.isoformat(), "--json").out)
    assert (told["path"], [bubble["content"]["text"] for bubble in told["bubbles"]]) == (nodes[:2], ["Q1 \x1b[2J"])
    assert '{"chart":[1,2]}' in cli("saw", id, "--at", "2999-01-01").out
    assert "was empty then" in cli("saw", id, "--at", "2020-01-01").err


@pytest.mark.rule("L3")
def test_saw_wants_a_call_or_a_time_and_says_so(cli, screen):
    id, nodes = screen
    for arguments in ([], ["--node", nodes[0], "--at", "2020-01-01"], ["--at", "yesterday"]):
        refused = cli("saw", id, *arguments)
        assert (refused.code, refused.out) == (2, "")
        assert len(refused.err.splitlines()) == 1


@pytest.mark.rule("X2", "L3")
def test_delete_says_how_many_bubbles_went(cli, screen):
    assert cli("delete", screen[0], "--yes").out.startswith("Removed 3 nodes, 3 bubbles and 4 moves")
