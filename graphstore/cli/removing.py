"""``graphstore tombstone``, ``tombstones``, ``restore``, ``purge``, ``clear``, ``delete``: what is taken away."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from graphstore.cli import ids, output
from graphstore.cli.opening import opened
from graphstore.cli.options import ConversationId, Json, NodeId, Workspace, examples, named
from graphstore.cli.plain import counted, one_line
from graphstore.errors import InvalidInput
from graphstore.models import RemovalReceipt
from graphstore.store import GraphStore

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")]
Force = Annotated[bool, typer.Option("--force", help="Also while a turn is running; it then learns that all is gone.")]


class OnShared(StrEnum):
    """What becomes of nodes that other conversations stand on."""

    KEEP = "keep"
    REFUSE = "refuse"
    ERASE = "erase"


def tombstone(conversation_id: ConversationId, node: NodeId, workspace: Workspace = None, json: Json = False) -> None:
    """Hide the branch that begins at a node; `restore` shows it again."""
    with opened(workspace) as store:
        top = ids.node(store, ids.conversation(store, conversation_id), node)
        hidden = store.tombstone(top)
    if json:
        output.print_json({"node_id": top, "nodes": hidden})
        return
    output.console().print(Text(f"{counted(hidden, 'node')} hidden"), soft_wrap=True)
    again = f"graphstore restore {one_line(conversation_id)} {one_line(top)[-ids.SHOWN :]}{named(workspace)}"
    output.console().print(Text(f"Back:  {again}", style="dim"), soft_wrap=True)


def tombstones(conversation_id: ConversationId, workspace: Workspace = None, json: Json = False) -> None:
    """List the hidden branches of a conversation, newest first."""
    with opened(workspace) as store:
        found = store.tombstones(ids.conversation(store, conversation_id))
    if json:
        output.print_json_list(found)
        return
    short = ids.short(one.node_id for one in found)
    table = output.table("branch", "nodes", "hidden since", right=("nodes",))
    for one in found:
        table.add_row(
            one_line(short[one.node_id]), f"{one.nodes:,}", f"{one.deleted_at.astimezone():%Y-%m-%d %H:%M:%S}"
        )
    output.print_table(table)


def restore(conversation_id: ConversationId, node: NodeId, workspace: Workspace = None, json: Json = False) -> None:
    """Show a hidden branch again."""
    with opened(workspace) as store:
        top = ids.tombstone(store, ids.conversation(store, conversation_id), node)
        shown = store.restore(top)
    if json:
        output.print_json({"node_id": top, "nodes": shown})
        return
    output.console().print(Text(f"{counted(shown, 'node')} shown again"), soft_wrap=True)


def purge(
    conversation_id: ConversationId, node: NodeId, yes: Yes = False, workspace: Workspace = None, json: Json = False
) -> None:
    """Remove a hidden branch for good."""
    with opened(workspace) as store:
        top = ids.tombstone(store, ids.conversation(store, conversation_id), node)
        _sure(f"Remove the hidden branch at {one_line(top)} for good?", yes, json)
        receipt = store.purge(top)
    _show(receipt, json)


def clear(
    conversation_id: ConversationId,
    force: Force = False,
    yes: Yes = False,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """Empty a conversation: the next turn starts from nothing. What forks stand on stays theirs."""
    with opened(workspace) as store:
        found = ids.conversation(store, conversation_id)
        _sure(f"Empty conversation {one_line(found)} ({_size(store, found)}) for good?", yes, json)
        with _bar("clearing") as advance:
            receipt = store.clear(found, force=force, progress=advance)
    _show(receipt, json)


def delete(
    conversation_id: ConversationId,
    on_shared: Annotated[
        OnShared, typer.Option("--on-shared", help="What becomes of nodes that other conversations stand on.")
    ] = OnShared.KEEP,
    force: Force = False,
    yes: Yes = False,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """Delete a conversation for good; interrupted, the same command finishes it."""
    with opened(workspace) as store:
        found = ids.conversation(store, conversation_id)
        _sure(f"Delete conversation {one_line(found)} ({_size(store, found)}) for good?", yes, json)
        with _bar("deleting") as advance:
            receipt = store.delete_conversation(found, on_shared=on_shared.value, force=force, progress=advance)
    _show(receipt, json)


def _size(store: GraphStore, conversation_id: str) -> str:
    return counted(len(store.tree(conversation_id)), "node")


def _sure(question: str, yes: bool, json: bool) -> None:
    if yes:
        return
    if json or not output.errors().is_terminal:
        raise InvalidInput("this removes data for good and there is nobody here to ask; say --yes")
    typer.confirm(question, abort=True, err=True)


@contextmanager
def _bar(what: str) -> Iterator[Callable[[int], None]]:
    err = output.errors()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bars:
        task = bars.add_task(what, total=None)
        yield lambda done: bars.advance(task, done)


def _show(receipt: RemovalReceipt, json: bool) -> None:
    if json:
        output.print_json(receipt)
        return
    out = output.console()
    gone = [counted(receipt.nodes, "node")]
    gone += [counted(count, word) for count, word in ((receipt.bubbles, "bubble"), (receipt.moves, "move")) if count]
    listed = " and ".join(filter(None, (", ".join(gone[:-1]), gone[-1])))
    out.print(Text(f"Removed {listed}"), soft_wrap=True)
    for kept in receipt.kept:
        how = "blanked and handed" if kept.erased else "handed"
        told = f"{counted(kept.nodes, 'node')} {how} to conversation {kept.conversation_id}, which stands on them"
        out.print(Text(one_line(told)), soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("tombstone", rich_help_panel="Take away", epilog=examples("graphstore tombstone 3f9a61c2 81c0d2aa"))(
        tombstone
    )
    app.command("tombstones", rich_help_panel="Take away", epilog=examples("graphstore tombstones 3f9a61c2"))(
        tombstones
    )
    app.command("restore", rich_help_panel="Take away", epilog=examples("graphstore restore 3f9a61c2 81c0d2aa"))(
        restore
    )
    app.command("purge", rich_help_panel="Take away", epilog=examples("graphstore purge 3f9a61c2 81c0d2aa --yes"))(
        purge
    )
    app.command("clear", rich_help_panel="Take away", epilog=examples("graphstore clear 3f9a61c2"))(clear)
    app.command(
        "delete",
        rich_help_panel="Take away",
        epilog=examples(
            "graphstore delete 3f9a61c2",
            "graphstore delete 3f9a61c2 --on-shared refuse --yes",
            "graphstore delete 3f9a61c2 --on-shared erase --yes --json",
        ),
    )(delete)
