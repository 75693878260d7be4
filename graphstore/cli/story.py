"""The demo's story: an export with a question about revenue is imported, branched and made into preference pairs.

No model is called: the answers that a model would give are written here.
"""

from __future__ import annotations

import secrets
import tempfile
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from graphstore import jsontext
from graphstore.analytics import export_preferences
from graphstore.cli import ids
from graphstore.cli.layout import said
from graphstore.cli.plain import counted
from graphstore.models import Conversation, Node
from graphstore.store import GraphStore, Turn

EXPORT = "demo/conversations.json"
QUESTION = "Put that in one sentence for the board, as reported, without the currency effect."
ANSWERS = (
    "As reported, group revenue rose from EUR 618.9 million in 2023 to EUR 661.3 million in 2024, overseas "
    "subsidiaries included.",
    "Revenue is up, and the board can be very pleased with it.",
)
FOLLOW_UP = "Thanks. And as a headline?"
HEADLINE = "Group revenue reaches EUR 661.3 million."
MODEL: dict[str, Any] = {"provider": "demo", "model": "written-beforehand"}


@dataclass(frozen=True)
class Scene:
    """A conversation and its tree at one moment of the story."""

    conversation: Conversation
    nodes: list[Node]


@dataclass(frozen=True)
class Proof:
    """A search for the old answer, in the new context and, to show that the search finds it, in the old one."""

    old_answer: str
    hits_in_old_context: int
    hits_in_new_context: int
    new_context_bytes: int


@dataclass(frozen=True)
class Outcome:
    """What the demo did."""

    workspace: str
    conversation_id: str
    conversations: int
    nodes: int
    proof: Proof
    edited_node: str
    regenerated_node: str
    cursor: str
    pairs: int
    left_out: dict[str, int]
    folder: str
    next: list[str]


class Teller:
    """Hears the story; this one says nothing."""

    def step(self, title: str, words: str, command: str | None = None) -> None:
        """A step begins."""

    def fact(self, words: str, *, good: bool = False) -> None:
        """Something was found (``good``: it proves the point)."""

    def quote(self, who: str, words: str) -> None:
        """Somebody says something."""

    def tree(self, scene: Scene) -> None:
        """The tree as it is now."""

    def end(self, commands: list[tuple[str, str]]) -> None:
        """What to try next, and why."""


def scratch_workspace() -> str:
    """The name of a workspace that nobody has."""
    return f"demo-{secrets.token_hex(4)}"


def tell(store: GraphStore, teller: Teller) -> Outcome:
    """Act the story out and tell it."""
    conversations, nodes = _import(store, teller)
    conversation_id = _longest(store)
    short = conversation_id[-ids.SHOWN :]
    with_workspace = f"--workspace {store.workspace}"
    teller.step(
        "Look at the tree",
        "A line is a turn: question and answer. Filled dots are the conversation as it stands; the others were left "
        "behind by an edit or a regenerate, and are kept.",
        f"graphstore tree {short}",
    )
    teller.tree(_scene(store, conversation_id))
    first, proof = _edit(store, conversation_id, teller)
    second = _regenerate(store, conversation_id, teller)
    _switch(store, conversation_id, first, teller, short)
    pairs, left_out, folder = _export(store, teller)
    commands = [
        (f"graphstore tree {short} {with_workspace} --models", "the same tree, with the models that answered"),
        (f"graphstore context {short} {with_workspace} --as anthropic", "what Claude would be sent from here"),
        ("graphstore import PATH", "your own export, of ChatGPT or Claude.ai, into your own workspace"),
    ]
    teller.end(commands)
    return Outcome(
        workspace=store.workspace,
        conversation_id=conversation_id,
        conversations=conversations,
        nodes=nodes,
        proof=proof,
        edited_node=first,
        regenerated_node=second,
        cursor=store.conversation(conversation_id).cursor or "",
        pairs=pairs,
        left_out=left_out,
        folder=str(folder),
        next=[command for command, _ in commands],
    )


def _import(store: GraphStore, teller: Teller) -> tuple[int, int]:
    teller.step(
        "Import an export",
        "A ChatGPT export comes with this package: somebody in finance asks for the revenue, and thinks of the "
        "overseas subsidiaries only afterwards.",
        "graphstore import conversations.json",
    )
    with as_file(files("graphstore.cli").joinpath(EXPORT)) as path:
        outcomes = list(store.import_file(path))
    nodes = sum(outcome.nodes_added for outcome in outcomes)
    messages = sum(outcome.counts.get("messages", 0) for outcome in outcomes)
    read = f"{counted(len(outcomes), 'conversation')}, {counted(messages, 'message')}"
    teller.fact(f"{read}, stored as {counted(nodes, 'node')}: one for each model call")
    return len(outcomes), nodes


