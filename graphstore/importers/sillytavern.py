"""SillyTavern's chats: one JSONL file a chat, a header and then a line a message; branches are files of their own.

Messages have no ids. A message's key is a hash of everything said up to it (``chains``), so files that begin alike
share that beginning: a branch file (its header's ``main_chat`` names the chat it came from) and its main chat become
one conversation of one tree. A conversation goes by the name of its character and of the chat at the top.

``swipes`` are alternatives of one message; the lines below it continue the chosen one. ``mes`` is what stands there
now: where it was edited since, the swipe's text is kept in ``metadata``. The active leaf is the last line of the
main chat.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from graphstore import jsontext
from graphstore.importers.chains import chain_key
from graphstore.importers.fields import array, mapping, moment, name, text
from graphstore.importers.lines import Values, sound, whole
from graphstore.importers.messages import Message, Side, grow
from graphstore.importers.pieces import Gathered, Pieces
from graphstore.importers.records import ImportedConversation, Items, Report
from graphstore.importers.told import pointed, tell
from graphstore.rendering.parts import at_url

SOURCE = "sillytavern"

_SAID = ("mes", "swipes", "swipe_info")
_NAME = re.compile(r"(?:.*/)?(.*?)(?:\.(?:jsonl?|ndjson|gz))*$", re.I | re.S)
_OLD_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2}) ?@ ?(\d{1,2})h ?(\d{1,2})m ?(\d{1,2})s")


def recognises(record: Any) -> bool:
    """Whether ``record`` is the header of a chat or one of its messages."""
    if not isinstance(record, dict):
        return False
    return _is_message(record) or (
        "character_name" in record and ("user_name" in record or isinstance(record.get("chat_metadata"), dict))
    )


def read_together(files: list[tuple[Values, str]]) -> Iterator[ImportedConversation]:
    """Every chat with its branches, a conversation at a time."""
    headers = [_header(values) for values, _ in files]
    names = [_chat_name(file) for _, file in files]
    chats = [(name(header.get("character_name")) or "", chat) for header, chat in zip(headers, names, strict=True)]
    mains = {chat: at for at, chat in reversed(list(enumerate(chats)))}
    groups: dict[tuple[str, str], list[int]] = {}
    for at in range(len(files)):
        groups.setdefault(_top(at, chats, headers, mains), []).append(at)
    for (character, chat), members in groups.items():
        members.sort(key=lambda at: chats[at][1] != chat)  # the main chat first, if it is there
        group = [(files[at][0], files[at][1], headers[at]) for at in members]
        yield whole(SOURCE, f"{character}/{chat}", lambda report, group=group: _conversation(group, report))  # type: ignore[misc]


def _header(values: Values) -> dict[str, Any]:
    first = next((parsed.value for parsed in values() if isinstance(parsed.value, dict)), {})
    return {} if _is_message(first) else first


def _chat_name(file: str) -> str:
    match = _NAME.fullmatch(file)
    return match[1] if match else file


def _top(
    at: int, chats: list[tuple[str, str]], headers: list[dict[str, Any]], mains: dict[tuple[str, str], int]
) -> tuple[str, str]:
    """The character and name of the chat that a file's branches lead up to."""
    seen = {at}
    while (above := text(mapping(headers[at].get("chat_metadata")).get("main_chat"))) is not None:
        main = mains.get((chats[at][0], _chat_name(above)))
        if main is None:
            return chats[at][0], _chat_name(above)
        if main in seen:
            break
        seen.add(main)
        at = main
    return chats[at]


def _conversation(group: list[tuple[Values, str, dict[str, Any]]], report: Report) -> ImportedConversation:
    gathered = Gathered(report)
    ends = [_read_file(values, gathered, report) for values, _, _ in group]
    header = group[0][2]
    report.title = name(header.get("character_name"))
    result = ImportedConversation(
        SOURCE,
        report.source_id or "",
        report,
        title=report.title,
        created_at=_moment(header.get("create_date")),
        metadata={"chats": {file: about for _, file, about in group}},
    )
    tree = grow(gathered.messages(), report)
    if not tree.messages:
        report.skipped = "it has no messages"
        return result
    end = None if ends[0] is None else gathered.ends[ends[0]]
    return tell(result, tree, pointed(tree, end, "the last line", report))


def _read_file(values: Values, gathered: Gathered, report: Report) -> str | None:
    """Gather the messages of one file; the key of the last one."""
    above: str | None = None
    for number, record in sound(values(), report):
        if not _is_message(record):
            if not recognises(record):
                report.note("unknown_content", f"record {number} is neither a header nor a message; left out")
            continue
        chosen, variants = _variants(above, record)
        for key, variant in variants.items():
            if key not in gathered.ends:
                gathered.add(_read(key, variant, report), above)
        above = chosen
    return above


