"""OpenAI's Responses: objects as the API gives them, each one call, chained by ``previous_response_id``.

A response doesn't hold its input, so a call sends what stands beside it: ``input`` or ``input_items`` in the same
record (or in its ``request``), oldest first. Without them it sends nothing, and that is counted. Responses with one
predecessor are siblings, also where that predecessor was never stored; the conversation goes by the id at the top of
the chain (or by ``conversation``). Instructions are not inherited, so each call has its own. No active leaf is named:
it is guessed.

Responses may stand in any order and in several files: a first pass reads the links, the second holds only the
conversations that are still open.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from graphstore.errors import InvalidInput
from graphstore.importers.calls import ERROR, NO_REPLY
from graphstore.importers.fields import array, counted, mapping, moment, name, text
from graphstore.importers.lines import READING_ERRORS, Values, whole
from graphstore.importers.messages import Message, Side, Tree, grow
from graphstore.importers.records import ImportedCall, ImportedConversation, Items, Report, no_reply_key
from graphstore.importers.told import pointed
from graphstore.rendering import openai_responses
from graphstore.rendering import tools as tool_shapes

SOURCE = "responses"

_FINISH = {"max_output_tokens": "length", "max_tokens": "length"}
_SAID = ("output", "instructions", "tools", "input", "input_items", "usage", "model", "id", "previous_response_id")


def recognises(record: Any) -> bool:
    """Whether ``record`` is a response, alone or beside its request."""
    response = _response(record)
    marked = response.get("object") == "response" or (text(response.get("id")) or "").startswith("resp_")
    return marked and ("output" in response or "status" in response)


def read_together(files: list[tuple[Values, str]]) -> Iterator[ImportedConversation]:
    """Every chain of responses, each at its last one."""
    above, groups = _links(files)
    tops = _tops(above, groups)
    left: dict[str, int] = {}
    for known in above:
        left[tops[known]] = left.get(tops[known], 0) + 1
    waiting: dict[str, dict[str, dict[str, Any]]] = {}
    for values, file in files:
        for parsed in values():
            key = name(_response(parsed.value).get("id")) if parsed.damage is None else None
            if key is None:
                where = f"{file}[{parsed.number}]"
                what = parsed.damage or f"it is no response but {str(parsed.value)[:80]!r}"
                yield ImportedConversation(SOURCE, where, Report(where, skipped=what))
                continue
            top = tops[key]
            records = waiting.get(top, {})
            if top not in left or key in records:
                again = Report(key, skipped="the response stands there twice; the first is read")
                yield ImportedConversation(SOURCE, key, again)
                continue
            waiting[top] = records
            records[key] = parsed.value
            left[top] -= 1
            if not left[top]:
                del left[top], waiting[top]
                yield whole(SOURCE, top, lambda report, top=top, records=records: _conversation(top, records, report))  # type: ignore[misc]


def _response(record: Any) -> dict[str, Any]:
    """The response of a record: itself, beside its ``request``, or a row of a batch's output."""
    inner = mapping(record).get("response")
    if isinstance(inner, dict):
        body = inner.get("body")
        return body if isinstance(body, dict) else inner
    return mapping(record)


def _links(files: list[tuple[Values, str]]) -> tuple[dict[str, str | None], dict[str, str]]:
    """The predecessor of every response, and the conversation of those that name one."""
    above: dict[str, str | None] = {}
    groups: dict[str, str] = {}
    for values, _ in files:
        for parsed in values():
            response = _response(parsed.value)
            if (key := name(response.get("id"))) is None or key in above:
                continue
            above[key] = name(response.get("previous_response_id"))
            held = response.get("conversation")
            if (group := name(mapping(held).get("id")) or name(held)) is not None:
                groups[key] = group
    return above, groups


def _tops(above: dict[str, str | None], groups: dict[str, str]) -> dict[str, str]:
    """For each response the name of its conversation: the one it names, or the top of its chain."""
    tops: dict[str, str] = {}
    for key in above:
        trail: dict[str, None] = {}
        at = key
        while at not in tops and at not in trail:
            trail[at] = None
            if at in groups:
                tops[at] = groups[at]
                break
            upper = above.get(at)
            if upper is None:
                tops[at] = at
                break
            at = upper
        top = tops.get(at) or min(trail)  # a ring has no top
        for passed in trail:
            tops[passed] = top
    return tops


def _conversation(top: str, records: dict[str, dict[str, Any]], report: Report) -> ImportedConversation:
    report.source_id = top
    records = dict(sorted(records.items(), key=lambda each: _created(each[1])))
    messages = []
    before: str | None = None
    for key, record in records.items():
        response = _response(record)
        upper = name(response.get("previous_response_id"))
        if upper is None and response.get("conversation") is not None:
            upper = before  # one line: the API appends each response to its conversation
        messages.append(Message(key, upper, Side.RETURNED, [], created_at=moment(response.get("created_at"))))
        before = key
    tree = grow(messages, report)
    pointer = pointed(tree, None, "", report)
    pointer = tree.newest_leaf() if pointer is None else pointer
    result = ImportedConversation(SOURCE, top, report, cursor_guessed=True)
    moments = [message.created_at for message in messages if message.created_at is not None]
    result.created_at, result.updated_at = min(moments, default=None), max(moments, default=None)
    keys = _calls(tree, records, result, report)
    result.cursor_key = None if pointer is None else keys[pointer]
    report.counts["calls"] += len(result.calls)
    report.counts["messages"] += sum(len(call.sent_keys) + len(call.returned_keys) for call in result.calls)
    return result


