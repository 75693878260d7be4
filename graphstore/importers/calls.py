"""From a tree of messages to calls of a model: the one place that knows what one call is.

Along a path, messages that are sent (a user's, a system's, a tool's) gather until the model returns something; a
run of returned messages is what that one call returned; the next sent message begins the next call. The messages
of a path from root to leaf are therefore exactly those of the calls on it, in order.

**Branches.** A call ends where its run of returned messages ends: at a leaf, before a sent message, or where the
source's pointer stands. A run that forks ends at several places, so it becomes several sibling calls with equal
sent items, each with its whole run (the shared beginning stands in each: a model's answer is one call's, and
never starts in the middle). The key of a call is the key of the last message it returned. So a call depends
only on the path above that message: whatever else a longer export adds, calls read before stay the same.
A leaf that was only sent (a question without reply, a tool's result after which nothing came) is a failed call.
So is one that returned nothing but word of a failure, which the source keeps where the reply would be.

**Turns.** A call whose sent messages hold a question begins a turn, and so does a root. Without a question the
first call below another continues its turn as the next round; every further one is a branch inside the turn and
begins a turn of its own, because the nodes of a turn form a line.

**Compactions.** A message that holds the compacted context of the path above it is a call of its own without a parent,
which names the call that this path ends with; what follows it begins another call, and a turn.

**Bounds.** A run of more than ``LONGEST_CALL`` messages is cut into calls of that length, so that forks in a run
of any length cost at most that factor.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from graphstore.importers.messages import Message, Side, Tree
from graphstore.importers.records import ImportedCall, Report, no_reply_key

LONGEST_CALL = 256
"""Messages in one call; longer runs of one side are cut here, wherever they fork."""

NO_REPLY = "no_reply"
ERROR = "error"


@dataclass(slots=True)
class _State:
    """The call that is open after a message: the call above it, its messages so far, whether it has returned.

    ``last`` is the last message that holds something (-1: none), ``length`` how many of them are this call's.
    """

    above: str | None
    last: int
    length: int
    returned: bool


_START = _State(None, -1, 0, False)


@dataclass(slots=True)
class Calls:
    """Calls in order, and for each message that ends one, that call's key."""

    calls: list[ImportedCall]
    ending_at: dict[int, str]


def build(tree: Tree, pointer: int | None, report: Report, provider: str | None, model: str | None) -> Calls:
    """The calls of ``tree``, parents first, siblings in order; a call ends at ``pointer`` in any case.

    ``model`` is assumed where a call's own messages name none.
    """
    builder = _Builder(tree, provider, model)
    for at in tree.walk():
        builder.visit(at, at == pointer)
    _count(tree, builder.calls, report)
    return Calls(builder.calls, builder.ending_at)


def cursor_of(tree: Tree, built: Calls, pointer: int | None) -> str | None:
    """The key of the call that ends at ``pointer``, or at its nearest ancestor that ends one."""
    at = -1 if pointer is None else pointer
    while at >= 0 and at not in built.ending_at:
        at = tree.parent[at]
    return built.ending_at[at] if at >= 0 else None


