"""Only what is new below a context that the client holds."""

from __future__ import annotations

import pytest
from conversing import answered, ask, assistant, said, talk, tool_call, tool_result, user

from graphstore import GraphStore
from graphstore.errors import ConversationNotFound, HeldPartChanged, InvalidInput, NodeNotFound

pytestmark = pytest.mark.rule("W7")


def refused(store: GraphStore, conversation_id: str, below: str) -> str:
    with pytest.raises(HeldPartChanged) as caught:
        store.tail(conversation_id, below=below)
    return caught.value.reason


def test_the_held_part_and_the_tail_are_the_whole(store: GraphStore, new_process_store) -> None:
    conversation_id, _ = talk(store, ("a", "b"), ("c", "d"))
    held = store.context(conversation_id)
    first = ask(store, conversation_id, "e", "f", system="Be short")
    second = ask(store, conversation_id, "g", "h")
    other = new_process_store()
    tail = other.tail(conversation_id, below=held.bookmark)
    whole = other.context(conversation_id)
    assert tail.nodes == (first, second)
    assert held.items + tail.items == whole.items
    assert held.body[:-1] + b"," + tail.body[1:] == whole.body
    assert (tail.below, tail.cursor, tail.version, tail.epoch) == (held.node_id, second, whole.version, whole.epoch)
    assert tail.settings.system == "Be short"
    assert tail.bookmark == whole.bookmark
    assert store.tail(conversation_id, below=held).nodes == tail.nodes, "the context itself will do"


def test_a_tail_of_nothing_is_empty_and_proves_that_the_held_part_stands(store: GraphStore) -> None:
    conversation_id, nodes = talk(store, ("a", "b"))
    tail = store.tail(conversation_id, below=store.context(conversation_id))
    assert (tail.nodes, tail.items, tail.body) == ((), [], b"[]")
    assert tail.cursor == nodes[0]


def test_an_empty_conversation_is_held_as_such(store: GraphStore) -> None:
    conversation_id = store.create_conversation()
    mark = store.context(conversation_id).bookmark
    assert store.tail(conversation_id, below=mark).nodes == ()
    node = ask(store, conversation_id, "a", "b")
    tail = store.tail(conversation_id, below=mark)
    assert (tail.nodes, tail.below, said(tail.context)) == ((node,), None, ["a", "b"])
    store.clear(conversation_id)
    assert refused(store, conversation_id, tail.bookmark) == "off_path"


def test_a_tail_goes_on_from_a_tail(store: GraphStore) -> None:
    conversation_id, _ = talk(store, ("a", "b"))
    mark = store.context(conversation_id).bookmark
    for number in range(3):
        node = ask(store, conversation_id, f"q{number}", f"a{number}")
        tail = store.tail(conversation_id, below=mark)
        assert tail.nodes == (node,)
        mark = tail.bookmark


@pytest.mark.rule("A2")
def test_a_tail_reads_only_itself_in_one_query(store: GraphStore, queries_of) -> None:
    conversation_id, _ = talk(store, *((f"q{i}", f"a{i}") for i in range(30)))
    mark = store.context(conversation_id).bookmark
    ask(store, conversation_id, "new", "newer")
    rows = []
    run = store.session.row
    other = store.in_workspace(store.workspace)
    other.session.row = lambda query, **given: rows.append(run(query, **given)) or rows[-1]  # type: ignore[method-assign]
    with queries_of(other) as names:
        other.tail(conversation_id, below=mark)
    assert names == ["read/extend"]
    assert len(rows[0]["ids"]) == 2, "the tail and the node it hangs on"


def test_after_a_switch_or_an_edit_the_client_is_told_to_read_it_all(store: GraphStore) -> None:
    conversation_id, nodes = talk(store, ("a", "b"), ("c", "d"))
    mark = store.context(conversation_id).bookmark
    early = store.context(node_id=nodes[0]).bookmark
    edited = answered(store.edit(conversation_id, nodes[1], "other"), "x")
    assert refused(store, conversation_id, mark) == "off_path"
    assert store.tail(conversation_id, below=early).nodes == (edited,), "what both share still stands"
    store.switch(conversation_id, nodes[1])
    assert store.tail(conversation_id, below=mark).nodes == ()


