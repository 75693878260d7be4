"""What all of LangGraph's savers share: a call is one ``invoke`` of a graph whose model gives the stored answer.

Full: every checkpoint has all messages (``add_messages``). Delta: only what is new (``DeltaChannel``, in beta), with
the library's own reducer and its default snapshot every 100 updates.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.channels.delta import DeltaChannel
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import _messages_delta_reducer, add_messages
from typing_extensions import TypedDict

from benchmarks.peers.peer import Peer
from benchmarks.peers.workloads import Call, Message


class Full(TypedDict):
    messages: Annotated[list[Any], add_messages]


class Delta(TypedDict):
    messages: Annotated[list[Any], DeltaChannel(_messages_delta_reducer)]


@dataclass
class Thread:
    """A thread; ``checkpoint`` is an old one to go on from, else it goes on from the newest."""

    id: str
    checkpoint: str | None = None

    @property
    def config(self) -> dict[str, Any]:
        named = {"checkpoint_id": self.checkpoint} if self.checkpoint else {}
        return {"configurable": {"thread_id": self.id, "checkpoint_ns": "", **named}}


class LangGraph(Peer):
    """Open with ``self.saver`` set; a fork is an ``invoke`` from an old checkpoint of the same thread."""

    state: ClassVar[type] = Full
    can_switch = False  # there is no cursor: an old checkpoint is named at each call
    _numbers = itertools.count()

    saver: Any

    def compile(self) -> None:
        graph = StateGraph(self.state)
        graph.add_node("model", lambda _state: {"messages": [self._reply]})
        graph.add_edge(START, "model")
        graph.add_edge("model", END)
        self._graph = graph.compile(checkpointer=self.saver)

    def new_thread(self) -> Thread:
        return Thread(f"thread-{next(self._numbers)}")

    def native(self, call: Call) -> tuple[list[Any], Any]:
        return [_message(message) for message in call.sent], _message(call.returned)

    def append(self, thread: Thread, native: tuple[list[Any], Any]) -> None:
        sent, self._reply = native
        self._graph.invoke({"messages": sent}, thread.config)
        thread.checkpoint = None

    def branch(self, thread: Thread, place: str, native: tuple[list[Any], Any]) -> None:
        thread.checkpoint = place
        self.append(thread, native)

    def place(self, thread: Thread) -> str | None:
        found = self.saver.get_tuple(thread.config)
        return None if found is None else found.config["configurable"]["checkpoint_id"]

    def read(self, thread: Thread) -> list[Any]:
        return self._graph.get_state(thread.config).values["messages"]

    def texts(self, read: Sequence[Any]) -> list[str]:
        return [
            message.tool_calls[0]["args"]["query"] if getattr(message, "tool_calls", None) else message.content
            for message in read
        ]

    def switch(self, thread: Thread, place: str) -> None:
        thread.checkpoint = place

    def siblings(self, thread: Thread, place: str) -> int:
        whole = {"configurable": {"thread_id": thread.id, "checkpoint_ns": ""}}
        parents = [one.parent_config for one in self.saver.list(whole) if one.parent_config is not None]
        return sum(parent["configurable"]["checkpoint_id"] == place for parent in parents)

    def grow(self, thread: Thread, native: tuple[list[Any], Any], place: str | None = None) -> None:
        """By ``update_state``: one checkpoint a call where ``invoke`` makes three."""
        sent, reply = native
        thread.checkpoint = place or thread.checkpoint
        config = self._graph.update_state(thread.config, {"messages": [*sent, reply]}, as_node="model")
        thread.checkpoint = config["configurable"]["checkpoint_id"]

    def seen(self, thread: Thread) -> Thread:
        return Thread(thread.id)

    def kept(self, thread: Thread) -> set[str]:
        whole = {"configurable": {"thread_id": thread.id, "checkpoint_ns": ""}}
        ids, parents = set(), set()
        for one in self.saver.list(whole):
            ids.add(one.config["configurable"]["checkpoint_id"])
            if one.parent_config is not None:
                parents.add(one.parent_config["configurable"]["checkpoint_id"])
        found: set[str] = set()
        for end in ids - parents:
            state = self._graph.get_state(Thread(thread.id, end).config)
            found |= set(self.texts(state.values.get("messages", [])))
        return found


def _message(message: Message) -> Any:
    match message.role:
        case "user":
            return HumanMessage(message.text)
        case "tool_result":
            return ToolMessage(message.text, tool_call_id=message.call_id, name="search")
        case "tool_call":
            asked = {"id": message.call_id, "name": "search", "args": {"query": message.text}}
            return AIMessage("", tool_calls=[asked])
        case _:
            return AIMessage(message.text)
