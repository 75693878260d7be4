"""Every command on a real server: what it shows, what it prints for programs, how it ends."""

from __future__ import annotations

import gzip
import json
import os
import re
import time
import zipfile
from pathlib import Path

import pytest

from graphstore.cli.layout import rows

EXPORT = Path(__file__).parents[2] / "graphstore" / "cli" / "demo" / "conversations.json"
HOSTILE = "\x1b]0;pwned\x07\x1b[2J[red]title[/red] \u202e\ud83d\r\nsecond line"


def ask(store, conversation_id, question, answer):
    with store.turn(conversation_id) as turn:
        turn.call(question, provider="openai", model="gpt-5").succeed(answer)
        return turn.last_id


@pytest.fixture
def talk(store):
    """A conversation with two versions of its second question."""
    id = store.create_conversation(title="Revenue")
    ask(store, id, "What was our revenue?", "4.2 million.")
    old = ask(store, id, "And overseas?", "The secret old answer.")
    turn = store.edit(id, old, "And overseas, in euro?")
    turn.current.succeed("1.1 million.", end_turn=True)
    return id, old


@pytest.mark.rule("L3")
def test_ls_prints_a_list_for_programs_and_a_table_for_people(cli, store, talk):
    listed = json.loads(cli("ls", "--json").out)
    assert [set(one) >= {"id", "title", "source", "source_id", "nodes", "branches", "cursor"} for one in listed] == [
        True
    ]
    assert (listed[0]["id"], listed[0]["nodes"], listed[0]["branches"]) == (talk[0], 3, 2)
    shown = cli("ls")
    assert shown.code == 0
    assert shown.out.splitlines()[0].split() == ["id", "title", "nodes", "branches", "source", "updated"]
    assert "Revenue" in shown.out


@pytest.mark.rule("L3", "X1")
def test_ls_and_tree_count_a_fork_alike_and_a_fork_changes_no_count_of_its_origin(cli, store, talk):
    origin, old = talk
    fork = store.fork(old, title="Fork")

    def told():
        listed = {one["id"]: (one["nodes"], one["branches"]) for one in json.loads(cli("ls", "--json").out)}
        (line,) = (line for line in cli("ls").out.splitlines() if "Fork" in line)
        return listed, " ".join(line.split()), " ".join(cli("tree", fork).out.splitlines()[0].split())

    listed, line, tree = told()
    assert listed == {origin: (3, 2), fork: (0, 1)}
    assert " 0 + shared 1 " in line
    assert tree.endswith(f"{fork} 0 nodes + 2 shared 1 branch")
    ask(store, fork, "And then?", "More.")
    listed, line, tree = told()
    assert listed == {origin: (3, 2), fork: (1, 1)}
    assert " 1 + shared 1 " in line
    assert tree.endswith(f"{fork} 1 node + 2 shared 1 branch")
    store.edit(fork, old, "Or this?").current.succeed("So.", end_turn=True)
    listed, line, tree = told()
    assert listed == {origin: (3, 2), fork: (2, 2)}
    assert tree.endswith(f"{fork} 2 nodes + 2 shared 2 branches")


@pytest.mark.rule("L3")
def test_a_long_title_leaves_room_for_the_id(cli, store):
    id = store.create_conversation(title="x" * 500)
    line = cli("ls").out.splitlines()[1]
    assert line.startswith(id[-8:])
    assert len(line) <= 100
    assert "…" in line


@pytest.mark.rule("L3")
def test_an_empty_workspace_is_an_empty_list_and_a_hint(cli):
    assert json.loads(cli("ls", "--json").out) == []
    shown = cli("ls")
    assert (shown.code, shown.out) == (0, "")
    assert "graphstore import PATH" in shown.err


@pytest.mark.rule("L3", "S8")
def test_a_workspace_named_on_the_line_goes_before_the_environment(cli, store, other_store, talk):
    assert json.loads(cli("ls", "--json", "--workspace", other_store.workspace).out) == []
    assert cli("tree", talk[0], "-w", other_store.workspace).code == 3