def _is_message(record: dict[str, Any]) -> bool:
    return "mes" in record and ("is_user" in record or "name" in record)


def _variants(above: str | None, record: dict[str, Any]) -> tuple[str, dict[str, dict[str, Any]]]:
    """The key of the text that stands at one place of a chat, and all that ever stood there, by key, as messages."""
    swipes = [_flat(swipe) for swipe in array(record.get("swipes"))]
    now = _flat(record.get("mes"))
    at = record.get("swipe_id")
    if not isinstance(at, int) or not 0 <= at < len(swipes):
        at = swipes.index(now) if now in swipes else len(swipes)
    own = {field: value for field, value in record.items() if field not in _SAID} | {"mes": now}
    if at < len(swipes) and swipes[at] != now:
        own["swipe"] = swipes[at]
    about = {field: record[field] for field in ("name", "is_user", "is_system") if field in record}
    infos = [mapping(info) for info in array(record.get("swipe_info"))[: len(swipes)]]
    infos += [{}] * (len(swipes) - len(infos))
    variants = [about | info | {"mes": swipe} for swipe, info in zip(swipes, infos, strict=True)]
    variants[at : at + 1] = [own]
    keyed: dict[str, dict[str, Any]] = {}
    chosen = ""
    for place, variant in enumerate(variants):
        said = [bool(record.get("is_user")), record.get("name"), variant["mes"]]
        key, number = chain_key(above, said), 1
        while key in keyed:
            number += 1
            key = chain_key(above, [*said, number])
        keyed[key] = variant
        chosen = key if place == at else chosen
    return chosen, keyed


def _flat(said: Any) -> Any:
    """A text; some sites export an object that holds it."""
    return mapping(said).get("message", said)


def _read(key: str, record: dict[str, Any], report: Report) -> list[Message]:
    pieces = Pieces(key)
    extra = mapping(record.get("extra"))
    said = record.get("mes")
    asked = record.get("is_user") is True
    noted = record.get("is_system") is True and extra.get("type") is not None
    invoked = [mapping(each) for each in array(extra.get("tool_invocations"))]
    if not isinstance(said, str):
        report.note("unknown_content", f"a message by {record.get('name')!r} has no text; kept raw")
        side = Side.SENT if asked else Side.RETURNED
        pieces.add(side, [{"type": "raw", "format": SOURCE, "data": record}])
    elif invoked:
        _tools(pieces, invoked)
    elif noted or asked:
        role = "system" if noted else "user"
        pieces.add(Side.SENT, [{"type": "message", "role": role, "content": _content(said, extra)}]).question = asked
    else:
        if thought := text(extra.get("reasoning")):
            pieces.add(Side.RETURNED, [{"type": "reasoning", "text": thought}])
        pieces.add(Side.RETURNED, [{"type": "message", "role": "assistant", "content": _content(said, extra)}])
    for piece in pieces.messages:
        piece.created_at = _moment(record.get("gen_started")) or _moment(record.get("send_date"))
        piece.finished_at = _moment(record.get("gen_finished"))
        piece.model = None if asked else text(extra.get("model"))
    pieces.messages[0].notes = {field: value for field, value in record.items() if field != "mes"}
    return pieces.messages


def _tools(pieces: Pieces, invoked: list[dict[str, Any]]) -> None:
    calls: Items = []
    results: Items = []
    for number, each in enumerate(invoked):
        call_id = name(each.get("id")) or f"{pieces.key}:{number}"
        given, output = each.get("parameters", ""), each.get("result", "")
        arguments = given if isinstance(given, str) else jsontext.dumps(given)
        tool = name(each.get("name")) or ""
        calls.append({"type": "tool_call", "call_id": call_id, "name": tool, "arguments": arguments})
        said = output if isinstance(output, str) else jsontext.dumps(output)
        results.append({"type": "tool_result", "call_id": call_id, "output": said})
    pieces.add(Side.RETURNED, calls)
    pieces.add(Side.SENT, results)


def _content(said: str, extra: dict[str, Any]) -> Any:
    image = text(extra.get("image"))
    if not image:
        return said
    held = at_url(image) if image.startswith("data:") else {"extra": {SOURCE: {"image": image}}}
    return [{"type": "text", "text": said}, {"type": "image"} | held]


def _moment(value: Any) -> datetime | None:
    """A time as any version wrote it: ISO, epoch, ``June 2, 2026 10:15am`` or ``2026-6-2 @10h 15m 30s``."""
    if (read := moment(value)) is not None or not isinstance(value, str):
        return read
    try:
        if (old := _OLD_DATE.match(value)) is not None:
            year, month, day, hour, minute, second = map(int, old.groups())
            return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
        return datetime.strptime(value.strip(), "%B %d, %Y %I:%M%p").replace(tzinfo=UTC)
    except ValueError:  # some other wording: it is kept in the message's notes
        return None
