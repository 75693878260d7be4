"""Query files: what is wrong with one is said before it runs."""

from __future__ import annotations

from importlib.resources import files

import pytest

from graphstore import queries
from graphstore.errors import QueryError
from graphstore.queries import Query, load, parse


def test_parameters_are_checked_both_ways() -> None:
    query = parse("read/x", "// Says.\nRETURN $one, $two")
    assert query.parameters == {"one", "two"}
    query.check({"one": 1, "two": None})
    with pytest.raises(QueryError, match="'two'"):
        query.check({"one": 1})
    with pytest.raises(QueryError, match="'three'"):
        query.check({"one": 1, "two": 2, "three": 3})


@pytest.mark.parametrize(
    "text", ["'$no'", '"$no"', "`$no`", "/* $no */ 1", "1 // $no", "'it\\'s $no'", '"a // b", $yes', "1 /*\n$no*/"]
)
def test_what_looks_like_a_parameter_in_strings_names_and_comments_is_none(text: str) -> None:
    assert "no" not in parse("read/x", f"// Says $no.\nRETURN {text}\n").parameters


def test_a_comment_mark_within_a_string_is_kept() -> None:
    assert parse("read/x", "// Says.\nRETURN 'http://x' AS x // gone").text == "RETURN 'http://x' AS x"


@pytest.mark.parametrize(
    ("name", "source"),
    [("read/x", "RETURN 1"), ("read/x", "// Only words.\n"), ("reading/x", "// Says.\nRETURN 1")],
    ids=["no comment", "no query", "unknown folder"],
)
def test_an_undocumented_an_empty_and_a_misplaced_file_are_refused(name: str, source: str) -> None:
    with pytest.raises(QueryError, match=name):
        parse(name, source)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(QueryError, match="read/no_such_query"):
        load("read/no_such_query")


def test_every_file_is_bound_to_the_constant_of_its_name() -> None:
    bound = {query.name: name for name, query in vars(queries).items() if isinstance(query, Query)}
    on_disk = {
        f"{access}/{entry.name.removesuffix('.cypher')}"
        for access in ("read", "write")
        for entry in files("graphstore.cypher").joinpath(access).iterdir()
        if entry.name.endswith(".cypher")
    }
    assert bound.keys() == on_disk
    assert all(name == file.partition("/")[2].upper() for file, name in bound.items())
