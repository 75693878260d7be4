"""Codex's session logs (rollouts): a line an item, in order; one file a session.

Items have no ids there. A message's key is a hash of everything up to it (``chains``), and that is what makes a tree:
a fork replays its parent's lines, so both share that beginning and it is a branch of the parent's conversation; a
rollback (``thread_rolled_back``) goes back before the last questions, so what it left is a branch; a question asked
again in the same words is the same question with another answer. The conversation goes by the session at the top.

``compacted`` is a compaction. Items are read as OpenAI Responses'; events that only repeat them are not. A sub-agent's
session is a conversation of its own that names the one that started it. The active leaf is the end of the top session,
or of what goes on from there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from graphstore.importers.chains import chain_key
from graphstore.importers.fields import array, counted, mapping, moment, name, text
from graphstore.importers.lines import READING_ERRORS, Values, sound, whole
from graphstore.importers.messages import Message, Side, grow
from graphstore.importers.records import ImportedConversation, Items, Report
from graphstore.importers.told import pointed, tell
from graphstore.rendering import openai_responses

SOURCE = "codex"

_TYPES = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted", "world_state"})
_ITEMS = frozenset({"message", "reasoning", "function_call", "function_call_output", "local_shell_call"})
_NO_ITEMS = frozenset({"ghost_snapshot", "token_count"})
_INJECTED = ("<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<turn_aborted>", "<skill>")


def recognises(record: Any) -> bool:
    """Whether ``record`` is a line of such a log, of any generation."""
    if not isinstance(record, dict):
        return False
    if record.get("type") in _TYPES:
        return isinstance(record.get("payload"), dict)
    return "git" in record and "instructions" in record and "timestamp" in record and "id" in record


@dataclass
class _Session:
    """What a file's header says of its session."""

    values: Values
    file: str
    id: str
    about: dict[str, Any]
    parent: str | None
    """The session it is a fork of."""
    started_by: str | None
    """The session it is a sub-agent of."""


def read_together(files: list[tuple[Values, str]]) -> Iterator[ImportedConversation]:
    """Every session with its forks, a conversation at a time."""
    sessions = [_header(values, file) for values, file in files]
    parents: dict[str, str | None] = {}
    for session in sessions:
        parents.setdefault(session.id, session.parent)
    groups: dict[str, list[_Session]] = {}
    for session in sessions:
        groups.setdefault(_top(session, parents), []).append(session)
    for top, members in groups.items():
        members.sort(key=lambda session: session.id != top)  # the top session first, if it is there
        yield whole(SOURCE, top, lambda report, top=top, members=members: _conversation(top, members, report))  # type: ignore[misc]


def _header(values: Values, file: str) -> _Session:
    about: dict[str, Any] = {}
    for parsed in values():
        record = mapping(parsed.value)
        if record.get("type") == "session_meta":
            about = mapping(record.get("payload"))
            break
        if "type" not in record and "id" in record:  # the first generation's
            about = record
            break
        if parsed.number > 20:
            break
    spawn = mapping(mapping(mapping(about.get("source")).get("subagent")).get("thread_spawn"))
    started_by = name(spawn.get("parent_thread_id"))
    parent = None if started_by is not None else name(about.get("forked_from_id"))
    session_id = name(about.get("id")) or file.rpartition("/")[2].partition(".jsonl")[0]
    return _Session(values, file, session_id, about, None if parent == session_id else parent, started_by)


def _top(session: _Session, parents: dict[str, str | None]) -> str:
    at, passed = session.id, {session.id}
    while (above := parents.get(at)) is not None and above not in passed:
        passed.add(above)
        at = above
    return at


def _conversation(top: str, members: list[_Session], report: Report) -> ImportedConversation:
    report.source_id = top
    first = members[0]
    messages: dict[str, Message] = {}
    end: str | None = None
    for session in members:
        reader = _Reader(messages, report)
        reader.read(sound(session.values(), report))
        if end is None or end in reader.passed:
            end = reader.above
    result = ImportedConversation(
        SOURCE,
        top,
        report,
        metadata={"sessions": [session.about | {"file": session.file} for session in members]}
        | ({} if first.started_by is None else {"started_by": {"conversation": first.started_by}}),
    )
    tree = grow(list(messages.values()), report)
    if not tree.messages:
        report.skipped = "it has no messages"
        return result
    moments = [message.created_at for message in tree.messages if message.created_at is not None]
    result.created_at = moment(first.about.get("timestamp")) or min(moments, default=None)
    result.updated_at = max(moments, default=None)
    instructions = first.about.get("base_instructions", first.about.get("instructions"))
    system = text(instructions) or text(mapping(instructions).get("text"))
    return tell(result, tree, pointed(tree, end, "the last line", report), provider=_provider(first), system=system)


def _provider(session: _Session) -> str:
    return text(session.about.get("model_provider")) or "openai"


