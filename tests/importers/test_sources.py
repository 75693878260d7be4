"""Files, gzip, zip and folders; formats told by content; what can't be read at all says so."""

from __future__ import annotations

import gzip
import json
import random
import zipfile
from pathlib import Path

import pytest
from import_trees import chatgpt, node, written

from graphstore.errors import SourceUnreadable
from graphstore.importers import FORMATS, detect, read, split

pytestmark = pytest.mark.rule("I1")


def one(name):
    return chatgpt([node("q", None, "user"), node("a", "q", "assistant")], "a", conversation_id=name)


BESIDE = {
    "user.json": {"id": "user-1", "email": "x@example.org"},
    "message_feedback.json": [{"id": "f", "conversation_id": "c1", "rating": "thumbs_up"}],
    "shared_conversations.json": [{"id": "s", "conversation_id": "c1", "title": "t"}],
}


def ids(path, **options):
    return [conversation.source_id for conversation in read(path, **options)]


@pytest.mark.parametrize(
    "value",
    [
        [one("c1"), one("c2")],
        {"conversations": [one("c1"), one("c2")]},
        {"v": [{}], "conversations": [one("c1"), one("c2")]},
    ],
)
def test_array_and_wrapping_object(tmp_path, value):
    assert ids(written(tmp_path / "anything.bin", value)) == ["c1", "c2"]
    pretty = tmp_path / "pretty"
    pretty.write_text(json.dumps(value, indent=2))
    assert ids(pretty) == ["c1", "c2"]


def test_a_single_object_compact_or_pretty(tmp_path):
    assert ids(written(tmp_path / "x", one("c1"))) == ["c1"]
    pretty = tmp_path / "pretty"
    pretty.write_text("\ufeff\n" + json.dumps(one("c1"), indent=1) + "\n")
    assert ids(pretty) == ["c1"]


def test_gzip_by_content_not_by_name(tmp_path):
    path = tmp_path / "export.json"
    path.write_bytes(gzip.compress(json.dumps([one("c1")]).encode()))
    assert ids(path) == ["c1"]


def test_a_zip_with_numbered_files_in_order_and_others_beside(tmp_path):
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in (10, 2, 0):
            archive.writestr(f"export/conversations-{number}.json", json.dumps([one(f"c{number}")]))
        for name, value in BESIDE.items():
            archive.writestr(f"export/{name}", json.dumps(value))
        archive.writestr("export/file-1.png", b"\x89PNG")
    assert ids(path) == ["c0", "c2", "c10"]
    assert detect(path) == "chatgpt"


def test_a_folder_with_others_beside(tmp_path):
    (tmp_path / "dalle-generations").mkdir()
    (tmp_path / "dalle-generations" / "x.webp").write_bytes(b"RIFF")
    written(tmp_path / "conversations.json", [one("c1")])
    for name, value in BESIDE.items():
        written(tmp_path / name, value)
    assert ids(tmp_path) == ["c1"]


def test_a_folder_of_single_conversations_under_other_names(tmp_path):
    written(tmp_path / "b.json", one("c2"))
    written(tmp_path / "a.json", one("c1"))
    for name, value in BESIDE.items():
        written(tmp_path / name, value)
    assert [each.source_id for each in read(tmp_path) if each.report.skipped is None] == ["c1", "c2"]


@pytest.mark.rule("I4")
@pytest.mark.parametrize("packed", [False, True])
def test_a_file_of_no_known_format_beside_others_is_skipped_by_name_with_what_was_found(tmp_path, packed):
    folder = tmp_path / "folder"
    folder.mkdir()
    written(folder / "a.json", one("c1"))
    written(folder / "b.json", {"glossary": []})
    (folder / "c.json").write_bytes(b"\x89PNG\r\n\x1a\n\x00")
    (folder / "d.json").write_bytes(b"")
    written(folder / "e.json", one("c2"))
    path = folder
    if packed:
        path = tmp_path / "folder.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for file in folder.iterdir():
                archive.write(file, file.name)
    found = list(read(path))
    assert [each.source_id for each in found] == ["c1", "b.json", "c.json", "d.json", "c2"]
    assert [each.source for each in found] == ["chatgpt", "unknown", "unknown", "unknown", "chatgpt"]
    told = [each.report.skipped for each in found]
    assert (told[0], told[4]) == (None, None)
    assert told[1] == "no known format (found objects with 'glossary')"
    assert "damaged" in told[2]
    assert "nothing but white space" in told[3]


