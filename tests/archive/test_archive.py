"""A workspace as one file, and back (rule I7)."""

from __future__ import annotations

import gzip
import os
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich_workspace import ask, fill

from graphstore import GraphStore, errors, queries
from graphstore.queries import Query, parse
from graphstore.store import archive as archive_room
from graphstore.store.holdings import FLAGS, HOLDING, HOLDINGS, LEFT_OUT

EVERYTHING = """
MATCH (n {workspace: $workspace})
RETURN labels(n) AS labels, properties(n) AS properties,
       [k IN keys(n) WHERE n[k] IS :: ZONED DATETIME | [k, toString(n[k])]] AS times,
       COLLECT { MATCH (n)-[r]->(m)
                 RETURN [type(r), properties(r), [k IN keys(r) WHERE r[k] IS :: ZONED DATETIME | toString(r[k])],
                         labels(m), coalesce(m.id, m.sha256)] } AS links
"""


def run(store: GraphStore, text: str, **parameters: Any) -> list[dict[str, Any]]:
    query = parse("write/of_a_test", f"// of a test\n{text}")
    return store.session.database.rows(query, workspace=store.workspace, **parameters)


def everything(store: GraphStore) -> list[str]:
    """All nodes of the workspace with all their relationships, the workspace's name left out."""
    return sorted(repr(sorted_deep(row)).replace(store.workspace, "*") for row in run(store, EVERYTHING))


def sorted_deep(value: Any) -> Any:
    if isinstance(value, dict):
        return sorted((key, sorted_deep(inner)) for key, inner in value.items())
    if isinstance(value, list):
        return sorted((sorted_deep(inner) for inner in value), key=repr)
    return value


def lines(path: Path) -> list[bytes]:
    return gzip.decompress(path.read_bytes()).splitlines()


def rewrite(path: Path, told: list[bytes]) -> None:
    path.write_bytes(gzip.compress(b"".join(line + b"\n" for line in told)))


@pytest.fixture
def rich(store: GraphStore) -> GraphStore:
    fill(store)
    return store


