"""The tree as lines: pure, so tested without a server."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from graphstore.cli import drawing, layout
from graphstore.cli.layout import Sign
from graphstore.models import Failure, Node, NodeKind, Status

START = datetime(2026, 3, 1, tzinfo=UTC)
WIDE = drawing.Style(width=None, ids=0)


class Growing:
    """Nodes in order of making."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []

    def add(self, parent: str | None, question: str | None, answer: str | None = "answer", **more: Any) -> str:
        id = more.pop("id", f"n{len(self.nodes)}")
        values: dict[str, Any] = {
            "id": id,
            "conversation_id": "c",
            "parent_id": parent,
            "kind": NodeKind.TURN,
            "status": Status.SUCCEEDED,
            "turn_id": id,
            "round": 0,
            "sent": [] if question is None else [{"type": "message", "role": "user", "content": question}],
            "returned": [] if answer is None else [{"type": "message", "role": "assistant", "content": answer}],
            "created_at": START + timedelta(seconds=len(self.nodes)),
        }
        self.nodes.append(Node(**{**values, **more}))
        return id

    def lines(self, cursor: str | None = None, style: drawing.Style = WIDE) -> list[str]:
        return [line.plain for line in drawing.draw(self.nodes, cursor, style)]


@pytest.fixture
def tree() -> Growing:
    return Growing()


@pytest.mark.rule("L3", "N14")
def test_a_run_of_turns_stays_in_one_column(tree):
    parent = None
    for number in range(1000):
        parent = tree.add(parent, f"q{number}")
    lines = tree.lines(parent)
    assert len(lines) == 1000
    assert all(line.startswith("● q") for line in lines)


@pytest.mark.rule("L3", "N14")
def test_the_cursors_path_keeps_the_column_and_other_branches_hang_beside_it(tree):
    root = tree.add(None, "first", "one")
    old = tree.add(root, "second", "two")
    tree.add(old, "third", "three")
    new = tree.add(root, "second, edited", "other")
    assert tree.lines(new) == [
        "● first → one",
        "├─○ 1/2 second → two",
        "│ ○ third → three",
        "● 2/2 second, edited → other  ◀ cursor",
    ]


@pytest.mark.rule("L3")
def test_a_regenerated_answer_is_drawn_beside_its_question_with_the_same_words_left_out(tree):
    root = tree.add(None, "why?", "a")
    tree.add(None, "how?", "b")
    tree.add(None, "why?", "c")
    assert tree.lines(root) == ["├─○ 2/3 how? → b", "├─○ 3/3 why? → c", "● 1/3 why? → a  ◀ cursor"]
    assert tree.lines("n1") == ["├─○ 1/3 why? → a", "├─○ 3/3 ″ → c", "● 2/3 how? → b  ◀ cursor"]


@pytest.mark.rule("L3")
def test_the_rounds_of_a_turn_are_one_line_that_counts_their_tool_calls(tree):
    call = {"type": "tool_call", "call_id": "x", "name": "search", "arguments": "{}"}
    first = tree.add(None, "question", None, returned=[call, call])
    tree.add(first, None, "found", turn_id=first, round=1)
    assert tree.lines("n1") == ["● question → found  ◀ cursor  ⚙2"]


@pytest.mark.rule("L3", "F2")
def test_an_overflow_hangs_beside_the_turn_that_goes_on_without_it(tree):
    first = tree.add(None, "question", None, returned=[{"type": "tool_call", "name": "f", "call_id": "1"}])
    tree.add(
        first,
        None,
        None,
        turn_id=first,
        round=1,
        status=Status.FAILED,
        failure=Failure(kind="context_overflow", message="too long"),
    )
    after = tree.add(first, "again", "fine")
    assert tree.lines(after) == [
        "● question → (f)  ⚙1",
        "├─✖ … [context overflow: too long]",
        "● again → fine  ◀ cursor",
    ]


@pytest.mark.rule("L3")
def test_failed_pending_compaction_and_conversion_nodes_are_marked(tree):
    failed = tree.add(None, "a", None, status=Status.FAILED, failure=Failure(kind="rate_limit"))
    folded = tree.add(None, None, "summary", kind=NodeKind.COMPACTION, compacts_id=failed, readers=("openai",))
    pending = tree.add(folded, "b", None, status=Status.PENDING)
    tree.add(pending, "job", "draft", kind=NodeKind.CONVERSION)
    assert tree.lines(pending) == [
        "✖ a [rate limit]",
        "⊟ summary [compaction, read by openai]",
        "⚠ b [not finished]  ◀ cursor",
        "◇ draft [conversion]",
    ]
    plain = [
        line.plain for line in drawing.draw(tree.nodes, pending, drawing.Style(width=None, ids=0, glyphs=drawing.ASCII))
    ]
    assert "".join(plain).isascii()
    assert [line[0] for line in plain] == ["x", "=", "!", "%"]


