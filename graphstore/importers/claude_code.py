"""Claude Code's session logs: a line a block, linked by ``parentUuid``, a session in one file or several.

- **One answer is several lines** with one ``message.id``; they are one call. Calls made in parallel look like forks
  there (each result hangs under its own line): all results of one answer are one line of messages here. Lines that are
  no messages (progress, hooks, system notes) are passed through, so they fork nothing.
- **Branches** are what a rewind or an edit left behind. The active leaf is the message written last.
- **Compaction**: the summary behind a boundary is a compaction of the path that ends at its ``logicalParentUuid``.
- **Sub-agents** (side chains) are conversations of their own, which name the call that started them.
- **A forked session**'s copied lines name what they are copies of (``forkedFrom``): it is a branch of the original.
- A parent that was never written is replaced by the message written before, and noted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from graphstore.importers import claude_code_lines as lines_of
from graphstore.importers.claude_code_lines import Line
from graphstore.importers.fields import array, mapping, name
from graphstore.importers.lines import Values, whole
from graphstore.importers.messages import Message, Side, grow
from graphstore.importers.records import ImportedConversation, Report
from graphstore.importers.told import pointed, tell

SOURCE = lines_of.SOURCE

recognises = lines_of.recognises


def read_together(files: list[tuple[Values, str]]) -> Iterator[ImportedConversation]:
    """Every session with its sub-agents, given out at the last file that has lines of it."""
    owners, last = _sessions(files)
    open_lines: dict[str, list[Line]] = {}
    damage: dict[str, list[str]] = {}
    for at, (values, file) in enumerate(files):
        session = ""
        for parsed in values():
            record = parsed.value
            if parsed.damage is not None or not isinstance(record, dict):
                what = parsed.damage or f"it is no object but {str(record)[:80]!r}"
                damage.setdefault(file, []).append(f"{file}[{parsed.number}] is left out: {what[:200]}")
                continue
            session = owners.get(name(record.get("sessionId")) or "", session)
            open_lines.setdefault(session, []).append(Line(record, file, f"{file}[{parsed.number}]"))
        for done in [key for key in open_lines if last.get(key, at) <= at]:
            lines = open_lines.pop(done)
            named = dict.fromkeys(line.file for line in lines)
            noted = [note for each in named for note in damage.pop(each, [])]
            yield from _conversations(done or file, lines, noted)
    for file, noted in damage.items():  # nothing in it could be read
        yield ImportedConversation(SOURCE, file, Report(file, skipped=noted[0]))


def _sessions(files: list[tuple[Values, str]]) -> tuple[dict[str, str], dict[str, int]]:
    """For each session the one it is a fork of in the end, and for each of those the last file that has lines of it."""
    above: dict[str, str] = {}
    seen: dict[str, int] = {}
    for at, (values, _) in enumerate(files):
        for parsed in values():
            record = mapping(parsed.value)
            session = name(record.get("sessionId"))
            if session is None:
                continue
            seen[session] = at
            origin = name(mapping(record.get("forkedFrom")).get("sessionId"))
            if origin is not None and origin != session:
                above.setdefault(session, origin)
    owners: dict[str, str] = {}
    last: dict[str, int] = {}
    for session, at in seen.items():
        top, passed = session, {session}
        while top in above and above[top] not in passed:
            top = above[top]
            passed.add(top)
        owners[session] = top
        last[top] = max(last.get(top, at), at)
    return owners, last


@dataclass
class _Unit:
    """The lines of one conversation: a session's own, or those of a sub-agent."""

    source_id: str
    lines: list[Line] = field(default_factory=list)


def _conversations(session: str, lines: list[Line], damage: list[str]) -> Iterator[ImportedConversation]:
    units, titles, started = _units(session, lines)
    for unit in units:
        main = unit.source_id == session
        yield whole(
            SOURCE,
            unit.source_id,
            lambda report, unit=unit, main=main: _conversation(  # type: ignore[misc]
                unit, titles if main else [], damage if main else [], started.get(unit.source_id), report
            ),
        )