@pytest.mark.rule("I4")
def test_a_file_that_cannot_be_opened_is_skipped_and_alone_says_so(tmp_path, monkeypatch):
    written(tmp_path / "a.json", one("c1"))
    locked = written(tmp_path / "b.json", one("c2"))
    may_open = Path.open

    def opened(path, *arguments):  # for root every file is readable
        if path == locked:
            raise PermissionError(13, "Permission denied", str(path))
        return may_open(path, *arguments)

    monkeypatch.setattr(Path, "open", opened)
    kept, skipped = read(tmp_path)
    assert kept.report.skipped is None
    assert (skipped.source_id, skipped.calls) == ("b.json", [])
    assert "Permission denied" in skipped.report.skipped
    assert [each.report.skipped is None for each in read(tmp_path, format="chatgpt")] == [True, False]
    with pytest.raises(SourceUnreadable, match=r"b\.json.*can't be read: Permission denied"):
        read(locked)


@pytest.mark.rule("I6")
@pytest.mark.parametrize("unpacked", [b" ", b"[", b'{"a":', b"\0"])
def test_a_tiny_file_that_unpacks_to_a_lot_of_nothing_is_refused_in_bounded_memory(tmp_path, unpacked, monkeypatch):
    monkeypatch.setattr(split, "LONGEST_RECORD", 3_000_000)
    path = tmp_path / "x.json"
    path.write_bytes(gzip.compress(unpacked * (12_000_000 // len(unpacked))))
    assert path.stat().st_size < 100_000
    found = "nothing but white space" if unpacked == b" " else "a record has more than 3,000,000 bytes"
    with pytest.raises(SourceUnreadable, match=found):
        read(path)


def test_progress_is_told_in_bytes_and_ends_at_the_total(tmp_path):
    path = written(tmp_path / "x", [one("c1")])
    told = []
    ids(path, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (path.stat().st_size, path.stat().st_size)
    assert all(done <= total for done, total in told)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", "empty"),
        (b"  \n ", "white space"),
        (b"hello", "damaged"),
        (b"\x89PNG\r\n\x1a\n\x00", "damaged"),
        (b"[]", "white space|nothing"),
        (b'{"a": 1}', "objects with 'a'"),
        (b"[1, 2]", "no objects"),
        (b"\x1f\x8bnot gzip", "damaged"),
        (b"PK\x03\x04not zip", "can't be read"),
    ],
)
def test_an_unknown_file_says_what_was_found_and_what_is_known(tmp_path, content, found):
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(SourceUnreadable, match=found) as error:
        read(path)
    if found not in ("empty", "can't be read"):
        assert all(name in str(error.value) for name in FORMATS)


def test_a_path_that_is_not_there_a_folder_with_nothing_and_a_format_that_is_none(tmp_path):
    with pytest.raises(SourceUnreadable, match="no file or folder"):
        read(tmp_path / "gone")
    with pytest.raises(SourceUnreadable, match="no JSON file"):
        read(tmp_path)
    with pytest.raises(SourceUnreadable, match="'word' is no known format"):
        read(written(tmp_path / "x", []), format="word")


def test_a_format_given_skips_recognition(tmp_path):
    [conversation] = read(written(tmp_path / "x", {"id": "c"}), format="chatgpt")
    assert conversation.report.skipped == "it has no mapping of messages"


@pytest.mark.rule("I4")
def test_recognition_looks_past_bad_records(tmp_path):
    path = written(tmp_path / "x", [None, 5, {"title": "broken"}, one("c1")])
    found = list(read(path))
    assert [each.report.skipped is None for each in found] == [False, False, False, True]
    assert len({each.source_id for each in found}) == 4


@pytest.mark.rule("I4")
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_truncated_file_gives_what_is_whole_and_one_skipped_record(tmp_path, pack):
    rng = random.Random(1)
    whole = pack(json.dumps([one(f"{number} {rng.random()}") for number in range(900)]).encode())
    path = tmp_path / "x"
    path.write_bytes(whole[: len(whole) - len(whole) // 4])
    *read_whole, last = read(path)
    assert len(read_whole) > 100
    assert all(each.report.skipped is None for each in read_whole)
    assert last.calls == []
    assert last.report.skipped