@pytest.mark.rule("L3")
def test_depth_is_bounded_by_the_logarithm_of_the_size_however_the_tree_branches(tree):
    parents: list[str | None] = [None]
    for number in range(2047):  # a complete binary tree, the worst there is
        parents += [tree.add(parents[number], f"q{number}")] * 2
    assert max(row.depth for row in layout.rows(tree.nodes)) <= 11
    chain = Growing()
    parent = None
    for _ in range(500):  # every turn regenerated
        chain.add(parent, "q", "left behind")
        parent = chain.add(parent, "q", "kept")
    assert max(row.depth for row in layout.rows(chain.nodes, parent)) == 1


@pytest.mark.rule("L3")
def test_ten_thousand_nodes_deep_are_drawn_in_a_moment_and_cut_around_the_cursor(tree):
    parent = None
    for number in range(10_000):
        parent = tree.add(parent, f"q{number}")
    began = time.perf_counter()
    lines = tree.lines("n5000", drawing.Style(width=100, max_lines=50))
    assert time.perf_counter() - began < 5
    assert len(lines) == 52
    assert lines[0] == "⋮ 4,961 more rows above"
    assert lines[-1] == "⋮ 4,989 more rows below"
    assert any("◀ cursor" in line for line in lines)


@pytest.mark.rule("L3")
def test_no_line_is_wider_than_the_terminal(tree):
    root = tree.add(None, "漢字" * 200, "é" * 300, id="r" * 36)
    tree.add(root, "q" * 500, None, status=Status.FAILED, failure=Failure(kind="x", message="m" * 500))
    for width in (60, 80, 100):
        for line in drawing.draw(tree.nodes, root, drawing.Style(width=width)):
            assert line.cell_len <= width


@pytest.mark.rule("L3")
def test_hostile_text_is_drawn_as_visible_codes(tree):
    tree.add(None, "\x1b[2J\x9b31m\u202eabc\ud83d\r\nnext [bold]not markup[/bold]", "\x07bell\u2028line")
    (line,) = tree.lines()
    assert line == ("○ \\x1b[2J\\x9b31m\\u202eabc\\ud83d next [bold]not markup[/bold] → \\x07bell line")


@pytest.mark.rule("L3")
def test_a_part_without_text_is_named_and_a_damaged_message_breaks_nothing(tree):
    tree.add(None, None, None, sent=[{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "?"}]}])
    tree.add(None, None, None, sent=[{"role": "user", "content": 7}])
    tree.add(None, None, None, sent=[{"role": "user"}])
    assert tree.lines()[0].endswith("[image] ?")


@pytest.mark.rule("L3")
def test_signs_cover_every_kind_and_both_alphabets():
    assert set(drawing.UNICODE.signs) == set(drawing.ASCII.signs) == set(drawing.STYLES) == set(Sign)


@pytest.mark.rule("N14")
@pytest.mark.parametrize(
    ("items", "drawn"),
    [
        ([{"type": "message", "role": "user", "content": [{"type": "image", "url": "x"}]}], "[image]"),
        (
            [{"type": "message", "role": "user", "content": [{"type": "raw", "format": "chatgpt", "data": {"a": 1}}]}],
            "[raw chatgpt]",
        ),
        (
            [{"type": "raw", "format": "chatgpt", "data": {"content": {"content_type": "app_pairing_content"}}}],
            "[raw chatgpt: app_pairing_content]",
        ),
        ([{"type": "raw", "format": "claude_ai", "data": {"type": "flag"}}], "[raw claude_ai: flag]"),
        ([{"type": "tool_result", "call_id": "1", "output": "x"}], "[tool result]"),
        ([{"type": "message", "role": "system", "content": "be brief"}], "[system message]"),
    ],
)
def test_a_node_without_words_says_what_it_holds(items, drawn):
    tree = Growing()
    tree.add(None, None, "seen", sent=items)
    tree.add(None, "look", None, returned=[dict(item, role="assistant") if "role" in item else item for item in items])
    asked, answered = (line.plain for line in drawing.draw(tree.nodes, "n1", WIDE))
    assert f"{drawn} → seen" in asked
    if "system" not in drawn:
        assert f"look → {drawn}" in answered