def _units(session: str, lines: list[Line]) -> tuple[list[_Unit], list[str], dict[str, dict[str, Any]]]:
    """The session's own lines and those of each sub-agent; its titles; for sub-agents what started them."""
    above = {line.key: line.parent for line in lines if line.key is not None}
    side = {line.key for line in lines if line.key is not None and line.record.get("isSidechain") is True}
    tops: dict[str, str] = {}
    units = {session: _Unit(session)}
    titles: list[str] = []
    started: dict[str, dict[str, Any]] = {}
    for line in lines:
        record = line.record
        if (title := lines_of.title_of(record)) is not None:
            titles.append(title)
            continue
        owner = session
        if record.get("isSidechain") is True:
            agent = name(record.get("agentId")) or _top(line.key or line.where, above, side, tops)
            owner = f"{session}/{agent}"
            if line.parent is not None and line.parent not in side and line.parent in above:
                started.setdefault(owner, {"conversation": session, "message": line.parent})
        elif (agent_id := name(mapping(record.get("toolUseResult")).get("agentId"))) is not None:
            calls = [
                mapping(block).get("tool_use_id") for block in array(mapping(record.get("message")).get("content"))
            ]
            started[f"{session}/{agent_id}"] = {"conversation": session, "message": line.key, "tool_calls": calls}
        units.setdefault(owner, _Unit(owner)).lines.append(line)
    return [unit for unit in units.values() if unit.lines], titles, started


def _top(key: str, above: dict[str, str | None], side: set[str], tops: dict[str, str]) -> str:
    """The first line of the side chain that ``key`` stands in."""
    trail: dict[str, None] = {}
    at = key
    while at not in tops and at not in trail:
        trail[at] = None
        upper = above.get(at)
        if upper is None or upper not in side:
            break
        at = upper
    top = tops.get(at, at)
    tops.update(dict.fromkeys(trail, top))
    return top


def _conversation(
    unit: _Unit, titles: list[str], damage: list[str], started: dict[str, Any] | None, report: Report
) -> ImportedConversation:
    report.source_id = unit.source_id
    report.title = titles[-1] if titles else None
    for note in damage:
        report.note("damaged", note)
    gathered = _Lines(unit.lines, report)
    tree = grow(gathered.messages, report)
    about = {"files": list(dict.fromkeys(line.file for line in unit.lines)), "lines": dict(gathered.passed)}
    result = ImportedConversation(
        SOURCE,
        unit.source_id,
        report,
        title=report.title,
        metadata=about | ({} if started is None else {"started_by": started}),
    )
    if not any(message.items for message in tree.messages):
        report.skipped = "it has no messages"
        return result
    moments = [message.created_at for message in tree.messages if message.created_at is not None]
    result.created_at, result.updated_at = min(moments, default=None), max(moments, default=None)
    return tell(result, tree, pointed(tree, gathered.latest, "the last line", report), provider="anthropic")


