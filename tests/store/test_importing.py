"""Imports into the store: what is added, what stays, where the cursor goes."""

from __future__ import annotations

import json
import threading

import pytest

from graphstore.models import Reason


def message(id, role, text, status="finished_successfully", at=1_700_000_000.0):
    return {
        "id": id,
        "author": {"role": role},
        "create_time": at,
        "content": {"content_type": "text", "parts": [text]},
        "status": status,
        "recipient": "all",
        "metadata": {},
    }


def export(tmp_path, *links, current, id="c1"):
    """A ChatGPT conversation of (id, parent, role, text[, status]) links."""
    mapping = {"root": {"id": "root", "parent": None, "children": [], "message": None}}
    for order, (node, parent, role, text, *status) in enumerate(links):
        mapping[node] = {
            "id": node,
            "parent": parent,
            "children": [],
            "message": message(node, role, text, *status, at=1_700_000_000.0 + order),
        }
        mapping[parent]["children"].append(node)
    path = tmp_path / f"{id}.json"
    conversation = {"id": id, "title": "T", "create_time": 1.0, "mapping": mapping, "current_node": current}
    path.write_text(json.dumps([conversation]))
    return path


FIRST = [("q1", "root", "user", "Q1"), ("a1", "q1", "assistant", "A1")]
MORE = [*FIRST, ("q2", "a1", "user", "Q2"), ("a2", "q2", "assistant", "A2")]


def texts(store, conversation_id):
    return [item["content"] for item in store.context(conversation_id).items]


def only(outcomes):
    (outcome,) = outcomes
    return outcome


@pytest.mark.rule("I5")
def test_importing_the_same_file_again_adds_nothing(store, tmp_path):
    path = export(tmp_path, *MORE, current="a2")
    first, second = only(store.import_file(path)), only(store.import_file(path))
    assert (first.nodes_added, first.nodes_known, first.cursor_moved) == (2, 0, True)
    assert (second.nodes_added, second.nodes_known, second.cursor_moved, second.cursor_left) == (0, 2, False, None)
    assert first.conversation_id == second.conversation_id
    assert len(store.moves(first.conversation_id)) == 1


@pytest.mark.rule("I5")
def test_a_longer_version_adds_only_the_new_nodes_and_moves_the_cursor(store, tmp_path):
    id = only(store.import_file(export(tmp_path, *FIRST, current="a1"))).conversation_id
    longer = only(store.import_file(export(tmp_path, *MORE, current="a2")))
    assert (longer.nodes_added, longer.nodes_known, longer.cursor_moved) == (1, 1, True)
    assert texts(store, id) == ["Q1", "A1", "Q2", "A2"]
    assert [move.reason for move in store.moves(id)] == [Reason.IMPORT, Reason.IMPORT]


@pytest.mark.rule("I5")
def test_a_cursor_that_was_moved_here_stays_where_it_is(store, tmp_path):
    id = only(store.import_file(export(tmp_path, *FIRST, current="a1"))).conversation_id
    with store.turn(id) as turn:
        turn.call("my own").succeed("here")
    longer = only(store.import_file(export(tmp_path, *MORE, current="a2")))
    assert (longer.nodes_added, longer.cursor_moved, longer.cursor_left) == (1, False, "moved_here")
    assert texts(store, id) == ["Q1", "A1", "my own", "here"]


@pytest.mark.rule("I3", "I5")
def test_a_reply_that_comes_later_is_a_sibling_of_the_question_without_one(store, tmp_path):
    question = [*FIRST, ("q2", "a1", "user", "Q2")]
    id = only(store.import_file(export(tmp_path, *question, current="q2"))).conversation_id
    assert store.path(id)[-1].failure.kind == "no_reply"
    only(store.import_file(export(tmp_path, *MORE, current="a2")))
    assert texts(store, id) == ["Q1", "A1", "Q2", "A2"]
    assert store.markers(id)[-1].count == 2