@pytest.mark.rule("L3", "A2")
def test_context_prints_a_request_without_the_other_branch(cli, talk):
    request = json.loads(cli("context", talk[0], "--as", "openai-chat", "--json").out)
    assert [message["role"] for message in request["messages"]] == ["user", "assistant", "user", "assistant"]
    assert "secret" not in json.dumps(request)
    shown = cli("context", talk[0], "--as", "openai-chat")
    assert json.loads(shown.out) == request
    assert "4 items from 2 nodes" in shown.err
    assert "secret" in cli("context", talk[0], "--node", talk[1], "--json").out


@pytest.mark.rule("L3")
@pytest.mark.parametrize("shape", ["items", "openai-chat", "openai-responses", "anthropic", "gemini"])
def test_context_knows_every_shape(cli, talk, shape):
    assert cli("context", talk[0], "--as", shape, "--json").code == 0


@pytest.mark.rule("L3", "A4")
def test_context_says_once_that_a_call_was_filtered(cli, program, store):
    id = store.create_conversation()
    with store.turn(id) as turn:
        turn.call("look").succeed([{"type": "tool_call", "call_id": "c1", "name": "f", "arguments": "{}"}])
    for more in ([], ["--json"]):
        out, err = program("context", id, *more).communicate(timeout=60)
        assert json.loads(out)["items"] == [{"type": "message", "role": "user", "content": "look"}]
        assert err.decode().count("'c1'") == 1
        assert "warning: tool call 'c1'" in err.decode()


@pytest.mark.rule("L3", "B5")
def test_switch_moves_the_cursor_and_says_how_to_go_back(cli, store, talk):
    before = store.conversation(talk[0]).cursor
    told = json.loads(cli("switch", talk[0], talk[1], "--json").out)
    assert told == {"conversation_id": talk[0], "cursor": talk[1], "before": before}
    assert store.conversation(talk[0]).cursor == talk[1]
    assert "there already" in cli("switch", talk[0], talk[1]).out
    shown = cli("switch", talk[0], before[-8:])
    assert f"now at {before}" in shown.out
    assert talk[1][-8:] in shown.out


@pytest.mark.rule("L3", "C4", "B4")
def test_moves_markers_and_path_are_shown_and_listed(cli, store, talk):
    assert [move["reason"] for move in json.loads(cli("moves", talk[0], "--json").out)] == [
        move.reason.value for move in store.moves(talk[0])
    ]
    assert [(one["position"], one["count"]) for one in json.loads(cli("markers", talk[0], "--json").out)] == [
        (1, 1),
        (2, 2),
    ]
    assert [node["id"] for node in json.loads(cli("path", talk[0], "--json").out)] == [
        node.id for node in store.path(talk[0])
    ]
    assert "edit" in cli("moves", talk[0]).out
    assert "2/2" in cli("markers", talk[0]).out
    assert "in euro" in cli("path", talk[0]).out


@pytest.mark.rule("L3", "B4")
def test_the_drawn_markers_are_the_stores_own(cli, store):
    for outcome in store.import_file(EXPORT):
        nodes = store.tree(outcome.conversation_id)
        drawn = {row.position: row for row in rows(nodes, store.conversation(outcome.conversation_id).cursor)}
        assert drawn
        by_first = {
            marker.turn_id: (marker.position, marker.count) for marker in store.markers(outcome.conversation_id)
        }
        turns = {node.id: node.turn_id for node in nodes}
        for row in rows(nodes, store.conversation(outcome.conversation_id).cursor):
            if row.active and row.question is not None:
                position, count = by_first[turns[row.node_id]]
                assert (row.position, row.siblings) == ((position, count) if count > 1 else (0, 0))


