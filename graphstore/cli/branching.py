"""``graphstore branches``, ``diff``, ``search``, ``label …``, ``feedback …``: working with branches."""

from __future__ import annotations

from difflib import SequenceMatcher
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.text import Text

from graphstore import plaintext
from graphstore.cli import ids, output
from graphstore.cli.opening import opened
from graphstore.cli.options import ConversationId, Json, NodeId, Workspace, examples
from graphstore.cli.plain import counted, one_line
from graphstore.errors import ConversationNotFound, InvalidInput
from graphstore.models_branches import Difference, Label
from graphstore.store import GraphStore

Limit = Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="At most so many.")]
After = Annotated[str | None, typer.Option("--after", help="The key that the page before gave.")]
OnBranch = Annotated[bool, typer.Option("--branch", help="On the branch that begins at the node.")]
MARKS = {"equal": " ", "replaced": "~", "removed": "-", "added": "+"}
STYLES = {"equal": "dim", "replaced": "yellow", "removed": "red", "added": "green"}


class Rating(StrEnum):
    """What a rating can be."""

    UP = "up"
    DOWN = "down"


def branches(
    conversation_id: ConversationId,
    limit: Limit = 50,
    after: After = None,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """List a conversation's branches, newest first: where each leaves the accepted path, its labels, its summary."""
    with opened(workspace) as store:
        found, more = store.branches(ids.conversation(store, conversation_id), limit=limit, after=after)
    if json:
        output.print_json({"branches": found, "after": more})
        return
    short = ids.short(id for one in found for id in (one.node_id, one.leaves_at) if id)
    table = output.table("end", "leaves at", "nodes", "newest", "labels", "summary", right=("nodes",))
    for one in found:
        cells = (
            short[one.node_id],
            "accepted" if one.accepted else short[one.leaves_at] if one.leaves_at else "(its own start)",
            f"{one.nodes:,}",
            f"{one.newest_at.astimezone():%Y-%m-%d %H:%M:%S}",
            ", ".join(one.labels),
            one.summary or "",
        )
        table.add_row(*(Text(one_line(cell), style="bold" if one.accepted else "") for cell in cells))
    output.print_table(table, flexible="summary")
    _more(more)


def diff(
    left: Annotated[str, typer.Argument(metavar="A", help="A conversation (its cursor), or a node.")],
    right: Annotated[str, typer.Argument(metavar="B", help="Another one.")],
    within: Annotated[
        str | None,
        typer.Option("--in", help="The conversation whose nodes A and B are; then a part of their ids will do."),
    ] = None,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """Compare two branches: the part they share, then what differs, item by item."""
    with opened(workspace) as store:
        found = store.compare(_end(store, left, within), _end(store, right, within))
    if json:
        output.print_json(found)
        return
    out = output.console()
    shared = (
        f"{counted(len(found.common), 'node')} in common, up to {found.common_id}"
        if found.common_id is not None
        else "No node in common."
    )
    out.print(Text(one_line(shared), style="dim"), soft_wrap=True)
    for step in found.differences:
        out.print(_drawn(step), soft_wrap=True)


def _end(store: GraphStore, part: str, within: str | None) -> str:
    """The node that ends a branch: a conversation's cursor, or the node that is named."""
    if within is not None:
        return ids.node(store, ids.conversation(store, within), part)
    try:
        conversation = ids.conversation(store, part)
    except ConversationNotFound:
        return store.node(part).id
    cursor = store.conversation(conversation).cursor
    if cursor is None:
        raise InvalidInput(f"conversation {conversation!r} is empty; there is nothing to compare")
    return cursor


def _drawn(step: Difference) -> Text:
    """One step as a line; of texts that replace each other only the words that differ stand out."""
    made = Text(f"{MARKS[step.kind]} ", style=STYLES[step.kind])
    left, right = (None if side is None else _words(side.item) for side in (step.left, step.right))
    if step.kind != "replaced" or left is None or right is None:
        made.append(one_line(" ".join(left or right or [])))
        return made
    for tag, i, j, k, m in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag == "equal":
            made.append(one_line(" ".join(left[i:j])) + " ", style="default")
            continue
        if j > i:
            made.append(f"[-{one_line(' '.join(left[i:j]))}-] ", style="red")
        if m > k:
            made.append(f"{{+{one_line(' '.join(right[k:m]))}+}} ", style="green")
    made.rstrip()
    return made


def _words(item: dict[str, Any]) -> list[str]:
    texts = list(plaintext.texts_of([item]))
    if not texts:
        return output.as_json(item).split()[:400]
    return f"{texts[0][0]}: {' '.join(text for _, text in texts)}".split()[:400]


def search(
    words: Annotated[list[str], typer.Argument(metavar="WORDS", help='Words, all of them; a "phrase" in quotes.')],
    limit: Limit = 20,
    after: After = None,
    raw: Annotated[bool, typer.Option("--raw", help="The words are in Lucene's syntax.")] = False,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """Search all branches of the workspace."""
    with opened(workspace) as store:
        found, more = store.search(" ".join(words), limit=limit, after=after, raw=raw)
    if json:
        output.print_json({"hits": found, "after": more})
        return
    short = ids.short(id for hit in found for id in (hit.node_id, hit.conversation_id))
    table = output.table("conversation", "node", "path", "role", "text")
    for hit in found:
        cells = (
            short[hit.conversation_id],
            short[hit.node_id],
            "accepted" if hit.on_accepted_path else "another branch",
            hit.role,
            hit.snippet,
        )
        table.add_row(*(Text(one_line(cell)) for cell in cells))
    output.print_table(table, flexible="text")
    _more(more)


def label_add(
    conversation_id: ConversationId,
    node: NodeId,
    name: str,
    branch: OnBranch = False,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """Put a label on a node, or on the branch that begins there."""
    with opened(workspace) as store:
        found = ids.node(store, ids.conversation(store, conversation_id), node)
        store.labels.add(found, name, branch=branch)
    _said({"node_id": found, "name": name, "branch": branch}, f"{name} is on {found}", json)


def label_rm(
    conversation_id: ConversationId,
    node: NodeId,
    name: str,
    branch: OnBranch = False,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """Take a label off."""
    with opened(workspace) as store:
        found = ids.node(store, ids.conversation(store, conversation_id), node)
        removed = store.labels.remove(found, name, branch=branch)
    told = f"{name} is off {found}" if removed else f"{name} was not on {found}"
    _said({"node_id": found, "name": name, "branch": branch, "removed": removed}, told, json)


def label_ls(
    conversation_id: Annotated[str | None, typer.Argument(metavar="[ID]", help="A conversation.")] = None,
    name: Annotated[str | None, typer.Option("--name", help="Labels of this name in the whole workspace.")] = None,
    limit: Limit = 50,
    after: After = None,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """List the labels of a conversation, or those of one name."""
    if (conversation_id is None) == (name is None):
        raise InvalidInput("name either a conversation or a label (--name)")
    more: str | None = None
    found: list[Label]
    with opened(workspace) as store:
        if name is not None:
            found, more = store.labels.find(name, limit=limit, after=after)
        else:
            found = store.labels.of(ids.conversation(store, conversation_id or ""))
    if json:
        output.print_json({"labels": found, "after": more})
        return
    short = ids.short(id for one in found for id in (one.node_id, one.conversation_id))
    table = output.table("label", "on", "node", "conversation", "by", "at")
    for one in found:
        on = "branch" if one.branch else "node"
        at = f"{one.created_at.astimezone():%Y-%m-%d %H:%M:%S}"
        cells = (one.name, on, short[one.node_id], short[one.conversation_id], one.actor or "", at)
        table.add_row(*(Text(one_line(cell)) for cell in cells))
    output.print_table(table)
    _more(more)


def feedback_give(
    conversation_id: ConversationId,
    node: NodeId,
    rating: Annotated[Rating | None, typer.Option("--rating", help="up or down.")] = None,
    score: Annotated[float | None, typer.Option("--score", help="A number on a scale of your own.")] = None,
    text: Annotated[str | None, typer.Option("--text", help="In words.")] = None,
    by: Annotated[str | None, typer.Option("--by", help="Who says so.")] = None,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """Say what you think of a node."""
    with opened(workspace) as store:
        found = ids.node(store, ids.conversation(store, conversation_id), node)
        given = None if rating is None else rating.value
        made = store.feedback.give(found, rating=given, score=score, text=text, by=by)  # type: ignore[arg-type]
    _said({"id": made, "node_id": found}, f"Recorded on {found}", json)


def feedback_ls(conversation_id: ConversationId, workspace: Workspace = None, json: Json = False) -> None:
    """List the feedback on a conversation's nodes."""
    with opened(workspace) as store:
        found = store.feedback.of(ids.conversation(store, conversation_id))
    if json:
        output.print_json_list(found)
        return
    short = ids.short(one.node_id for one in found)
    table = output.table("node", "rating", "score", "by", "at", "text", right=("score",))
    for one in found:
        score = "" if one.score is None else f"{one.score:g}"
        at = f"{one.created_at.astimezone():%Y-%m-%d %H:%M:%S}"
        cells = (short[one.node_id], one.rating or "", score, one.by or "", at, one.text or "")
        table.add_row(*(Text(one_line(cell)) for cell in cells))
    output.print_table(table, flexible="text")


def _said(value: dict[str, Any], words: str, json: bool) -> None:
    if json:
        output.print_json(value)
    else:
        output.console().print(Text(one_line(words)), soft_wrap=True)


def _more(key: str | None) -> None:
    if key is not None:
        output.errors().print(Text(f"More:  --after {key}", style="dim"), soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    look = "Look"
    app.command("branches", rich_help_panel=look, epilog=examples("graphstore branches 3f9a61c2"))(branches)
    app.command(
        "diff",
        rich_help_panel=look,
        epilog=examples("graphstore diff 3f9a61c2 77b0aa41", "graphstore diff 81c0d2aa 9e20f001 --in 3f9a61c2"),
    )(diff)
    app.command("search", rich_help_panel=look, epilog=examples("graphstore search revenue '\"four million\"'"))(search)
    labels = typer.Typer(no_args_is_help=True, help="Labels on nodes and on branches.")
    labels.command("add", epilog=examples("graphstore label add 3f9a61c2 81c0d2aa best"))(label_add)
    labels.command("rm", epilog=examples("graphstore label rm 3f9a61c2 81c0d2aa best"))(label_rm)
    labels.command("ls", epilog=examples("graphstore label ls 3f9a61c2", "graphstore label ls --name best"))(label_ls)
    app.add_typer(labels, name="label", rich_help_panel="Change")
    feedback = typer.Typer(no_args_is_help=True, help="What people think of nodes.")
    feedback.command("give", epilog=examples("graphstore feedback give 3f9a61c2 81c0d2aa --rating up"))(feedback_give)
    feedback.command("ls", epilog=examples("graphstore feedback ls 3f9a61c2"))(feedback_ls)
    app.add_typer(feedback, name="feedback", rich_help_panel="Change")
