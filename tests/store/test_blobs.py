"""Heavy strings, stored once each and read back as they were (rule S7)."""

from __future__ import annotations

import json

import pytest
from conversing import answered, ask, assistant, talk, tool_call, tool_result, user

from graphstore import GraphStore, errors, queries
from graphstore.fingerprint import sha256
from graphstore.importers import ImportedCall, ImportedConversation
from graphstore.importers.records import Report
from graphstore.store import sweeping

PAGE = 'A search result, line by line: "quoted", tab\t, ünïcödé, 日本語.\n' * 600


def blobs(cypher):
    return {
        row["sha256"]: row["data"]
        for row in cypher(
            "MATCH (b:Blob) WHERE b.workspace = $workspace AND "
            "b.setting IS NULL RETURN b.sha256 AS sha256, b.data AS data"
        )
    }


def stored_text(cypher, node_id):
    return cypher(
        "MATCH (n:Node {workspace: $workspace, id: $id}) RETURN n.sent + coalesce(n.returned, '') AS text", id=node_id
    )[0]["text"]


def searched(store, conversation_id, page=PAGE):
    """A turn of two rounds: a search, and what it found."""
    with store.turn(conversation_id) as turn:
        turn.call("Search").succeed([tool_call("c1")])
        turn.call([tool_result("c1", page)]).succeed("Found it")
    return turn.current.id


@pytest.mark.rule("S7")
def test_five_regenerations_that_share_a_search_result_store_it_once(store, new_process_store, cypher):
    conversation_id = store.create_conversation()
    searched(store, conversation_id)
    for _ in range(5):
        with store.regenerate(conversation_id) as turn:
            turn.current.succeed([tool_call("c1")])
            turn.call([tool_result("c1", PAGE)]).succeed("Found it again")
        assert PAGE not in stored_text(cypher, turn.current.id)
    assert blobs(cypher) == {sha256(PAGE): PAGE}
    for reader in (store, new_process_store()):
        assert reader.context(conversation_id).items[2]["output"] == PAGE
        assert json.loads(reader.context(conversation_id).body)[2]["output"] == PAGE


@pytest.mark.rule("S7", "S5")
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(json.dumps([user("x" * 5000)]), id="escaped as usual"),
        pytest.param('[ {"content": "%s" ,"role":"user", "n": 1.50, "z": 1e400} ]' % ("é" * 5000), id="odd spacing"),
        pytest.param('[{"role":"user","content":"%s"}]' % ("\\u00e9\\/" * 2000), id="other escapes"),
        pytest.param('[{"role":"user","content":"%s"}]' % ("\\ud800" * 2000), id="lone surrogates"),
        pytest.param('[{"role":"user","content":"%s"}]' % ("\\u0000" * 2000), id="NUL"),
        pytest.param('[{"role":"user","content":"\\/blob\\/t\\/%s"}]' % ("a" * 64), id="like a reference"),
        pytest.param('[{"role":"user","content":"x","\\/blob\\/j\\/%s":1}]' % ("a" * 64), id="a key like one"),
        pytest.param('[{"role":"user","content":"\\"\\/blob\\/t\\/%s"}]' % ("a" * 64), id="ends like one"),
        pytest.param(
            '[{"role":"user","content":"\\\\"},{"role":"user","content":"/blob/t/%s"}]' % ("a" * 64), id="slashes"
        ),
        pytest.param('[{"role":"user","content":"x","' + "k" * 5000 + '":"' + "v" * 5000 + '"}]', id="a long key"),
    ],
)
def test_what_was_written_is_read_back_byte_for_byte(store, new_process_store, text):
    conversation_id = store.create_conversation()
    node_id = ask(store, conversation_id, text.encode(), "short")
    body = new_process_store().context(node_id=node_id).body
    assert body.startswith(text[1:-1].strip().encode().join([b"[", b","])), "as it stood, in the same bytes"
    assert body == store.context(node_id=node_id).body
    assert new_process_store().saw_by_model(node_id).verdict == "same"
    assert json.dumps(store.node(node_id).sent) == json.dumps(json.loads(text)) or "1e400" in text


@pytest.mark.rule("S7")
def test_only_strings_above_the_limit_are_stored_apart(server, store, cypher):
    with GraphStore.connect(
        server.uri, auth=(server.username, server.password), workspace=store.workspace, blob_bytes=1000
    ) as small:
        conversation_id = small.create_conversation()
        first = ask(small, conversation_id, "q" * 998, "é" * 499)
        assert blobs(cypher) == {}, "998 bytes and the quotes are 1,000"
        second = ask(small, conversation_id, "q" * 999, "é" * 500)
        assert sorted(blobs(cypher).values()) == ["q" * 999, "é" * 500]
        assert [item["content"] for item in store.context(conversation_id).items] == [
            "q" * 998,
            "é" * 499,
            "q" * 999,
            "é" * 500,
        ]
    assert [len(node.sent[0]["content"]) for node in store.path(conversation_id)] == [998, 999]
    assert store.node(first).returned[0]["content"] == "é" * 499
    assert store.node(second).returned[0]["content"] == "é" * 500
    with pytest.raises(errors.InvalidInput, match="at least 256"):
        GraphStore.connect("bolt://unused", blob_bytes=10)


