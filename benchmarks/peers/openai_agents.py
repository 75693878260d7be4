"""OpenAI Agents' ``AdvancedSQLiteSession``. It branches at turns of the user only, and has no listing of siblings."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from agents.extensions.memory import AdvancedSQLiteSession

from benchmarks.peers.peer import Peer, Servers
from benchmarks.peers.sqlite_file import SqliteFile, written_by_this_process
from benchmarks.peers.workloads import Call, Message


@dataclass
class Thread:
    """A session, its branch now, and how many questions each branch has."""

    session: AdvancedSQLiteSession
    branch: str = "main"
    turns: dict[str, int] = field(default_factory=lambda: {"main": 0})


Place = tuple[str, int]
"""A branch and the number of its questions so far."""


class OpenAIAgents(Peer):
    name = "OpenAI Agents, AdvancedSQLiteSession"
    packages = ("openai-agents",)
    can_list_siblings = False

    def __init__(self, servers: Servers, file: SqliteFile | None = None) -> None:
        super().__init__(servers)
        self._file = file or SqliteFile()
        self._shared = file is not None

    def open(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._sessions: dict[str, AdvancedSQLiteSession] = {}

    def close(self) -> None:
        for session in self._sessions.values():
            session.close()
        self._loop.close()
        if not self._shared:
            self._file.close()

    def _run(self, work: Any) -> Any:
        return self._loop.run_until_complete(work)

    def _session(self, id: str) -> AdvancedSQLiteSession:
        if id not in self._sessions:
            self._sessions[id] = AdvancedSQLiteSession(session_id=id, db_path=self._file.path, create_tables=True)
        return self._sessions[id]

    def new_thread(self) -> Thread:
        return Thread(self._session(uuid.uuid4().hex))

    def native(self, call: Call) -> tuple[list[dict[str, Any]], int]:
        questions = sum(message.role == "user" for message in call.sent)
        return [_item(message) for message in call.messages], questions

    def append(self, thread: Thread, native: tuple[list[dict[str, Any]], int]) -> None:
        items, questions = native
        self._run(thread.session.add_items(items))
        thread.turns[thread.branch] += questions

    def branch(self, thread: Thread, place: Place, native: tuple[list[dict[str, Any]], int]) -> None:
        """It copies a row for each message of the path."""
        branch, turns = place
        self._go(thread, branch)
        thread.branch = self._run(thread.session.create_branch_from_turn(turns + 1))
        thread.turns[thread.branch] = turns
        self.append(thread, native)

    def place(self, thread: Thread) -> Place:
        return thread.branch, thread.turns[thread.branch]

    def read(self, thread: Thread) -> list[dict[str, Any]]:
        return self._run(thread.session.get_items())

    def texts(self, read: Sequence[dict[str, Any]]) -> list[str]:
        return [_text(item) for item in read]

    def switch(self, thread: Thread, place: Place) -> None:
        self._go(thread, place[0])

    def _go(self, thread: Thread, branch: str) -> None:
        if thread.branch != branch:
            self._run(thread.session.switch_to_branch(branch))
            thread.branch = branch

    def size(self) -> int:
        return self._file.size()

    def written(self) -> int:
        return written_by_this_process()

    def writer(self) -> OpenAIAgents:
        other = type(self)(self.servers, self._file)
        other.open()
        return other

    def seen(self, thread: Thread) -> Thread:
        return Thread(self._session(thread.session.session_id))

    def kept(self, thread: Thread) -> set[str]:
        branches = self._run(thread.session.list_branches())
        reads = [self._run(thread.session.get_items(branch_id=one["branch_id"])) for one in branches]
        return {text for read in reads for text in self.texts(read)}


def _item(message: Message) -> dict[str, Any]:
    match message.role:
        case "user":
            return {"role": "user", "content": message.text}
        case "tool_result":
            return {"type": "function_call_output", "call_id": message.call_id, "output": message.text}
        case "tool_call":
            asked = {"name": "search", "arguments": json.dumps({"query": message.text})}
            return {"type": "function_call", "call_id": message.call_id, **asked}
        case _:
            said = [{"type": "output_text", "text": message.text}]
            return {"type": "message", "role": "assistant", "content": said}


def _text(item: dict[str, Any]) -> str:
    if "output" in item:
        return item["output"]
    if "arguments" in item:
        return json.loads(item["arguments"])["query"]
    return item["content"] if isinstance(item["content"], str) else item["content"][0]["text"]