def _created(record: dict[str, Any]) -> float:
    created = moment(_response(record).get("created_at"))
    return 0.0 if created is None else created.timestamp()


def _calls(
    tree: Tree, records: dict[str, dict[str, Any]], result: ImportedConversation, report: Report
) -> dict[int, str]:
    """The calls of a conversation, parents first; the key of each by its position in the tree."""
    keys: dict[int, str] = {}
    turns: dict[str, tuple[str, int]] = {}
    continued: set[str] = set()
    for at in tree.walk():
        call = _call(tree.messages[at].key, records[tree.messages[at].key], report)
        parent = tree.parent[at]
        call.parent_key = keys[parent] if parent >= 0 else None
        asked = not call.sent or any(item.get("role") == "user" for item in call.sent)
        if call.parent_key is not None and not asked and call.parent_key not in continued:
            continued.add(call.parent_key)
            turn, number = turns[call.parent_key]
            call.turn_key, call.round = turn, number + 1
        turns[call.key] = call.turn_key, call.round
        keys[at] = call.key
        result.calls.append(call)
    return keys


def _call(key: str, record: dict[str, Any], report: Report) -> ImportedCall:
    response = _response(record)
    request = mapping(record.get("request"))
    sent = _sent(key, record, request, response, report)
    returned = [_item(item, report) for item in array(response.get("output"))]
    call = ImportedCall(
        key=key,
        parent_key=None,
        turn_key=key,
        round=0,
        sent=sent,
        returned=returned,
        provider="openai",
        model=text(response.get("model")),
        system_prompt=_instructions(response.get("instructions", request.get("instructions"))),
        tools=_tools(response.get("tools", request.get("tools")), report),
        usage=_usage(response.get("usage")),
        created_at=moment(response.get("created_at")),
        finished_at=moment(response.get("completed_at")),
        response_id=key,
        returned_keys=[key],
        metadata={"response": {field: value for field, value in response.items() if field not in _SAID}},
    )
    _settle(call, response)
    return call


def _settle(call: ImportedCall, response: dict[str, Any]) -> None:
    status = text(response.get("status")) or "completed"
    error = mapping(response.get("error"))
    reason = text(mapping(response.get("incomplete_details")).get("reason"))
    if status in ("queued", "in_progress"):
        call.key = call.turn_key = no_reply_key(call.key)
        call.status, call.failure_kind = "failed", NO_REPLY
        call.failure_message = f"the response was {status} when it was exported"
        call.returned, call.response_id = [], None
    elif status == "failed" or not call.returned:
        call.status, call.failure_kind = "failed", ERROR
        call.failure_message = text(error.get("message")) or f"the response is {status} and returned nothing"
        call.metadata["returned"] = call.returned
        call.returned = []
    elif status == "cancelled":
        call.finish_reason = "cancelled"
    elif reason is not None:
        call.finish_reason = _FINISH.get(reason, reason)
    else:
        call.finish_reason = "tool_calls" if call.returned[-1]["type"] == "tool_call" else "stop"


def _sent(key: str, record: dict[str, Any], request: dict[str, Any], response: dict[str, Any], report: Report) -> Items:
    for holder in (record, request, response):
        for field in ("input", "input_items"):
            given = holder.get(field)
            given = given.get("data") if isinstance(given, dict) else given
            if isinstance(given, str):
                return [{"type": "message", "role": "user", "content": given}]
            if isinstance(given, list):
                return [_item(item, report) for item in given]
    report.note("input_missing", f"response {key!r} stands there without its input; its call sends nothing")
    return []


def _item(item: Any, report: Report) -> dict[str, Any]:
    try:
        [read] = openai_responses.parse([item]).items
    except READING_ERRORS:
        read = {"type": "raw", "format": SOURCE, "data": item}
    if read["type"] == "raw" and not isinstance(mapping(item).get("type"), str):
        report.note("unknown_content", f"an item {str(item)[:80]!r} is not understood; kept raw")
    return read


def _instructions(given: Any) -> str | None:
    if isinstance(given, str):
        return given or None
    said: list[str] = []
    for message in array(given):
        content = mapping(message).get("content")
        parts = [content] if isinstance(content, str) else [mapping(part).get("text") for part in array(content)]
        said += [part for part in parts if isinstance(part, str)]
    return "\n".join(said) or None


def _tools(given: Any, report: Report) -> Items | None:
    read = []
    for tool in array(given):
        if not isinstance(tool, dict):
            report.note("unknown_content", f"a tool {str(tool)[:80]!r} is no object; left out")
            continue
        try:
            read.append(tool_shapes.from_responses(tool))
        except (InvalidInput, AttributeError, LookupError, TypeError):  # of some other shape: kept as it is
            read.append(tool)
    return read or None


def _usage(given: Any) -> dict[str, Any] | None:
    usage = mapping(given)
    read = {
        "input_tokens": usage.get("input_tokens"),
        "output_tokens": usage.get("output_tokens"),
        "cached_input_tokens": mapping(usage.get("input_tokens_details")).get("cached_tokens"),
        "reasoning_tokens": mapping(usage.get("output_tokens_details")).get("reasoning_tokens"),
    }
    return counted(read)