@pytest.mark.rule("S7", "X2")
def test_a_blob_goes_with_the_last_node_that_refers_to_it(store, cypher):
    first, second = store.create_conversation(), store.create_conversation()
    searched(store, first)
    searched(store, second)
    fork = store.fork(store.conversation(second).cursor)
    store.delete_conversation(first)
    assert blobs(cypher) == {sha256(PAGE): PAGE}
    store.delete_conversation(second)
    assert blobs(cypher) == {sha256(PAGE): PAGE}, "the fork stands on it"
    assert store.context(fork).items[2]["output"] == PAGE
    store.delete_conversation(fork)
    assert blobs(cypher) == {}


@pytest.mark.rule("S7", "S6", "X3")
def test_purging_clearing_and_erasing_let_blobs_go(store, cypher):
    conversation_id, (first,) = talk(store, ("Q", "A"))
    other = answered(store.regenerate(conversation_id), "long " * 2000)
    store.switch(conversation_id, first)
    store.tombstone(other)
    assert len(blobs(cypher)) == 1
    store.purge(other)
    assert blobs(cypher) == {}
    searched(store, conversation_id)
    store.clear(conversation_id)
    assert blobs(cypher) == {}
    end = searched(store, conversation_id)
    fork = store.fork(end)
    store.delete_conversation(conversation_id, on_shared="erase")
    assert blobs(cypher) == {}
    assert "[erased]" in store.context(fork).body.decode()


@pytest.mark.rule("S7", "I7")
def test_settings_with_the_text_of_a_heavy_string_stay_when_it_goes(store, new_process_store, cypher):
    prompt = "Be brief. " * 1000
    literal = json.dumps(prompt)
    conversation_id = store.create_conversation()
    ask(store, conversation_id, literal, "A", system=prompt)
    other = store.create_conversation()
    ask(store, other, "Q", "A", system=prompt)
    store.delete_conversation(conversation_id)
    assert new_process_store().context(other).settings.system == prompt
    ask(new_process_store(), other, literal, "A2")
    assert new_process_store().context(other).items[2]["content"] == literal
    assert new_process_store().context(other).settings.system == prompt


@pytest.mark.rule("S7", "K1", "B2", "R1")
def test_every_way_to_write_a_node_stores_heavy_strings_apart(store, new_process_store, cypher):
    conversation_id, (first,) = talk(store, ("Q" * 5000, "A" * 5000))
    corrected = store.correct(conversation_id, "C" * 5000)
    edited = answered(store.edit(conversation_id, first, "E" * 5000), "A" * 5000)
    compaction = store.compact(conversation_id, "S" * 5000, sent="T" * 5000)
    assert {data[0] for data in blobs(cypher).values()} == set("QACEST")
    reader = new_process_store()
    assert [item["content"][0] for item in reader.context(node_id=corrected).items] == ["Q", "C"]
    assert [item["content"][0] for item in reader.context(node_id=edited).items] == ["E", "A"]
    assert [item["content"] for item in reader.context(conversation_id).items] == ["S" * 5000]
    assert reader.saw_by_model(compaction).context.items[0]["content"] == "T" * 5000
    assert {node.id for node in reader.tree(conversation_id)} == {first, corrected, edited, compaction}
    again = answered(reader.regenerate(conversation_id, first, unfold=True), "R" * 5000)
    assert reader.node(again).sent[0]["content"] == "Q" * 5000


@pytest.mark.rule("S7", "I5")
def test_imports_store_heavy_strings_once_and_are_known_again(store, new_process_store, cypher):
    def conversation(name):
        calls = [
            ImportedCall(
                key=f"{name}{n}",
                parent_key=f"{name}{n - 1}" if n else None,
                turn_key=f"{name}{n}",
                round=0,
                sent=[user(f"Q{n}"), user(PAGE)],
                returned=[assistant(f"A{n}")],
            )
            for n in range(3)
        ]
        return ImportedConversation(
            source="test", source_id=name, calls=calls, report=Report(name), cursor_key=f"{name}2"
        )

    added = [list(store.import_conversations([conversation("a"), conversation("b")])) for _ in range(2)]
    assert [[outcome.nodes_added for outcome in run] for run in added] == [[3, 3], [0, 0]]
    assert blobs(cypher) == {sha256(PAGE): PAGE}
    uses = cypher("MATCH (n:Node)-[:USES]->(b:Blob {workspace: $workspace}) RETURN count(*) AS uses")[0]["uses"]
    assert uses == 6
    for outcome in added[0]:
        contents = [item["content"] for item in new_process_store().context(outcome.conversation_id).items]
        assert contents.count(PAGE) == 3
        store.delete_conversation(outcome.conversation_id)
    assert blobs(cypher) == {}


