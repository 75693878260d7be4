"""Full-text search over all branches of a workspace."""

from __future__ import annotations

import pytest
from conversing import answered, ask, talk, tool_call, tool_result

from graphstore import GraphStore
from graphstore.errors import InvalidInput

pytestmark = pytest.mark.rule("W4")


def found(store: GraphStore, query: str, **options) -> list[str]:
    return [hit.node_id for hit in store.search(query, **options)[0]]


def test_a_hit_says_where_it_lies_and_whether_it_is_on_the_accepted_path(store: GraphStore) -> None:
    conversation_id, (old,) = talk(store, ("What was the revenue?", "It was four million"))
    new = answered(store.regenerate(conversation_id), "Five million it was")
    hits = {hit.node_id: hit for hit in store.search("million")[0]}
    assert set(hits) == {old, new}
    assert (hits[old].on_accepted_path, hits[new].on_accepted_path) == (False, True)
    assert (hits[old].conversation_id, hits[new].accepted_in) == (conversation_id, (conversation_id,))
    hit = hits[old]
    assert hit.role == "assistant"
    assert [hit.snippet[start:end] for start, end in hit.spans] == ["million"]
    assert store.search("revenue")[0][0].role == "user"
    fork = store.fork(old)
    assert store.search("four")[0][0].accepted_in == (fork,)


def test_all_words_and_phrases_have_to_be_there(store: GraphStore) -> None:
    _, (node, other) = talk(store, ("green apples", "and red pears"), ("red apples", "and green pears"))
    assert set(found(store, "APPLES red")) == {node, other}
    assert found(store, '"red apples"') == [other]
    assert found(store, "apples plums") == []


def test_tool_calls_and_results_are_found_but_no_reasoning_and_no_names_of_fields(store: GraphStore) -> None:
    conversation_id = store.create_conversation()
    with store.turn(conversation_id) as turn:
        first = turn.call("look it up")
        first.succeed(
            [
                {"type": "reasoning", "text": "secretthought"},
                tool_call("1", "websearch", '{"query": "line\\nbreak zebra"}'),
            ]
        )
        second = turn.call([tool_result("1", "a giraffe")])
        second.succeed("done")
    assert found(store, "zebra") == found(store, "websearch") == found(store, "break") == [first.id]
    assert store.search("zebra")[0][0].role == "tool_call"
    assert store.search("giraffe")[0][0].role == "tool_result"
    for nothing in ("secretthought", "query", "call_id", "arguments", "message"):
        assert found(store, nothing) == []


@pytest.mark.rule("S7")
@pytest.mark.parametrize("recorded", [False, True], ids=["a turn", "recorded"])
def test_a_heavy_string_is_found_on_every_node_that_has_it_but_its_words_are_stored_once(store, cypher, recorded):
    conversation_id = store.create_conversation()
    heavy = "tapir " + "filler " * 1000 + "okapi"
    nodes = []
    for answer in ("first answer", "second answer"):
        if recorded:
            nodes.append(store.recorder(conversation_id).record([tool_result("1", heavy)], answer))
        else:
            nodes.append(ask(store, conversation_id, [tool_result("1", heavy)], answer))
    assert set(found(store, "tapir okapi")) == set(found(store, "tapir")) == set(nodes)
    assert found(store, "second") == [nodes[1]]
    kept = cypher("MATCH (n:Node {workspace: $workspace}) RETURN n.text AS text ORDER BY n.created_at")
    assert [row["text"] for row in kept] == ["first answer", "second answer"]


def test_a_heavy_string_that_is_not_stored_as_plain_text_is_found_by_its_beginning(store: GraphStore) -> None:
    conversation_id = store.create_conversation()
    node = ask(store, conversation_id, b'[{"role":"user","content":"caf\\u00e9 quagga ' + b"x" * 5000 + b'"}]', "done")
    assert found(store, "café quagga") == [node]


def test_what_is_pending_failed_or_compacted_is_found(store: GraphStore) -> None:
    conversation_id = store.create_conversation()
    turn = store.turn(conversation_id)
    call = turn.call("walrus")
    assert found(store, "walrus") == [call.id]
    call.fail("error")
    assert found(store, "walrus") == [call.id]
    summary = store.compact(conversation_id, "about an ocelot")
    assert found(store, "ocelot") == [summary]


@pytest.mark.rule("S6", "X2", "X3")
def test_hidden_erased_deleted_and_cleared_nodes_never_appear(store: GraphStore) -> None:
    conversation_id, (old,) = talk(store, ("badger", "b"))
    answered(store.edit(conversation_id, old, "weasel"), "c")
    store.tombstone(old)
    assert found(store, "badger") == []
    store.restore(old)
    assert found(store, "badger") == [old]
    fork = store.fork(old)
    store.delete_conversation(conversation_id, on_shared="erase")
    assert found(store, "badger") == found(store, "weasel") == []
    ask(store, fork, "marten", "d")
    store.clear(fork)
    assert found(store, "marten") == []


@pytest.mark.rule("S8")
def test_another_workspace_is_never_found(store: GraphStore, other_store: GraphStore) -> None:
    talk(store, ("heron", "b"))
    assert found(other_store, "heron") == []
    for raw in ("heron", "heron) OR (heron", f'workspace:"{store.workspace}"', "workspace:* OR text:heron", "x OR *:*"):
        assert found(other_store, raw, raw=True) == []
    assert found(store, store.workspace.split("-")[-1]) == [], "the workspace's name is no text"


@pytest.mark.parametrize(
    "query",
    [
        'un"balanced',
        "a AND",
        "(x",
        "x)",
        "[1 TO",
        "^2",
        "a:b",
        "\\",
        "/re",
        "*",
        "don't",
        "NOT",
        "a && || b",
        "é\ud800é",
    ],
)
def test_hostile_words_are_only_words(store: GraphStore, query: str) -> None:
    _, (node,) = talk(store, (f"here is {query} inside".encode("utf-8", "replace").decode(), "b"))
    try:
        hits = found(store, query)
    except InvalidInput:
        return
    assert hits == [node]


def test_lucenes_syntax_is_for_those_who_ask_for_it(store: GraphStore) -> None:
    _, (first, second) = talk(store, ("kangaroo", "b"), ("koala", "d"))
    assert set(found(store, "k*a", raw=True)) == {second}
    assert set(found(store, "kangaroo OR koala", raw=True)) == {first, second}
    for unreadable in ("[koala", '"}) DETACH DELETE n //'):
        with pytest.raises(InvalidInput, match="Lucene"):
            store.search(unreadable, raw=True)


@pytest.mark.parametrize("query", ["", "   ", "!!!", '""', "x" * 1001, None, 7])
def test_what_has_no_word_is_refused(store: GraphStore, query) -> None:
    with pytest.raises(InvalidInput):
        store.search(query)


def test_pages_give_each_hit_once(store: GraphStore) -> None:
    _, nodes = talk(store, *((f"otter number {i}", "b") for i in range(7)))
    listed: list[str] = []
    after: str | None = None
    for expected in (3, 3, 1):
        page, after = store.search("otter", limit=3, after=after)
        assert len(page) == expected
        listed += [hit.node_id for hit in page]
    assert after is None
    assert sorted(listed) == sorted(nodes)
    for wrong in ("nonsense", "LTEgeA"):
        with pytest.raises(InvalidInput):
            store.search("otter", after=wrong)
