"""What every source ends with: a tree of messages and the leaf it calls active become calls and a cursor.

A source says what its messages are and where they hang; from there on all of them are alike. The active leaf is the
source's own where it names one that exists; otherwise it is guessed, and the conversation says so.
"""

from __future__ import annotations

from graphstore.importers import calls as calls_of
from graphstore.importers.messages import Tree
from graphstore.importers.records import ImportedConversation, Items, Report


def pointed(tree: Tree, key: str | None, field: str, report: Report) -> int | None:
    """The position of the message that ``field`` names as the active leaf; ``None``, and noted, if there is none."""
    if key is not None:
        at = tree.position.get(key)
        if at is not None:
            return at
        report.note("dangling_pointer", f"{field} names {key!r}, which is not among the messages")
    report.note("guessed_leaf", "the source names no active leaf that exists; the newest leaf is taken")
    return None


def tell(
    conversation: ImportedConversation,
    tree: Tree,
    pointer: int | None,
    *,
    provider: str | None = None,
    model: str | None = None,
    system: str | None = None,
    tools: Items | None = None,
) -> ImportedConversation:
    """The same conversation with its calls, and its cursor at ``pointer`` (``None``: at the newest leaf, guessed).

    ``model`` is assumed where a call's own messages name none; ``system`` and ``tools`` are every call's.
    """
    if pointer is None:
        conversation.cursor_guessed = True
        pointer = tree.newest_leaf()
    built = calls_of.build(tree, pointer, conversation.report, provider, model)
    for call in built.calls:
        call.system_prompt = system
        call.tools = tools
    conversation.calls = built.calls
    conversation.cursor_key = calls_of.cursor_of(tree, built, pointer)
    return conversation