class _Builder:
    def __init__(self, tree: Tree, provider: str | None, model: str | None) -> None:
        self._tree = tree
        self._provider = provider
        self._model = model
        self._states: list[_State] = [_START] * len(tree.messages)
        self._previous = [-1] * len(tree.messages)  # the message before that holds something
        self._turns: dict[str, tuple[str, int]] = {}
        self._continued: set[str] = set()
        self._compacted: dict[int, str] = {}  # for a compaction, the call that its original path ends with
        self.calls: list[ImportedCall] = []
        self.ending_at: dict[int, str] = {}

    def visit(self, at: int, pointed: bool) -> None:
        message = self._tree.messages[at]
        above = self._tree.parent[at]
        state = self._states[above] if above >= 0 else _START
        if message.side is not Side.NONE:
            returned = message.side is Side.RETURNED
            if message.compacts is not None and state.last >= 0:
                ended = self._end(state) if state.length else state.above
                if ended is not None:
                    self._compacted[at] = ended
                state = _State(None, -1, 0, False)
            elif (state.returned and not returned) or state.length >= LONGEST_CALL or self._closed(state):
                state = _State(self._end(state), state.last, 0, False)
            self._previous[at] = state.last
            state = _State(state.above, at, state.length + 1, returned)
        self._states[at] = state
        if state.length and (pointed or self._ends(at, state)):
            self._end(state)

    def _closed(self, state: _State) -> bool:
        """Whether the open call is known to have returned all it did."""
        last = self._tree.messages[state.last] if state.length else None
        return last is not None and (last.whole or last.compacts is not None)

    def _ends(self, at: int, state: _State) -> bool:
        children = self._tree.children[at]
        if not children:
            return True
        return state.returned and any(self._tree.messages[child].side is Side.SENT for child in children)

    def _end(self, state: _State) -> str | None:
        """Make the call that ends at ``state.last`` (once); the key of the call that a later one hangs under."""
        at = state.last
        if at in self.ending_at:
            return self.ending_at[at]
        run = self._run(at, state.length)
        sent = [message for message in run if message.side is Side.SENT]
        returned = [message for message in run if message.side is Side.RETURNED]
        if not returned and not any(message.items for message in sent):
            if state.above is not None:
                self.ending_at[at] = state.above
            return state.above
        call = self._call(state.above, sent, returned)
        if (original := self._compacted.get(at)) is not None:
            call.compacts_key = original
            call.readers = run[-1].compacts or []
            self._continued.add(call.key)
        self.calls.append(call)
        self.ending_at[at] = call.key
        self._turns[call.key] = call.turn_key, call.round
        return call.key

    def _run(self, at: int, length: int) -> list[Message]:
        run = []
        for _ in range(length):
            run.append(self._tree.messages[at])
            at = self._previous[at]
        return run[::-1]

    def _call(self, above: str | None, sent: list[Message], returned: list[Message]) -> ImportedCall:
        last = (returned or sent)[-1]
        key = last.key if returned else no_reply_key(last.key)
        turn_key, round_number = self._turn(key, above, any(message.question for message in sent))
        call = ImportedCall(
            key=key,
            parent_key=above,
            turn_key=turn_key,
            round=round_number,
            sent=[item for message in sent for item in message.items],
            returned=[item for message in returned for item in message.items],
            provider=self._provider,
            model=next((message.model for message in returned if message.model), self._model),
            finish_reason=_finish_reason(returned),
            created_at=_first([m.created_at for m in returned] + [m.created_at for m in sent[::-1]]),
            finished_at=_first([m.finished_at or m.created_at for m in returned[::-1]]),
            usage=next((message.usage for message in returned[::-1] if message.usage), None),
            sent_keys=[message.key for message in sent],
            returned_keys=[message.key for message in returned],
            metadata=_metadata(sent, returned),
        )
        if not call.returned:
            call.status = "failed"
            failure = next((message.failure for message in returned[::-1] if message.failure is not None), None)
            call.failure_kind = NO_REPLY if failure is None else ERROR
            call.failure_message = "the source holds no reply to this" if failure is None else failure
        return call

    def _turn(self, key: str, above: str | None, question: bool) -> tuple[str, int]:
        if above is None or question or above in self._continued:
            return key, 0
        self._continued.add(above)
        turn_key, round_number = self._turns[above]
        return turn_key, round_number + 1


def _first(moments: list[Any]) -> Any:
    return next((moment for moment in moments if moment is not None), None)


def _finish_reason(returned: list[Message]) -> str | None:
    if not returned:
        return None
    if returned[-1].finish_reason:
        return returned[-1].finish_reason
    items = returned[-1].items
    return "tool_calls" if items and items[-1].get("type") == "tool_call" else None


def _metadata(sent: list[Message], returned: list[Message]) -> dict[str, Any]:
    noted = {message.key: message.notes for message in (*sent, *returned) if message.notes}
    return {"messages": noted} if noted else {}


def _count(tree: Tree, calls: list[ImportedCall], report: Report) -> None:
    report.counts["messages"] += sum(1 for message in tree.messages if message.side is not Side.NONE)
    report.counts["calls"] += len(calls)
    open_calls: Counter[str] = Counter()
    for at in tree.walk():
        for item in tree.messages[at].items:
            if item.get("type") == "tool_call":
                open_calls[item["call_id"]] += 1
    results = {
        item["call_id"] for message in tree.messages for item in message.items if item.get("type") == "tool_result"
    }
    for call_id in open_calls:
        if call_id not in results:
            report.note("unpaired_call", f"tool call {call_id!r} has no result")
    for call_id in results:
        if call_id not in open_calls:
            report.note("unpaired_result", f"tool result {call_id!r} has no call")
