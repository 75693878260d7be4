"""What can be read in items, as plain text: to be searched, and to show where something was found. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from graphstore import jsontext
from graphstore.errors import InvalidInput

LONGEST = 4096
"""How much of one string is kept on its node to be searched, unless it is stored apart and searched there."""

AROUND = 60
"""How many characters a snippet shows before and after what was found."""

_WORD = re.compile(r"\w+")
_TERM = re.compile(r'"([^"]*)"|(\S+)')
_OPERATORS = {"AND", "OR", "NOT", "TO"}


def texts_of(items: Iterable[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """The texts of messages, tool calls and tool results, each with its role; reasoning is none."""
    for item in items:
        kind = item.get("type", "message")
        if kind == "message":
            for text in _parts(item.get("content")):
                yield str(item.get("role")), text
        elif kind == "tool_call":
            yield "tool_call", " ".join([str(item.get("name")), *_leaves(item.get("arguments"))])
        elif kind == "tool_result":
            for text in _parts(item.get("output")):
                yield "tool_result", text


def searchable(texts: Iterable[tuple[str, str]], apart: Collection[str] = ()) -> str:
    """Texts in one, in a form the database can hold, without those that are stored ``apart`` and searched there."""
    joined = "\n".join(text[:LONGEST] for _, text in texts if text not in apart)
    return joined.replace("\x00", " ").encode("utf-8", "replace").decode()


def _parts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            if isinstance(part, dict) and isinstance(part.get("text"), str):
                yield part["text"]


def _leaves(arguments: Any) -> list[str]:
    """The strings among a tool call's arguments, without their names; the text itself when it is no JSON."""
    if not isinstance(arguments, str):
        return []
    try:
        todo: list[Any] = [jsontext.loads(arguments)]
    except InvalidInput:
        return [arguments]
    found: list[str] = []
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            todo.extend(reversed(value.values()))
        elif isinstance(value, list):
            todo.extend(reversed(value))
        elif isinstance(value, str):
            found.append(value)
    return found


def terms_of(query: str, raw: bool = False) -> list[str]:
    """The words and "phrases" of a query, without what has no letter or digit; of Lucene's syntax just the words."""
    if raw:
        return [word for word in _WORD.findall(query) if word not in _OPERATORS]
    terms = [phrase or word for phrase, word in _TERM.findall(query)]
    return [term for term in terms if any(character.isalnum() for character in term)]


def lucene(query: str, workspace: str, raw: bool) -> str:
    """A query for the index of texts: all the words and phrases, or with ``raw`` what the caller wrote, in one
    workspace. Raises ``InvalidInput`` when there is nothing to search for.
    """
    if not terms_of(query, raw):
        raise InvalidInput(f"a search needs a word to look for, and {query!r:.80} has none")
    inner = query if raw else " ".join(f"+{_quoted(term)}" for term in terms_of(query))
    tenant = f"+workspace:{_quoted(workspace)}^0 " if any(character.isalnum() for character in workspace) else ""
    return f"{tenant}+(text:({inner}) data:({inner}))"


def _quoted(term: str) -> str:
    """A phrase: within its quotes nothing is an operator."""
    return '"' + term.replace("\\", "\\\\").replace('"', '\\"') + '"'


def snippet(texts: Sequence[tuple[str, str]], terms: Sequence[str]) -> tuple[str, str, tuple[tuple[int, int], ...]]:
    """The role and a piece of the text that has most of the terms, and where they are in that piece."""
    patterns = [_pattern(term) for term in terms]
    best: tuple[int, str, str, int] = (0, *(texts[0] if texts else ("", "")), 0)
    for role, text in texts:
        places = [found.start() for pattern in patterns if (found := pattern.search(text))]
        if len(places) > best[0]:
            best = (len(places), role, text, min(places))
    _, role, text, first = best
    start = max(first - AROUND, 0)
    piece = text[start : first + 3 * AROUND]
    spans = sorted({found.span() for pattern in patterns for found in pattern.finditer(piece)})
    return role, piece, tuple(spans)


def _pattern(term: str) -> re.Pattern[str]:
    words = [re.escape(word) for word in _WORD.findall(term)] or [re.escape(term)]
    return re.compile(r"\W+".join(words), re.IGNORECASE)