@pytest.mark.rule("S7", "T1")
def test_a_cached_tool_result_and_the_node_that_got_it_share_one_blob(store, cypher):
    conversation_id = store.create_conversation()
    searched(store, conversation_id)
    store.tool_cache.put("search", {"q": 1}, PAGE)
    store.tool_cache.put("search", {"q": 2}, {"pages": [PAGE, "other " * 1000]})
    assert len(blobs(cypher)) == 2
    assert store.tool_cache.get("search", {"q": 1}).output == PAGE
    assert store.tool_cache.get("search", {"q": 2}).output == {"pages": [PAGE, "other " * 1000]}
    store.tool_cache.put("search", {"q": 2}, "short")
    assert blobs(cypher) == {sha256(PAGE): PAGE}
    store.delete_conversation(conversation_id)
    assert store.tool_cache.get("search", {"q": 1}).output == PAGE
    store.tool_cache.evict("search")
    assert blobs(cypher) == {}


@pytest.mark.rule("S7", "S8")
def test_two_workspaces_with_the_same_string_have_a_blob_each(store, other_store, cypher):
    for one in (store, other_store):
        searched(one, one.create_conversation())
    store.delete_conversation(next(iter(store.conversations())).id)
    kept = next(iter(other_store.conversations())).id
    assert other_store.context(kept).items[2]["output"] == PAGE


@pytest.mark.rule("S7")
def test_a_damaged_store_says_which_blob_is_missing(store, new_process_store, cypher):
    conversation_id = store.create_conversation()
    node_id = searched(store, conversation_id)
    cypher("MATCH (b:Blob {workspace: $workspace, sha256: $sha256}) DETACH DELETE b RETURN 1", sha256=sha256(PAGE))
    for read in (lambda: new_process_store().context(conversation_id), lambda: store.node(node_id)):
        with pytest.raises(errors.PayloadMissing, match=sha256(PAGE)):
            read()


@pytest.mark.rule("S7", "A1")
def test_the_blobs_of_a_path_come_with_the_assembly_query_each_once(store, new_process_store, queries_of):
    conversation_id = store.create_conversation()
    for _ in range(4):
        searched(store, conversation_id)
    reader = new_process_store()
    with queries_of(reader) as names:
        assert len(reader.context(conversation_id).items) == 16
    assert names == ["read/assemble"]
    row = reader.session.row(queries.ASSEMBLE, conversation_id=conversation_id, node_id=None, readers=["*"])
    assert len(row["blobs"]) == 1


def settings_stored(cypher):
    rows = cypher("MATCH (b:Blob {workspace: $workspace}) WHERE b.setting RETURN b.data AS data")
    return {json.loads(row["data"]) for row in rows}


@pytest.mark.rule("S7")
def test_settings_that_no_node_has_go_at_the_second_look_and_those_in_use_stay(store, cypher):
    kept, gone = store.create_conversation(), store.create_conversation()
    ask(store, kept, "Q", "A", system="Be brief")
    ask(store, gone, "Q", "A", system="Be long")
    assert sweeping.sweep(store.session, after=0) == sweeping.Swept(unused=0, removed=0)
    store.delete_conversation(gone)
    assert sweeping.sweep(store.session) == sweeping.Swept(unused=1, removed=0)
    assert settings_stored(cypher) == {"Be brief", "Be long"}
    assert sweeping.sweep(store.session, after=0) == sweeping.Swept(unused=0, removed=1)
    assert settings_stored(cypher) == {"Be brief"}
    assert store.verify().ok


@pytest.mark.rule("S7")
def test_a_setting_stored_again_is_not_swept_however_long_ago_it_was_found_unused(store, new_process_store, cypher):
    gone = store.create_conversation()
    ask(store, gone, "Q", "A", system="Be long")
    store.delete_conversation(gone)
    sweeping.sweep(store.session)
    other = new_process_store()
    ask(other, other.create_conversation(), "Q", "A", system="Be long")
    (marked,) = cypher(
        "MATCH (b:Blob {workspace: $workspace}) WHERE b.setting RETURN b.unused_since AS since, b.sha256 AS id"
    )
    assert marked["since"] is None
    assert store.session.row(queries.SWEEP_SETTINGS, hashes=[marked["id"]], seconds=0) == {"removed": 0}
    assert settings_stored(cypher) == {"Be long"}