@pytest.mark.rule("I5")
def test_an_answer_that_was_still_growing_comes_in_whole_and_what_follows_hangs_under_it(store, tmp_path):
    growing = [("q1", "root", "user", "Q1"), ("a1", "q1", "assistant", "A", "in_progress")]
    id = only(store.import_file(export(tmp_path, *growing, current="a1"))).conversation_id
    whole = export(tmp_path, *FIRST, current="a1")
    assert only(store.import_file(whole)).nodes_added == 1
    assert texts(store, id) == ["Q1", "A1"]
    assert only(store.import_file(whole)).nodes_added == 0
    longer = export(tmp_path, *MORE, current="a2")
    assert only(store.import_file(longer)).nodes_added == 1
    assert texts(store, id) == ["Q1", "A1", "Q2", "A2"]
    assert only(store.import_file(longer)).nodes_added == 0


@pytest.mark.rule("I5")
def test_a_call_changed_in_place_is_kept_as_first_imported_and_counted(store, tmp_path):
    id = only(store.import_file(export(tmp_path, *MORE, current="a2"))).conversation_id
    changed = [FIRST[0], ("a1", "q1", "assistant", "A1, reworded"), *MORE[2:]]
    outcome = only(store.import_file(export(tmp_path, *changed, current="a2")))
    assert outcome.counts["changed"] == 1
    assert texts(store, id) == ["Q1", "A1", "Q2", "A2"]


@pytest.mark.rule("I2", "I3")
def test_branches_arrive_as_siblings_with_the_sources_own_leaf_current(store, tmp_path):
    path = export(
        tmp_path,
        *FIRST,
        ("a1b", "q1", "assistant", "A1 again"),
        ("q1b", "root", "user", "Q1 edited"),
        ("a3", "q1b", "assistant", "A3"),
        current="a1",
    )
    id = only(store.import_file(path)).conversation_id
    (marker,) = store.markers(id)
    assert (marker.position, marker.count, marker.version, marker.versions) == (1, 3, 1, 2)
    assert (marker.answer, marker.answers) == (1, 2)
    assert texts(store, id) == ["Q1", "A1"]
    store.switch(id, marker.siblings[-1])
    assert texts(store, id) == ["Q1 edited", "A3"]


@pytest.mark.rule("I5")
def test_two_importers_of_one_file_at_once_store_it_once(store, tmp_path):
    path = export(tmp_path, *MORE, current="a2")
    outcomes = []
    threads = [threading.Thread(target=lambda: outcomes.extend(store.import_file(path))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(outcome.nodes_added for outcome in outcomes) == 2
    assert len(store.tree(outcomes[0].conversation_id)) == 2


@pytest.mark.rule("I4")
def test_one_bad_conversation_never_stops_the_rest(store, tmp_path):
    good = json.loads(export(tmp_path, *FIRST, current="a1").read_text())
    path = tmp_path / "mixed.json"
    path.write_text(json.dumps([{"id": "bad", "title": "Bad", "mapping": 7}, *good]))
    bad, fine = store.import_file(path)
    assert bad.conversation_id is None
    assert bad.skipped
    assert fine.nodes_added == 1


@pytest.mark.rule("I6")
def test_a_chain_larger_than_a_batch_is_imported_whole(store, tmp_path, monkeypatch):
    monkeypatch.setattr("graphstore.store.importing.BATCH_NODES", 7)
    links, parent = [], "root"
    for n in range(40):
        links += [(f"q{n}", parent, "user", f"Q{n}"), (f"a{n}", f"q{n}", "assistant", f"A{n}")]
        parent = f"a{n}"
    path = export(tmp_path, *links, current=parent)
    outcome = only(store.import_file(path))
    assert outcome.nodes_added == 40
    assert len(texts(store, outcome.conversation_id)) == 80
    assert only(store.import_file(path)).nodes_known == 40


@pytest.mark.rule("I5")
def test_importing_again_leaves_the_time_of_the_last_change_alone(store, tmp_path):
    path = export(tmp_path, *MORE, current="a2")
    conversation_id = only(store.import_file(path)).conversation_id
    before = store.conversation(conversation_id).updated_at
    list(store.import_file(path))
    assert store.conversation(conversation_id).updated_at == before
    store.switch(conversation_id, store.path(conversation_id)[0].id)
    switched = store.conversation(conversation_id).updated_at
    list(store.import_file(path))
    assert store.conversation(conversation_id).updated_at == switched >= before