@pytest.mark.rule("L3")
def test_a_beginning_or_an_ending_names_an_id_and_several_are_listed(cli, store):
    first = store.create_conversation(id="case-alpha-1", title="one")
    store.create_conversation(id="case-alpha-2", title="two")
    assert json.loads(cli("tree", "ha-1", "--json").out)["conversation"]["id"] == first
    ambiguous = cli("tree", "case-al")
    assert ambiguous.code == 2
    assert "case-alpha-1 one" in ambiguous.err
    assert "case-alpha-2 two" in ambiguous.err
    assert "at least 4" in cli("tree", "cas").err
    store.create_conversation(id="abc")
    assert cli("tree", "abc").code == 0  # a whole id is never too short


@pytest.mark.rule("L3")
def test_what_is_not_there_ends_with_3_and_one_sentence(cli, talk):
    for arguments in (("tree", "nothing"), ("switch", talk[0], "nothing"), ("context", talk[0], "--node", "nothing")):
        ended = cli(*arguments)
        assert ended.code == 3
        assert ended.out == ""
        assert ended.err.startswith("error: there is no ")
        assert "Traceback" not in ended.err
    told = cli("tree", "nothing", "--json")
    assert (told.code, told.out) == (3, "")
    assert json.loads(told.err) == {
        "error": "ConversationNotFound",
        "message": json.loads(told.err)["message"],
        "exit_code": 3,
    }


@pytest.mark.rule("L3")
def test_a_command_that_is_not_understood_ends_with_2(cli):
    assert cli("tree").code == 2
    assert cli("nonsense").code == 2
    assert cli("context", "x", "--as", "telegram").code == 2
    assert cli("import", "x", "--format", "telegram").code == 2


@pytest.mark.rule("L3")
def test_a_running_turn_refuses_a_switch_with_1(cli, store, talk):
    with store.turn(talk[0], owner="somebody") as turn:
        call = turn.call("go on")
        ended = cli("switch", talk[0], talk[1])
        assert ended.code == 1
        assert "somebody" in ended.err
        call.succeed("done")


@pytest.mark.rule("L3")
def test_hostile_text_never_reaches_the_terminal_and_is_exact_for_programs(cli, store):
    id = store.create_conversation(title=HOSTILE)
    ask(store, id, HOSTILE, HOSTILE)
    for arguments in (("ls",), ("tree", id), ("path", id), ("context", id)):
        ended = cli(*arguments)
        assert ended.code == 0
        assert not set(ended.out + ended.err) & {"\x1b", "\x07", "\u202e", "\r"}
        assert "[red]title[/red]" in ended.out
    assert json.loads(cli("ls", "--json").out)[0]["title"] == HOSTILE
    assert json.loads(cli("context", id, "--json").out)["items"][0]["content"] == HOSTILE


@pytest.mark.rule("L3", "I5")
def test_import_reports_each_conversation_and_a_second_time_adds_nothing(cli):
    shown = cli("import", str(EXPORT))
    assert shown.code == 0
    assert "2 conversations" in shown.out
    assert "Revenue 2024  11 nodes" in shown.out
    outcomes = [json.loads(line) for line in cli("import", str(EXPORT), "--json").out.splitlines()]
    assert [(one["nodes_added"], one["nodes_known"]) for one in outcomes] == [(0, 11), (0, 2)]
    assert "nothing new" in cli("import", str(EXPORT)).out


@pytest.mark.rule("L3", "I4")
def test_import_fails_only_when_all_is_skipped_or_a_path_cannot_be_read(cli, tmp_path):
    good = json.loads(EXPORT.read_text("utf-8"))
    (tmp_path / "mixed.json").write_text(json.dumps([good[1], {"mapping": 7, "title": "broken"}]))
    mixed = cli("import", str(tmp_path / "mixed.json"))
    assert mixed.code == 0
    assert "1 skipped" in mixed.out
    assert "  skipped  " in mixed.out
    (tmp_path / "broken.json").write_text(json.dumps([{"mapping": 7, "title": "broken"}]))
    assert cli("import", str(tmp_path / "broken.json"), "--format", "chatgpt").code == 1
    both = cli("import", str(tmp_path / "absent.zip"), str(EXPORT))
    assert both.code == 5
    assert "2 conversations" in both.out  # what can be read is read
    assert both.err.startswith("error: ")


