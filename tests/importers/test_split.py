"""Records are cut right wherever a chunk ends, and parsed without a change."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore import jsontext
from graphstore.importers import split
from graphstore.importers.parse import parse

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text('a"\\{}[],:\n é😀'),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('ab"\\{,', max_size=3), inner, max_size=4),
    max_leaves=12,
)


class Dripping(io.BytesIO):
    """Gives at most ``step`` bytes at a time."""

    step = 1

    def read(self, size=-1):
        return super().read(self.step)


def _records(text, step):
    stream = Dripping(text)
    stream.step = step
    return list(split.records(stream))


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch):
    monkeypatch.setattr(split, "CHUNK", 8)


@pytest.mark.rule("I6")
@given(st.lists(values, max_size=6), st.integers(1, 40), st.sampled_from([None, 1]), st.booleans())
@settings(max_examples=100, deadline=None)
def test_elements_of_an_array_come_one_by_one_whatever_the_chunks(elements, step, indent, escaped):
    text = json.dumps(elements, indent=indent, ensure_ascii=escaped).encode()
    found = _records(text, step)
    assert [parse(record.text, record.value) for record in found] == elements
    assert all(record.damage is None for record in found)


@pytest.mark.rule("I6")
@given(st.lists(st.fixed_dictionaries({"k": values, "n": values}), min_size=1, max_size=8), st.integers(1, 60))
@settings(max_examples=100, deadline=None)
def test_objects_that_all_begin_alike_come_one_by_one(elements, step):
    found = _records(json.dumps(elements).encode(), step)
    assert [parse(record.text, record.value) for record in found] == elements


@given(st.lists(st.dictionaries(st.text(max_size=3), values), min_size=2, max_size=6), st.integers(1, 40))
@settings(max_examples=60, deadline=None)
def test_lines_come_one_by_one(rows, step):
    text = "\n".join(json.dumps(row) for row in rows).encode()
    assert [parse(record.text) for record in _records(text, step)] == rows


@pytest.mark.rule("I4")
def test_a_cut_array_ends_in_one_damaged_record():
    text = json.dumps([{"a": "x" * 20}, {"b": [1, 2, {"c": "y"}]}]).encode()
    for end in range(2, len(text) - 1):
        found = _records(text[:end], 7)
        assert [record.damage is None for record in found[:-1]] == [True] * (len(found) - 1)
        assert found[-1].damage


@pytest.mark.rule("I6")
@pytest.mark.parametrize(
    "number",
    ["1e400", "1.50", "0.10", "-0", "123456789012345678901", "1E5", "1e-7", "0.12345678901234567891", "1.0", "7"],
)
@pytest.mark.parametrize("around", ['{"a": %s}', '{"a":%s,"b":1}', "[%s]", "[1, %s ]", '[{"a":1},%s]'])
def test_number_text_is_kept(number, around):
    text = around % number
    value = parse(text.encode())
    assert jsontext.dumps(value) == text.replace(" ", "")


@pytest.mark.rule("I6")
def test_surrogates_written_as_bytes_become_the_character_and_lone_ones_stay():
    cesu = "😀".encode("utf-16-be")
    halves = "".join(chr(int.from_bytes(cesu[at : at + 2])) for at in (0, 2))
    text = b'{"pair": "' + halves.encode("utf-8", "surrogatepass") + b'", "lone": "' + b"\xed\xa0\xbd" + b'"}'
    assert parse(text) == {"pair": "😀", "lone": "\ud83d"}
    assert parse(b'["\\ud83d", "\\u0000"]') == ["\ud83d", "\x00"]


def test_bytes_that_are_no_utf8_become_replacement_characters():
    assert parse(b'["caf\xe9"]') == ["caf\ufffd"]
