"""The log store of ``llm`` (``llm.logs.LogStore``, an internal interface): its message tree, the fastest way in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlite_utils
from llm.logs import LogStore
from llm.parts import Message as LlmMessage
from llm.parts import TextPart, ToolCallPart, ToolResultPart

from benchmarks.peers.peer import Peer, Servers
from benchmarks.peers.sqlite_file import SqliteFile, written_by_this_process
from benchmarks.peers.workloads import Call, Message


@dataclass
class Thread:
    """A thread of the store; a fork is another one, so ``family`` names all that were made of it."""

    id: str
    family: list[str]


class LlmLog(Peer):
    name = "llm, LogStore.append"
    packages = ("llm", "sqlite-utils")

    def __init__(self, servers: Servers, file: SqliteFile | None = None) -> None:
        super().__init__(servers)
        self._file = file or SqliteFile()
        self._shared = file is not None

    def open(self) -> None:
        self._database = sqlite_utils.Database(self._file.path)
        self._database.conn.execute("PRAGMA busy_timeout = 5000")
        self._store = LogStore(self._database)

    def close(self) -> None:
        self._database.conn.close()
        if not self._shared:
            self._file.close()

    def new_thread(self) -> Thread:
        id = self._store.create_thread()
        return Thread(id, [id])

    def native(self, call: Call) -> list[Any]:
        return [_message(message) for message in call.messages]

    def append(self, thread: Thread, native: list[Any]) -> None:
        self._store.append(thread.id, native)

    def branch(self, thread: Thread, place: str, native: list[Any]) -> None:
        self.switch(thread, place)
        self.append(thread, native)

    def place(self, thread: Thread) -> str | None:
        return self._store.thread_tip(thread.id)

    def read(self, thread: Thread) -> list[Any]:
        return self._store.thread_messages(thread.id)

    def texts(self, read: Sequence[Any]) -> list[str]:
        return [_text(part) for message in read for part in message.parts]

    def switch(self, thread: Thread, place: str | None) -> None:
        """Nothing is copied: a new row points at the old message."""
        thread.id = self._store.fork(place, forked_from=thread.id)
        thread.family.append(thread.id)

    def siblings(self, thread: Thread, place: str) -> int:  # noqa: ARG002 - messages are of no thread
        """The store lists none; the plain query on its own index, as an application would write it."""
        query = (
            "SELECT answer.hash, answer.role FROM messages question JOIN messages answer"
            " ON answer.parent_hash = question.hash WHERE question.parent_hash = ?"
        )
        return len(list(self._database.query(query, [place])))

    def size(self) -> int:
        return self._file.size()

    def written(self) -> int:
        return written_by_this_process()

    def writer(self) -> LlmLog:
        other = type(self)(self.servers, self._file)
        other.open()
        return other

    def seen(self, thread: Thread) -> Thread:
        return Thread(thread.id, [thread.id])

    def kept(self, thread: Thread) -> set[str]:
        return {text for id in thread.family for text in self.texts(self._store.thread_messages(id))}


def _message(message: Message) -> Any:
    match message.role:
        case "tool_call":
            asked = ToolCallPart(name="search", arguments={"query": message.text}, tool_call_id=message.call_id)
            return LlmMessage("assistant", [asked])
        case "tool_result":
            found = ToolResultPart(name="search", output=message.text, tool_call_id=message.call_id)
            return LlmMessage("tool", [found])
        case role:
            return LlmMessage(role, [TextPart(text=message.text)])


def _text(part: Any) -> str:
    if isinstance(part, ToolCallPart):
        return str(part.arguments["query"])
    return str(part.output if isinstance(part, ToolResultPart) else part.text)