class _Lines:
    """The messages of one conversation's lines, with links that lead from message to message."""

    def __init__(self, lines: list[Line], report: Report) -> None:
        self._report = report
        self._goes_by: dict[str, str] = {}  # a line's uuid → the key of the message that it is in
        self._through: dict[str, str | None] = {}  # a line that is no message → the line above it
        self._above: list[tuple[Message, str | None, str | None]] = []  # with its parent's uuid, and the message before
        self._answers: dict[str, Message] = {}
        self._makers: dict[str, Message] = {}  # a call id → the answer that made it
        self._results: dict[str, Message] = {}  # an answer's key → the last of its results so far
        self._messages: dict[str, Message] = {}
        self._said: dict[str, Any] = {}
        self.passed: dict[str, int] = {}
        self.latest: str | None = None
        for line in lines:
            self._take(line)
        self.messages = self._linked()

    def _take(self, line: Line) -> None:
        record = line.record
        if not line.is_message:
            kind = str(record.get("type"))
            self.passed[kind] = self.passed.get(kind, 0) + 1
            if line.key is not None and line.key not in self._goes_by:
                self._through.setdefault(line.key, line.logical_parent)
            if lines_of.is_worth_keeping(record) and self.latest is not None:
                self._messages[self.latest].notes.setdefault("beside", []).append(record)
            return
        key = line.key or f"{self.latest or ''}+{len(self._said)}"
        if key in self._said:
            if self._said[key] == record.get("message"):
                self._report.note("duplicate_id", f"line {key!r} stands there twice, the same; read once")
                return
            number = 2
            while f"{key}#{number}" in self._said:
                number += 1
            self._report.note("duplicate_id", f"two lines have the uuid {key!r}; the later one is {key}#{number}")
            key = f"{key}#{number}"
        self._said[key] = record.get("message")
        answer_id = line.answer_id
        answer = None if answer_id is None else self._answers.get(answer_id)
        message = lines_of.read(key, line, self._report)
        if answer is not None:
            self._join(answer, message)
            self._goes_by[key] = self.latest = answer.key
            return
        if answer_id is not None:
            self._answers[answer_id] = message
        self._goes_by[key] = key
        self._messages[key] = message
        self._above.append((message, line.logical_parent, self.latest))
        self._makes(message, message.items)
        self.latest = key

    def _join(self, answer: Message, message: Message) -> None:
        """Add a further line of an answer; a block that was written before isn't added again."""
        known = {item["call_id"] for item in answer.items if item["type"] == "tool_call"}
        fresh = [item for item in message.items if item.get("call_id") not in known or item["type"] != "tool_call"]
        answer.items += fresh
        self._makes(answer, fresh)
        answer.finished_at = message.created_at
        answer.usage = message.usage or answer.usage
        answer.finish_reason = message.finish_reason or answer.finish_reason

    def _makes(self, message: Message, items: list[dict[str, Any]]) -> None:
        if message.side is Side.RETURNED:
            for item in items:
                if item["type"] == "tool_call":
                    self._makers.setdefault(item["call_id"], message)

    def _linked(self) -> list[Message]:
        answered: set[str] = set()
        behind: dict[str, str] = {}  # a result's key → the last result of the same answer
        own: dict[str, str] = {}  # a result's key → what it follows
        groups: dict[str, list[str]] = {}
        for message, _, _ in self._above:
            calls = [item["call_id"] for item in message.items if item["type"] == "tool_result"]
            maker = self._makers.get(calls[0]) if calls and message.side is Side.SENT else None
            if maker is None or calls[0] in answered or message.question:
                continue
            answered.update(calls)
            group = groups.setdefault(maker.key, [])
            own[message.key] = group[-1] if group else maker.key
            group.append(message.key)
        for group in groups.values():
            behind.update(dict.fromkeys(group, group[-1]))
        for message, parent, before in self._above:
            if message.key in own:
                message.parent = own[message.key]
                continue
            above = self._resolved(parent)
            lost = parent is not None and above is None and not self._leads_to_start(parent)
            if lost or (message.compacts is not None and above is None):
                if before is not None:
                    self._report.note(
                        "orphan",
                        f"line {message.key!r} names an unknown parent {parent!r}; it follows the one before it",
                    )
                    above = before
                else:
                    above = parent  # the first of all: its parent is in a file that isn't here
            message.parent = above if above is None else behind.get(above, above)
        return [message for message, _, _ in self._above]

    def _resolved(self, uuid: str | None) -> str | None:
        """The message that a link leads to, through lines that are none."""
        passed: list[str] = []
        while (
            uuid is not None
            and uuid not in self._goes_by
            and uuid in self._through
            and len(passed) < len(self._through)
        ):
            passed.append(uuid)
            uuid = self._through[uuid]
        for each in passed:  # so that long runs of progress are walked once
            self._through[each] = uuid
        return None if uuid is None else self._goes_by.get(uuid)

    def _leads_to_start(self, uuid: str) -> bool:
        """Whether a link leads through lines that are no messages to one without a parent."""
        return uuid in self._through and self._through[uuid] is None