def _longest(store: GraphStore) -> str:
    return max(store.conversations(), key=lambda one: one.nodes).id


def _scene(store: GraphStore, conversation_id: str) -> Scene:
    return Scene(store.conversation(conversation_id), store.tree(conversation_id))


def _edit(store: GraphStore, conversation_id: str, teller: Teller) -> tuple[str, Proof]:
    last = store.path(conversation_id)[-1]
    old_answer = said(last.returned, "assistant") or ""
    before = store.context(conversation_id).body
    teller.step("Edit the last question", "The old answer must not reach the model again: it would lead it on.")
    teller.quote("was", said(last.sent, "user") or "")
    teller.quote("now", QUESTION)
    turn = store.edit(conversation_id, last.id, QUESTION, **MODEL)
    after = turn.current.context.body
    proof = Proof(old_answer, _hits(before, old_answer), _hits(after, old_answer), len(after))
    teller.fact(
        "the old answer, searched for in the context before the edit: "
        + ("found (so the search finds it)" if proof.hits_in_old_context else "not found, a defect")
    )
    teller.fact(
        f"searched for in all {proof.new_context_bytes:,} bytes that the model is sent now: "
        + ("FOUND, a defect" if proof.hits_in_new_context else "it isn't there"),
        good=not proof.hits_in_new_context,
    )
    _answered(turn, ANSWERS[0])
    teller.quote("answer", ANSWERS[0])
    teller.fact("(no model was called: this demo plays the model, with answers written beforehand)")
    return turn.current.id, proof


def _regenerate(store: GraphStore, conversation_id: str, teller: Teller) -> str:
    teller.step("Regenerate", "The same question, sent again. The second answer becomes a sibling of the first.")
    turn = store.regenerate(conversation_id, **MODEL)
    _answered(turn, ANSWERS[1])
    teller.quote("answer", ANSWERS[1])
    marker = store.markers(conversation_id)[-1]
    teller.fact(
        f"this is branch {marker.position}/{marker.count} here: answer {marker.answer} of {marker.answers} "
        f"to question {marker.version} of {marker.versions}"
    )
    return turn.current.id


def _switch(store: GraphStore, conversation_id: str, node_id: str, teller: Teller, short: str) -> None:
    teller.step(
        "Switch back",
        "The first of the two was better: the cursor goes back to it, and the conversation goes on from there.",
        f"graphstore switch {short} {node_id[-ids.SHOWN :]}",
    )
    store.switch(conversation_id, node_id)
    with store.turn(conversation_id) as turn:
        turn.call(FOLLOW_UP, **MODEL).succeed(HEADLINE)
    teller.quote("question", FOLLOW_UP)
    teller.quote("answer", HEADLINE)
    teller.tree(_scene(store, conversation_id))


def _export(store: GraphStore, teller: Teller) -> tuple[int, dict[str, int], Path]:
    folder = Path(tempfile.mkdtemp(prefix="graphstore-demo-"))
    teller.step(
        "Export preference pairs",
        "Where one question has two answers and one was kept, somebody made a choice: a row to train or test on.",
        f"graphstore export preferences --as trl --out {folder}",
    )
    report = export_preferences(store, folder)
    with report.files[0].open(encoding="utf-8") as lines:
        *_, newest = (jsontext.loads(line) for line in lines)
    teller.quote("chosen", _completion(newest["chosen"]))
    teller.quote("rejected", _completion(newest["rejected"]))
    left_out = {str(reason): count for reason, count in report.left_out.items() if count}
    teller.fact(f"{counted(report.rows, 'pair')} in {folder}")
    if left_out:
        told = ", ".join(f"{count} × {reason.replace('_', ' ')}" for reason, count in left_out.items())
        teller.fact(f"left out, each candidate for one reason: {told}")
    return report.rows, left_out, folder


def _answered(turn: Turn, answer: str) -> None:
    turn.current.succeed(answer, finish_reason="stop", end_turn=True)


def _hits(body: bytes, text: str) -> int:
    """How often a text stands in a JSON body."""
    return body.count(jsontext.dumps(text)[1:-1].encode())


def _completion(messages: list[dict[str, Any]]) -> str:
    return str(messages[-1].get("content") or "(a tool call)")
