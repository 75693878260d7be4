"""``graphstore effects``."""

from __future__ import annotations

import json

import pytest

from graphstore import GraphStore


@pytest.mark.rule("T2", "T3", "L3")
def test_effects_are_listed_with_their_branch_and_what_undoes_them(cli, store: GraphStore) -> None:
    conversation_id = store.create_conversation()
    with store.turn(conversation_id) as turn:
        turn.call("Open a ticket").succeed("Done")
    ticket = store.effects.propose(turn.current.id, "open_ticket", reversible=True, compensation={"close": "7\x1b[1m"})
    store.effects.claim(ticket, "worker 1")
    mail = store.effects.propose(turn.current.id, "send_mail", {"to": "ann"})
    shown = cli("effects", conversation_id).out
    assert "claimed by worker 1" in shown
    assert "\x1b" not in shown
    assert "7\\u001b[1m" in shown
    assert "can't be undone" in shown
    assert "left behind" not in shown
    store.effects.finish(ticket, "done")
    with store.regenerate(conversation_id) as turn:
        turn.current.succeed("Not done")
    assert "left behind" in cli("effects", conversation_id).out
    listed = json.loads(cli("effects", conversation_id, "--json").out)
    assert [(one["id"], one["status"], one["on_path"]) for one in listed] == [
        (ticket, "done", False),
        (mail, "proposed", False),
    ]
    assert [one["id"] for one in json.loads(cli("effects", conversation_id, "--left-behind", "--json").out)] == [ticket]