@pytest.mark.rule("L3", "I4")
def test_import_names_the_files_of_a_folder_that_it_does_not_know(cli, tmp_path):
    good = json.loads(EXPORT.read_text("utf-8"))
    (tmp_path / "a.json").write_text(json.dumps([good[1]]))
    (tmp_path / "glossary.json").write_text('{"words": []}')
    shown = cli("import", str(tmp_path))
    assert shown.code == 0
    assert "1 conversation, 5 messages: 2 nodes added, 0 known before, 1 skipped" in shown.out
    assert "  skipped  glossary.json: no known format (found objects with 'words')" in shown.out
    told = [json.loads(line) for line in cli("import", str(tmp_path), "--json").out.splitlines()]
    assert [(one["source_id"], one["skipped"] is None) for one in told if one["skipped"]] == [("glossary.json", False)]


@pytest.mark.rule("L3", "I4")
@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("absent", "there is no file or folder"),
        ("folder", "holds no JSON file"),
        ("empty zip", "holds no JSON file"),
        ("broken zip", "can't be read"),
        ("binary", "no known format"),
        ("pipe", "is a pipe or a device"),
        ("zeros", "no known format"),
    ],
)
def test_a_path_with_nothing_to_import_is_one_line_and_ends_with_5(cli, tmp_path, kind, words):
    path = tmp_path / "x.json"
    match kind:
        case "folder":
            path.mkdir()
            (path / "picture.png").write_bytes(b"\x89PNG")
        case "empty zip":
            zipfile.ZipFile(path, "w").close()
        case "broken zip":
            path.write_bytes(b"PK\x03\x04broken")
        case "binary":
            path.write_bytes(b"\xde\xad\x00\xff" * 1000)
        case "pipe":
            os.mkfifo(path)
        case "zeros":
            path.write_bytes(gzip.compress(bytes(5_000_000)))
    ended = cli("import", str(path))
    assert (ended.code, ended.out) == (5, "")
    (line,) = ended.err.splitlines()
    assert line.startswith("error: ")
    assert words in line
    assert repr(str(path)) in line


@pytest.mark.rule("L3")
def test_import_without_a_path_says_what_is_missing(cli):
    ended = cli("import")
    assert ended.code == 2
    assert "Missing argument 'PATH...'" in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.rule("L3", "I5")
def test_import_says_that_a_cursor_stays_where_it_was_moved_here(cli, store):
    cli("import", str(EXPORT))
    id = max(store.conversations(), key=lambda one: one.nodes).id
    cursor = ask(store, id, "my own", "here")
    again = cli("import", str(EXPORT)).out
    assert again.count("cursor left where you moved it") == 1
    told = [json.loads(line) for line in cli("import", str(EXPORT), "--json").out.splitlines()]
    assert {one["conversation_id"]: one["cursor_left"] for one in told}[id] == "moved_here"
    assert sorted(str(one["cursor_left"]) for one in told) == ["None", "moved_here"]
    with store.turn(id) as turn:
        call = turn.call("running")
        assert "cursor left where it was: a turn is running" in cli("import", str(EXPORT)).out
        call.fail("cancelled")
    assert cursor in [move.to_id for move in store.moves(id)]


