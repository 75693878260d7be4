"""A conversation's tree as lines of a terminal. Pure: nodes in, lines out; ``layout`` says what stands where."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from graphstore.cli.layout import Row, Sign, rows
from graphstore.cli.plain import counted, one_line
from graphstore.models import Node

_EMPHASIS = re.compile(r"\*\*(\S(?:[^*]*\S)?)\*\*")
"""Markdown's bold, left away: the drawing has a style of its own."""

MIN_WORDS = 24
"""Columns that a row's words get even where the terminal is narrower."""


@dataclass(frozen=True)
class Glyphs:
    """The characters to draw with."""

    signs: dict[Sign, str]
    line: str
    branch: str
    arrow: str
    same: str
    tool: str
    cursor: str
    cut: str
    gap: str


UNICODE = Glyphs(
    signs={
        Sign.ACTIVE: "●",
        Sign.OTHER: "○",
        Sign.FAILED: "✖",
        Sign.PENDING: "⚠",
        Sign.COMPACTION: "⊟",
        Sign.CONVERSION: "◇",
    },
    line="│ ",
    branch="├─",
    arrow="→",
    same="″",
    tool="⚙",
    cursor="◀ cursor",
    cut="…",
    gap="⋮",
)

ASCII = Glyphs(
    signs={
        Sign.ACTIVE: "*",
        Sign.OTHER: "o",
        Sign.FAILED: "x",
        Sign.PENDING: "!",
        Sign.COMPACTION: "=",
        Sign.CONVERSION: "%",
    },
    line="| ",
    branch="|-",
    arrow="->",
    same='"',
    tool="tools:",
    cursor="<- cursor",
    cut="...",
    gap=":",
)

STYLES = {
    Sign.ACTIVE: "bold green",
    Sign.OTHER: "dim",
    Sign.FAILED: "red",
    Sign.PENDING: "yellow",
    Sign.COMPACTION: "cyan",
    Sign.CONVERSION: "magenta",
}


@dataclass(frozen=True)
class Style:
    """How to draw: ``width`` in columns (``None``: lines as long as they are), what to show beside the words.

    ``max_lines`` bounds the drawing to the rows around the cursor; 0 draws all.
    """

    width: int | None = 100
    glyphs: Glyphs = UNICODE
    max_lines: int = 0
    ids: int = 8
    models: bool = False
    times: bool = False


def draw(nodes: Iterable[Node], cursor: str | None = None, style: Style = Style()) -> list[Text]:
    """The tree of ``nodes`` (as of ``GraphStore.tree``), a line for each turn, with the cursor's path highlighted."""
    placed = rows(nodes, cursor)
    start, stop = _window(placed, style.max_lines)
    lines = [_line(row, style) for row in placed[start:stop]]
    if start:
        lines.insert(0, _left_out(start, "above", style))
    if stop < len(placed):
        lines.append(_left_out(len(placed) - stop, "below", style))
    return lines


def legend(nodes: Iterable[Node], cursor: str | None = None, glyphs: Glyphs = UNICODE) -> Text | None:
    """A line that explains the signs of this drawing that don't explain themselves."""
    placed = rows(nodes, cursor)
    used = {row.sign for row in placed}
    words = {
        Sign.ACTIVE: "the conversation as it stands",
        Sign.OTHER: "another branch",
        Sign.FAILED: "failed",
        Sign.PENDING: "not finished",
        Sign.COMPACTION: "compaction",
        Sign.CONVERSION: "side job",
    }
    if used <= {Sign.ACTIVE}:
        return None
    told = [f"{glyphs.signs[sign]} {words[sign]}" for sign in Sign if sign in used]
    if any(row.repeated for row in placed):
        told.append(f"{glyphs.same} the same question again")
    if any(row.tools for row in placed):
        told.append(f"{glyphs.tool} tool calls")
    return Text("   ".join(told), style="dim")


def _window(placed: list[Row], most: int) -> tuple[int, int]:
    if not most or len(placed) <= most:
        return 0, len(placed)
    at = next((place for place, row in enumerate(placed) if row.cursor), len(placed) - 1)
    stop = min(len(placed), max(at + 1 + most // 5, most))
    return stop - most, stop


def _left_out(count: int, where: str, style: Style) -> Text:
    return Text(f"{style.glyphs.gap} {counted(count, 'more row')} {where}", style="dim")


def _line(row: Row, style: Style) -> Text:
    glyphs = style.glyphs
    line = Text()
    if row.starts_branch:
        line.append(glyphs.line * (row.depth - 1) + glyphs.branch, style="dim")
    else:
        line.append(glyphs.line * row.depth, style="dim")
    line.append(glyphs.signs[row.sign] + " ", style=STYLES[row.sign])
    if row.siblings:
        line.append(f"{row.position}/{row.siblings} ", style="bold cyan" if row.active else "cyan")
    after = _after(row, style)
    room = None
    if style.width is not None:
        room = max(MIN_WORDS, style.width - cell_len(line.plain) - cell_len(after.plain))
    words = Text()
    for text, how in _words(row, glyphs, room):
        words.append(text, style=how)
    if room is not None:
        words.append(" " * (room - cell_len(words.plain)))
    line.append_text(words)
    line.append_text(after)
    return line


def _after(row: Row, style: Style) -> Text:
    """What stands behind the words, at the line's end: cursor, tools, model, time, id."""
    glyphs = style.glyphs
    after = Text()
    if row.cursor:
        after.append(f"  {glyphs.cursor}", style="bold green")
    if row.tools:
        after.append(f"  {glyphs.tool}{len(row.tools)}", style="dim")
    if style.models and row.model:
        after.append(f"  {one_line(row.model)}", style="magenta" if row.active else "dim")
    if style.times:
        after.append(f"  {row.created_at:%Y-%m-%d %H:%M}", style="dim")
    if style.ids:
        after.append(f"  {one_line(row.node_id)[-style.ids :]}", style="dim")
    return after


def _words(row: Row, glyphs: Glyphs, room: int | None) -> Iterator[tuple[str, str]]:
    """Question and answer, cut so that both are seen."""
    main = "" if row.active else "dim"
    question = glyphs.same if row.repeated else one_line(row.question or "")
    if row.question is None:
        question = "" if row.sign in {Sign.COMPACTION, Sign.CONVERSION} else glyphs.cut
    answer = _EMPHASIS.sub(r"\1", one_line(row.answer or ""))
    remark = one_line(row.remark or "")
    if not answer and row.tools and not remark:
        answer = f"({one_line(', '.join(row.tools))})"
    remark_style = STYLES[row.sign] if row.sign not in {Sign.ACTIVE, Sign.OTHER} else "italic"
    if remark:
        remark = _cut(f"[{remark}]", None if room is None else max(MIN_WORDS, room // 2), glyphs)
        room = None if room is None else max(0, room - cell_len(remark) - 1)
    arrow = f" {glyphs.arrow} " if question and answer else ""
    if room is not None:
        room = max(0, room - cell_len(arrow))
        half = room // 2
        for_answer = max(half, room - cell_len(question))
        answer = _cut(answer, for_answer, glyphs)
        question = _cut(question, room - cell_len(answer), glyphs)
    yield question, f"bold {main}".strip() if row.active else main
    yield arrow, "dim"
    yield answer, main
    if remark:
        yield f" {remark}" if question or answer else remark, remark_style


def _cut(text: str, room: int | None, glyphs: Glyphs) -> str:
    if room is None or cell_len(text) <= room:
        return text
    if room <= cell_len(glyphs.cut):
        return ""
    return set_cell_size(text, room - cell_len(glyphs.cut)).rstrip() + glyphs.cut