@dataclass
class _Reader:
    """One file, line by line; ``messages`` are those of the files before it as well."""

    messages: dict[str, Message]
    report: Report
    above: str | None = None
    passed: set[str] = field(default_factory=set)
    model: str | None = None
    last_returned: Message | None = None
    path: list[tuple[str, str | None]] = field(default_factory=list)
    """The questions on the path so far, each with what stood before it."""

    def read(self, lines: Iterator[tuple[int, dict[str, Any]]]) -> None:
        for number, record in lines:
            kind = record.get("type")
            payload = mapping(record.get("payload"))
            if kind == "response_item":
                self._item(payload, record)
            elif kind == "compacted":
                self._compacted(payload, record)
            elif kind == "turn_context":
                self.model = text(payload.get("model")) or self.model
            elif kind == "event_msg":
                self._event(payload)
            elif kind in _ITEMS and "payload" not in record:
                self._item(record, record)
            elif kind not in _TYPES and "record_type" not in record and "id" not in record:
                self.report.note("unknown_content", f"record {number} of type {kind!r} is not understood; left out")

    def _item(self, payload: dict[str, Any], record: dict[str, Any]) -> None:
        kind = text(payload.get("type")) or ""
        if kind in _NO_ITEMS:
            return
        try:
            items = openai_responses.parse([payload]).items
        except READING_ERRORS:
            items = [{"type": "raw", "format": SOURCE, "data": payload}]
        if items[0]["type"] == "raw" and kind in _ITEMS:
            self.report.note("unknown_content", f"an item of type {kind!r} is not understood; kept raw")
        sent = kind.endswith("_output") or (kind == "message" and payload.get("role") != "assistant")
        question = kind == "message" and payload.get("role") == "user" and not _is_injected(payload)
        key = chain_key(self.above, payload)
        if question:
            self.path.append((key, self.above))
        self._add(key, Side.SENT if sent else Side.RETURNED, items, record, question=question)

    def _compacted(self, payload: dict[str, Any], record: dict[str, Any]) -> None:
        items: Items = []
        for each in array(payload.get("replacement_history")):
            try:
                items += openai_responses.parse([each]).items
            except READING_ERRORS:
                items.append({"type": "raw", "format": SOURCE, "data": each})
        said = text(payload.get("message"))
        if said and all(item["type"] == "raw" and not mapping(item["data"]).get("type") for item in items):
            items = [{"type": "message", "role": "user", "content": said}]
        if not items:
            self.report.note("unknown_content", "a compaction holds nothing; left out")
            return
        closed = any(mapping(item.get("data")).get("encrypted_content") for item in items if item["type"] == "raw")
        message = self._add(chain_key(self.above, ["compacted", payload]), Side.RETURNED, items, record)
        message.compacts = ["openai"] if closed else ["*"]
        message.notes = {"compacted": {each: value for each, value in payload.items() if each != "replacement_history"}}
        self.last_returned = None

    def _event(self, payload: dict[str, Any]) -> None:
        kind = payload.get("type")
        last = self.last_returned
        if kind == "thread_rolled_back":
            turns = payload.get("num_turns")
            self._roll_back(turns if isinstance(turns, int) and turns > 0 else 0)
        elif kind == "token_count" and last is not None and last.usage is None:
            last.usage = _usage(mapping(payload.get("info")).get("last_token_usage"))
        elif kind == "turn_aborted" and last is not None:
            last.finish_reason = "cancelled"

    def _roll_back(self, turns: int) -> None:
        if turns > len(self.path):
            self.report.note("dangling_pointer", f"{turns} turns are rolled back, of {len(self.path)}; all of them are")
        for _ in range(min(turns, len(self.path))):
            _, self.above = self.path.pop()
        self.last_returned = None

    def _add(self, key: str, side: Side, items: Items, record: dict[str, Any], *, question: bool = False) -> Message:
        message = self.messages.get(key)
        if message is None:
            message = Message(key, self.above, side, items, question=question)
            payload = mapping(record.get("payload"))
            message.created_at = moment(record.get("timestamp")) or moment(payload.get("timestamp"))
            message.model = self.model if side is Side.RETURNED else None
            self.messages[key] = message
        self.above = key
        self.passed.add(key)
        self.last_returned = message if side is Side.RETURNED else self.last_returned
        return message


def _is_injected(payload: dict[str, Any]) -> bool:
    """Whether Codex itself, not a person, says this in the user's name."""
    content = payload.get("content")
    said = content if isinstance(content, str) else next((mapping(part).get("text") for part in array(content)), None)
    return isinstance(said, str) and said.lstrip().startswith(_INJECTED)


def _usage(given: Any) -> dict[str, Any] | None:
    usage = mapping(given)
    return counted(
        {
            "input_tokens": usage.get("input_tokens"),
            "output_tokens": usage.get("output_tokens"),
            "cached_input_tokens": usage.get("cached_input_tokens"),
            "reasoning_tokens": usage.get("reasoning_output_tokens"),
        }
    )