@pytest.mark.rule("L3")
def test_one_of_a_thing_is_not_several(cli, store, tmp_path):
    one = {"messages": [{"role": "user", "content": "why?"}, {"role": "assistant", "content": "because"}]}
    (tmp_path / "row.jsonl").write_text(json.dumps(one))
    shown = cli("import", str(tmp_path / "row.jsonl")).out
    (listed,) = store.conversations()
    for arguments in (("tree", listed.id), ("context", listed.id), ("doctor",)):
        ended = cli(*arguments)
        shown += ended.out + ended.err
    shown += cli("export", "preferences", "--out", str(tmp_path / "pairs")).out
    assert "1 node" in shown
    assert "1 conversation" in shown
    wrong = re.findall(r"\b1 (?:nodes|conversations|messages|items|branches|bytes|pairs|candidates|rows)\b", shown)
    assert not wrong


@pytest.mark.rule("L3", "N1")
def test_export_writes_pairs_and_says_what_was_left_out(cli, tmp_path):
    cli("import", str(EXPORT))
    told = json.loads(cli("export", "preferences", "--as", "trl", "--out", str(tmp_path / "pairs"), "--json").out)
    assert told["rows"] == 2
    assert all(Path(file).exists() for file in told["files"])
    shown = cli("export", "preferences", "--out", str(tmp_path / "again"))
    assert "2 pairs from 2 conversations" in shown.out
    assert "edited question" in shown.out


@pytest.mark.rule("L3", "N2")
@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("unpaired", "4 answers made of 2 pairs"),
        ("evals", "2 samples made of 2 pairs"),
        ("prompts", "from 2 conversations"),
    ],
)
def test_other_sets_are_exported(cli, tmp_path, kind, told):
    cli("import", str(EXPORT))
    shown = cli("export", kind, "--out", str(tmp_path / "shown"))
    assert shown.code == 0
    assert told in shown.out
    report = json.loads(cli("export", kind, "--out", str(tmp_path / "json"), "--json").out)
    assert all(Path(file).exists() for file in report["files"])


@pytest.mark.rule("L3", "N8")
def test_export_writes_answers_and_says_what_was_left_out(cli, tmp_path):
    cli("import", str(EXPORT))
    told = json.loads(cli("export", "sft", "--as", "trl", "--out", str(tmp_path / "sft"), "--json").out)
    assert told["answers"] == told["rows"] == told["candidates"] - sum(told["left_out"].values())
    shown = cli("export", "sft", "--out", str(tmp_path / "again"))
    assert f"{told['answers']} answers in 2 rows from 2 conversations" in shown.out
    assert cli("export", "sft", "--include", "failed", "--out", str(tmp_path / "no")).code == 2


@pytest.mark.rule("L3", "L4")
def test_migrate_has_nothing_to_do_on_a_store_that_was_opened(cli, store):
    assert json.loads(cli("migrate", "--json").out) == {"applied": []}
    assert cli("migrate").out == "The schema is up to date.\n"


@pytest.mark.rule("L3")
def test_doctor_says_all_is_well(cli, store, talk):
    told = json.loads(cli("doctor", "--json").out)
    assert told["ok"]
    said = {finding["about"]: finding["words"] for finding in told["findings"]}
    assert said["workspace"] == f"{store.workspace}: 1 conversation, 3 nodes"
    assert "up to date" in said["schema"]
    assert cli("doctor").code == 0


@pytest.mark.rule("L3", "F3", "C6")
def test_doctor_finds_a_dead_turn_and_settles_it(cli, store):
    id = store.create_conversation()
    call = store.turn(id, lease_seconds=0.05).call("question")
    time.sleep(0.2)
    ended = cli("doctor")
    assert ended.code == 1
    assert "past their lease" in ended.out
    assert "--settle" in ended.out
    assert cli("doctor", "--settle").code == 0
    assert store.node(call.id).failure.kind == "lost"
    assert cli("doctor").code == 0


@pytest.mark.rule("L3", "C3")
def test_doctor_lists_unseen_branches_without_failing(cli, store):
    id = store.create_conversation()
    slow, fast = store.turn(id, exclusive=False), store.turn(id, exclusive=False)
    late, early = slow.call("a"), fast.call("b")
    early.succeed("x", end_turn=True)
    with pytest.raises(Exception, match="unseen branch"):
        late.succeed("y", end_turn=True)
    ended = cli("doctor")
    assert ended.code == 0
    assert "1, kept after a lost race" in ended.out