@pytest.mark.rule("I7")
class TestRoundTrip:
    def test_a_workspace_with_everything_in_it_comes_back_the_same_in_another(
        self, rich: GraphStore, other_store: GraphStore, tmp_path: Path
    ) -> None:
        run(
            rich,
            """MATCH (n:Tool {workspace: $workspace, id: 'search'})
               SET n.nan = 0.0 / 0.0, n.big = 9007199254740993,
                   n.zone = datetime('2026-03-29T03:30:00.123456789[Europe/Berlin]'),
                   n.utc = datetime('2026-01-01T00:00:00Z[UTC]'), n.day = date('2026-01-01'), n.list = [1, 2],
                   n.offset = datetime('2026-01-01T00:00:00.000000001+02:00'), n.local = localdatetime(),
                   n.clock = time('12:00:00.5+01:00'), n.lasts = duration('P1Y2M3DT4.000000005S'), n.flag = false,
                   n.words = ['a', ''], n.small = -0.0, n.float = 1.0""",
        )  # fmt: skip
        before = everything(rich)
        first, second = tmp_path / "a.gz", tmp_path / "b.gz"
        report = rich.archive.export(first)
        assert other_store.archive.restore(first).counts == report.counts
        assert everything(other_store) == before
        assert everything(rich) == before, "an export changes nothing"
        other_store.archive.export(second)
        ours, theirs = lines(first), lines(second)
        assert ours[1:-1] == theirs[1:-1], "the same bytes, but for the name in the header and the sum in the footer"
        assert ours[0].replace(rich.workspace.encode(), other_store.workspace.encode()) == theirs[0]
        assert {holding.label for holding in HOLDINGS} == report.counts.keys(), "the test holds every kind"

    def test_conversations_go_on_in_the_restored_workspace(
        self, store: GraphStore, other_store: GraphStore, tmp_path: Path
    ) -> None:
        names = fill(store)
        store.archive.export(tmp_path / "a.gz")
        other_store.archive.restore(tmp_path / "a.gz")
        assert other_store.context(names.talk).body == store.context(names.talk).body
        assert other_store.moves(names.talk) == store.moves(names.talk)
        assert other_store.unseen_branches(names.talk) == store.unseen_branches(names.talk)
        ask(other_store, names.talk, "and then?", "this")
        other_store.restore(names.hidden)
        with pytest.raises(errors.TurnInProgress):
            ask(other_store, other_store.node(names.pending).conversation_id, "x", "y")
        other_store.archive.export(tmp_path / "again.gz")

    def test_an_empty_workspace_is_an_archive_too(
        self, store: GraphStore, other_store: GraphStore, tmp_path: Path
    ) -> None:
        assert store.archive.export(tmp_path / "a.gz").counts == {}
        assert other_store.archive.restore(tmp_path / "a.gz").counts == {}
        other_store.archive.restore(tmp_path / "a.gz")

    def test_pages_and_batches_of_any_size_give_the_same(
        self, rich: GraphStore, other_store: GraphStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        rich.archive.export(tmp_path / "a.gz")
        monkeypatch.setattr(archive_room, "PAGE", 3)
        monkeypatch.setattr(archive_room, "BATCH", 4)
        seen: list[tuple[int, int]] = []
        rich.archive.export(tmp_path / "b.gz", progress=lambda done, total: seen.append((done, total)))
        assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
        assert seen[-1][0] == seen[-1][1]
        other_store.archive.restore(tmp_path / "b.gz")
        assert everything(other_store) == everything(rich)


@pytest.mark.rule("I7")
class TestNothingIsLeftOut:
    def test_every_label_and_relationship_that_a_query_writes_is_in_the_table(self) -> None:
        labels: set[str] = set()
        types: set[str] = set()
        for query in vars(queries).values():
            if isinstance(query, Query) and query.access == "write":
                for inner in re.findall(r"\[\w*:([A-Z_|]+)", query.text):
                    types.update(inner.split("|"))
                for inner in re.findall(r"\(\w*:([A-Z]\w*(?:[:|][A-Z]\w*)*)|SET \w+:([A-Z]\w+)", query.text):
                    labels.update(name for part in inner for name in re.split("[:|]", part) if name)
        assert labels - HOLDING.keys() - FLAGS - LEFT_OUT.keys() == set(), "add a line to store/holdings.py"
        assert types - {link.type for holding in HOLDINGS for link in holding.links} == set()

    def test_what_a_workspace_of_everything_holds_is_in_the_table(self, rich: GraphStore) -> None:
        known = {
            (holding.label, link.type, link.other) if link.out else (link.other, link.type, holding.label)
            for holding in HOLDINGS
            for link in holding.links
        }
        for row in run(rich, EVERYTHING):
            kinds = set(row["labels"]) & HOLDING.keys()
            assert len(kinds) == 1, row["labels"]
            assert set(row["labels"]) - kinds <= FLAGS
            for type, _, _, labels, _ in row["links"]:
                (other,) = set(labels) & HOLDING.keys()
                assert (*kinds, type, other) in known

    def test_a_property_of_a_kind_that_has_no_form_is_refused_by_name(self, rich: GraphStore, tmp_path: Path) -> None:
        run(rich, "MATCH (n:Tool {workspace: $workspace}) SET n.place = point({x: 1, y: 2})")
        with pytest.raises(errors.InvalidInput, match="property 'place' of Tool 'search'"):
            rich.archive.export(tmp_path / "a.gz")
        assert list(tmp_path.iterdir()) == []


@pytest.mark.rule("I7")
class TestRefusals:
    def test_a_workspace_that_holds_something_is_left_as_it_is(
        self, rich: GraphStore, other_store: GraphStore, tmp_path: Path
    ) -> None:
        rich.archive.export(tmp_path / "a.gz")
        other_store.create_conversation()
        before = everything(other_store)
        with pytest.raises(errors.WorkspaceNotEmpty, match="1 Conversation") as refused:
            other_store.archive.restore(tmp_path / "a.gz")
        assert refused.value.counts == {"Conversation": 1}
        assert everything(other_store) == before

    def test_a_file_that_is_there_is_not_overwritten_unless_asked(self, store: GraphStore, tmp_path: Path) -> None:
        (tmp_path / "a.gz").write_text("mine")
        with pytest.raises(errors.InvalidInput, match="already"):
            store.archive.export(tmp_path / "a.gz")
        assert (tmp_path / "a.gz").read_text() == "mine"
        store.archive.export(tmp_path / "a.gz", overwrite=True)
        assert store.archive.check(tmp_path / "a.gz").counts == {}

    @pytest.mark.parametrize(
        ("damage", "words"),
        [
            (lambda told: told[:-1], "no footer"),
            (lambda told: [*told[:3], *told[4:]], "changed or damaged"),
            (lambda told: [*told[:-2], told[-2].replace(b"Bob", b"Rob"), told[-1]], "changed or damaged"),
            (lambda told: [told[0].replace(b'"version":1', b'"version":2'), *told[1:]], "upgrade"),
            (lambda told: [re.sub(rb'"schema":\d+', b'"schema":9999', told[0]), *told[1:]], "upgrade"),
            (lambda told: told[1:], "header"),
            (lambda told: [told[0], b"nonsense"], "no JSON"),
        ],
        ids=["no footer", "a line less", "a changed line", "newer format", "newer schema", "no header", "no JSON"],
    )
    def test_a_damaged_file_is_refused_before_anything_is_written(
        self, store: GraphStore, other_store: GraphStore, tmp_path: Path, damage: Callable[..., Any], words: str
    ) -> None:
        conversation_id = store.create_conversation()
        store.state.write(ask(store, conversation_id, "Q", "A"), "name", "Bob")
        store.tool_cache.put("t", {}, "Bob")
        path = tmp_path / "a.gz"
        store.archive.export(path)
        rewrite(path, damage(lines(path)))
        with pytest.raises(errors.ArchiveUnreadable, match=words):
            other_store.archive.restore(path)
        assert everything(other_store) == []

    def test_a_file_cut_anywhere_and_one_that_is_no_archive_are_refused(
        self, store: GraphStore, tmp_path: Path
    ) -> None:
        ask(store, store.create_conversation(), "Q", "A")
        path = tmp_path / "a.gz"
        store.archive.export(path)
        whole = path.read_bytes()
        for at in (0, 5, len(whole) // 2, len(whole) - 1):
            path.write_bytes(whole[:at])
            with pytest.raises(errors.ArchiveUnreadable):
                store.archive.check(path)
        path.write_text("no archive")
        with pytest.raises(errors.ArchiveUnreadable):
            store.archive.check(path)
        with pytest.raises(errors.ArchiveUnreadable, match="nowhere"):
            store.archive.check(tmp_path / "nowhere")
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        with pytest.raises(errors.ArchiveUnreadable, match="it is no file"):
            store.archive.check(pipe)


class Stop(Exception):
    pass


@pytest.mark.rule("I7")
class TestInterrupted:
    @pytest.mark.parametrize("steps", [1, 4, 8])
    def test_a_restore_cut_off_is_finished_by_repeating_it_and_read_by_nobody_until_then(
        self,
        store: GraphStore,
        other_store: GraphStore,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        steps: int,
    ) -> None:
        names = fill(store)
        path = tmp_path / "a.gz"
        store.archive.export(path)
        monkeypatch.setattr(archive_room, "BATCH", 20)
        told = 0

        def stop(_done: int, _total: int) -> None:
            nonlocal told
            told += 1
            if told == steps:
                raise Stop

        with pytest.raises(Stop):
            other_store.archive.restore(path, progress=stop)
        assert list(other_store.conversations()) == []
        with pytest.raises(errors.ConversationNotFound):
            other_store.context(names.talk)
        with pytest.raises(errors.RestoreInProgress):
            other_store.archive.export(tmp_path / "b.gz")
        (tmp_path / "other.gz").write_bytes(b"")
        store.create_conversation()
        store.archive.export(tmp_path / "other.gz", overwrite=True)
        with pytest.raises(errors.RestoreInProgress):
            other_store.archive.restore(tmp_path / "other.gz")
        other_store.archive.restore(path)
        other_store.archive.export(tmp_path / "b.gz")
        assert lines(path)[1:-1] == lines(tmp_path / "b.gz")[1:-1]

    def test_a_step_whose_answer_was_lost_is_not_taken_twice(
        self, rich: GraphStore, other_store: GraphStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        rich.archive.export(tmp_path / "a.gz")
        database = other_store.session.database
        once = database.transaction
        monkeypatch.setattr(database, "transaction", lambda work: (once(work), once(work))[1])
        other_store.archive.restore(tmp_path / "a.gz")
        assert everything(other_store) == everything(rich)

    def test_an_export_that_fails_leaves_no_file(self, rich: GraphStore, tmp_path: Path) -> None:
        def stop(_done: int, _total: int) -> None:
            raise Stop

        with pytest.raises(Stop):
            rich.archive.export(tmp_path / "a.gz", progress=stop)
        assert list(tmp_path.iterdir()) == []


@pytest.mark.rule("I7")
class TestWrittenMeanwhile:
    def test_an_archive_of_a_workspace_in_use_is_whole(
        self, store: GraphStore, other_store: GraphStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(archive_room, "PAGE", 5)
        talks = [store.create_conversation() for _ in range(5)]
        for talk in talks:
            ask(store, talk, "Q", "A")
        over = threading.Event()

        def go_on(of: int) -> None:
            while not over.is_set():
                node = ask(store, talks[of], "Q", "A")
                store.add_bubble(node, "A")
                ask(store, store.create_conversation(), "new", "A")
                store.switch(talks[of], store.path(talks[of])[0].id) if of == 0 else store.fork(node)

        writers = [threading.Thread(target=go_on, args=(of,)) for of in range(2)]
        for writer in writers:
            writer.start()
        try:
            for turn in range(3):
                store.archive.export(tmp_path / f"{turn}.gz")
        finally:
            over.set()
            for writer in writers:
                writer.join()
        for turn in range(3):
            copy = other_store.in_workspace(f"{other_store.workspace}-{turn}")
            copy.archive.restore(tmp_path / f"{turn}.gz")
            for one in copy.conversations():
                moves = [move for move in copy.moves(one.id) if move.accepted]
                assert [move.seq for move in copy.moves(one.id)] == list(range(1, len(copy.moves(one.id)) + 1))
                assert (moves[-1].to_id if moves else None) == one.cursor
                copy.context(one.id)

    def test_what_is_removed_while_it_is_needed_makes_the_export_refuse(
        self, store: GraphStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        talk = store.create_conversation()
        for _ in range(3):
            ask(store, talk, "Q", "A")
        database = store.session.database
        stream = database.stream

        def removing(query: Query, **parameters: Any) -> Any:
            if "Node" in query.name:
                store.in_workspace(store.workspace).delete_conversation(talk)
            return stream(query, **parameters)

        monkeypatch.setattr(database, "stream", removing)
        with pytest.raises(errors.ExportDisturbed, match="repeat"):
            store.archive.export(tmp_path / "a.gz")
        assert list(tmp_path.iterdir()) == []