def test_a_compaction_its_reader_can_read_takes_the_place_of_the_held_part(store: GraphStore) -> None:
    conversation_id, _ = talk(store, ("a", "b"))
    mark = store.context(conversation_id).bookmark
    theirs = store.context(conversation_id, for_provider="openai").bookmark
    summary = store.compact(conversation_id, "b", readers=["openai"])
    after = ask(store, conversation_id, "c", "d")
    tail = store.tail(conversation_id, below=mark)
    assert tail.nodes == (summary, after)
    assert said(tail.context) == ["c", "d"], "unfolded: the original is what the client holds"
    assert refused(store, conversation_id, theirs) == "off_path"


@pytest.mark.rule("X2", "X3")
def test_what_was_deleted_erased_or_cleared_makes_the_held_part_stale(store: GraphStore) -> None:
    conversation_id, nodes = talk(store, ("a", "b"), ("c", "d"))
    fork = store.fork(nodes[1])
    own = ask(store, fork, "e", "f")
    mark = store.context(fork).bookmark
    ask(store, fork, "g", "h")
    assert store.tail(fork, below=mark).below == own
    store.delete_conversation(conversation_id, on_shared="erase")
    assert refused(store, fork, mark) == "removed"
    with pytest.raises(ConversationNotFound):
        store.tail(conversation_id, below=mark)


@pytest.mark.rule("C6")
def test_a_late_completion_above_makes_the_held_part_stale(store: GraphStore, cypher) -> None:
    conversation_id, _ = talk(store, ("a", "b"))
    late = store.turn(conversation_id, lease_seconds=0.05)
    call = late.call("c")
    cypher("MATCH (c:Conversation {workspace: $workspace}) SET c.turn_expires_at = datetime() - duration('PT1S')")
    ask(store, conversation_id, "e", "f")
    mark = store.context(conversation_id).bookmark
    ask(store, conversation_id, "g", "h")
    assert len(store.tail(conversation_id, below=mark).nodes) == 1
    with pytest.raises(Exception, match="no longer holds"):
        call.succeed("d")
    assert refused(store, conversation_id, mark) == "completed"


@pytest.mark.rule("A4")
def test_a_call_that_gets_its_result_later_was_left_out_of_the_held_part(store: GraphStore) -> None:
    conversation_id = store.create_conversation()
    first = ask(store, conversation_id, "a", [tool_call("1"), tool_call("2")])
    mark = store.context(node_id=first).bookmark
    # another call of the same id is answered by the nearest: the held part stays as it was
    second = ask(store, conversation_id, "b", [tool_call("1")])
    third = ask(store, conversation_id, [tool_result("1")], [assistant("done")])
    tail = store.tail(conversation_id, below=mark)
    assert tail.nodes == (second, third)
    assert [item["type"] for item in tail.items] == ["message", "tool_call", "tool_result", "message"]
    ask(store, conversation_id, [tool_result("2"), user("c")], "d")
    assert refused(store, conversation_id, mark) == "answered"


def test_a_node_can_be_named_as_the_end(store: GraphStore, other_store: GraphStore) -> None:
    _, nodes = talk(store, ("a", "b"), ("c", "d"), ("e", "f"))
    mark = store.context(node_id=nodes[0]).bookmark
    assert store.tail(node_id=nodes[1], below=mark).nodes == (nodes[1],)
    with pytest.raises(NodeNotFound):
        other_store.tail(node_id=nodes[1], below=mark)
    with pytest.raises(HeldPartChanged):
        store.tail(node_id=nodes[0], below=store.context(node_id=nodes[2]))


@pytest.mark.parametrize("mark", ["", "nonsense", "W10", "WzEsMiwzLDQsNV0", "WyJhIixbMV0sW10sW10sW11d", "é", 7])
def test_what_is_no_bookmark_is_refused(store: GraphStore, mark) -> None:
    conversation_id, _ = talk(store, ("a", "b"))
    with pytest.raises(InvalidInput):
        store.tail(conversation_id, below=mark)