@pytest.mark.rule("L3", "A2")
def test_the_demo_proves_that_the_old_answer_is_gone_and_leaves_other_workspaces_alone(cli, store, tmp_path):
    told = json.loads(cli("demo", "--json").out)
    assert told["proof"]["hits_in_old_context"] == 1
    assert told["proof"]["hits_in_new_context"] == 0
    assert told["workspace"].startswith("demo-")
    assert told["pairs"] == 2
    assert len(told["next"]) == 3
    assert json.loads(cli("ls", "--json").out) == []
    shown = cli("demo")
    assert shown.code == 0
    assert "it isn't there" in shown.out
    assert "no model was called" in shown.out
    assert max(len(line) for line in shown.out.splitlines() if not line.startswith(("  graphstore", "$ "))) <= 100


@pytest.mark.rule("L3")
def test_every_command_has_help_with_examples_and_says_json(cli):
    groups = {
        (): ["demo", "import", "ls", "tree", "path", "context", "switch", "markers", "moves", "migrate", "doctor"],
        ("export",): ["preferences", "sft", "unpaired", "prompts", "evals"],
        ("server",): ["start", "stop", "status", "logs"],
    }
    assert "Exit codes" in cli("--help").out
    for group, commands in groups.items():
        for command in commands:
            shown = cli(*group, command, "--help")
            assert shown.code == 0
            assert "--json" in shown.out
            assert "Examples:" in shown.out
            assert f"graphstore {' '.join([*group, command])}" in shown.out


@pytest.mark.rule("S6", "L3")
def test_a_branch_is_hidden_listed_shown_and_purged(cli, talk):
    id, old = talk
    assert cli("tombstone", id, old).code == 0
    assert "And overseas?" not in cli("tree", id).out
    assert json.loads(cli("tombstones", id, "--json").out)[0]["node_id"] == old
    assert "1 node shown again" in cli("restore", id, old[-8:]).out
    assert "And overseas?" in cli("tree", id).out
    cli("tombstone", id, old)
    unasked = cli("purge", id, old)
    assert (unasked.code, "--yes" in unasked.err) == (2, True)
    assert "Removed 1 node" in cli("purge", id, old, "--yes").out
    assert cli("restore", id, old).code == 3


@pytest.mark.rule("X2", "X3", "L3")
def test_conversations_are_cleared_and_deleted_and_told_what_stayed(cli, store, talk):
    id, old = talk
    fork = store.fork(old)
    assert cli("delete", id, "--on-shared", "refuse", "--yes").code == 1
    assert cli("delete", id).code == 2
    receipt = json.loads(cli("delete", id, "--yes", "--json").out)
    assert (receipt["nodes"], receipt["kept"][0]["conversation_id"]) == (1, fork)
    assert cli("tree", id).code == 3
    assert "Removed 2 nodes" in cli("clear", fork, "--yes").out
    assert store.context(fork).items == []


@pytest.mark.rule("L3")
@pytest.mark.parametrize("command", ["bubbles", "effects", "tombstones", "moves", "markers", "path", "tree", "usage"])
def test_an_empty_conversation_has_an_empty_table(cli, store, command):
    ended = cli(command, store.create_conversation(title="Nothing yet"))
    assert (ended.code, ended.err) == (0, "")


@pytest.mark.rule("L3", "S8")
def test_the_way_back_leads_to_the_same_workspace(cli, store, talk):
    id, old = talk
    told = cli("switch", id, old, "--workspace", store.workspace).out
    back = re.search(r"Back: +graphstore (.*)", told)[1]
    assert back.endswith(f"--workspace {store.workspace}")
    assert cli(*back.split()).code == 0
    assert store.conversation(id).cursor != old
