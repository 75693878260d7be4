"""Short ways to say what happens in a conversation, through public verbs only."""

from __future__ import annotations

from typing import Any

from graphstore import Context, GraphStore, Turn
from graphstore.items import ItemDict, ItemsInput


def user(text: str) -> ItemDict:
    return {"type": "message", "role": "user", "content": text}


def assistant(text: str) -> ItemDict:
    return {"type": "message", "role": "assistant", "content": text}


def tool_call(call_id: str, name: str = "search", arguments: str = "{}") -> ItemDict:
    return {"type": "tool_call", "call_id": call_id, "name": name, "arguments": arguments}


def tool_result(call_id: str, output: str = "found") -> ItemDict:
    return {"type": "tool_result", "call_id": call_id, "output": output}


def ask(store: GraphStore, conversation_id: str, question: ItemsInput, answer: ItemsInput, **options: Any) -> str:
    """A turn of one call; returns its node."""
    with store.turn(conversation_id) as turn:
        call = turn.call(question, **options)
        call.succeed(answer)
    return call.id


def answered(turn: Turn, answer: ItemsInput) -> str:
    """Settle a begun turn with its answer; returns the node."""
    with turn:
        turn.current.succeed(answer)
    return turn.current.id


def talk(store: GraphStore, *pairs: tuple[str, str]) -> tuple[str, list[str]]:
    """A new conversation of (question, answer) turns; returns its id and its nodes."""
    conversation_id = store.create_conversation()
    return conversation_id, [ask(store, conversation_id, question, answer) for question, answer in pairs]


def said(context: Context) -> list[str]:
    """The texts of a context's messages."""
    return [item["content"] for item in context.items if item.get("type", "message") == "message"]
