"""Turns: the rounds from one question to its answer, each a call written before it is made (S2 to S4, C5 to C7, F).

A turn is taken with its first call, by the same transaction that writes that call. Its calls renew the lease. What it
has written it never reads back: each call's context extends the one before in memory.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from types import TracebackType
from typing import Any, ClassVar, Unpack

from graphstore import items, queries
from graphstore.context import Context, Settings
from graphstore.errors import (
    CallInProgress,
    ConversationGone,
    ConversationNotFound,
    CursorMoved,
    GraphStoreError,
    InvalidInput,
    TurnLost,
)
from graphstore.fingerprint import derived_id, new_id
from graphstore.items import ItemsInput, ItemText
from graphstore.models import NodeKind, Reason
from graphstore.reasoning import Policy, checked
from graphstore.segments import Segment, extended
from graphstore.store import checking, compaction, lost_turns, writing
from graphstore.store.assembly import assemble, readers_of, under_policy, with_new_items
from graphstore.store.calls import Call
from graphstore.store.conversations import check_id
from graphstore.store.held import Readers
from graphstore.store.refusals import refuse
from graphstore.store.session import Session
from graphstore.store.settings import CallOptions, in_force, limits_of, policy_of, recorded_options
from graphstore.store.spots import Spot
from graphstore.store.windowing import windowed

DEFAULT_LEASE_SECONDS = 300.0


class Turn:
    """A turn of a conversation; use it as a context manager.

    Leaving it ends the turn: the cursor moves to its last node. Leaving it by an exception fails the pending call
    first (its sent items stay in the context of the next turn).
    """

    kind: ClassVar[NodeKind] = NodeKind.TURN

    def __init__(
        self,
        session: Session,
        conversation_id: str,
        *,
        owner: str | None,
        exclusive: bool,
        lease_seconds: float,
        turn_id: str | None = None,
        reasoning: str | None = None,
    ) -> None:
        self.session = session
        self.conversation_id = conversation_id
        self.id = turn_id or new_id()
        self.owner = checking.text(owner, "an owner")
        self.exclusive = exclusive
        self.lease_ms = max(round(checking.lease(lease_seconds) * 1000), 1)
        self.calls: list[Call] = []
        self.ended = False
        self.last_id: str | None = None
        self.last_succeeded_id: str | None = None
        self._rounds = 0
        # Kept until its write is acknowledged: a call that is tried again after a lost answer finds itself.
        self._next_id = new_id()
        self.started_from: str | None = None
        self.epoch = 0
        self._segment: Segment | None = None
        self._settings = Settings()
        self._readers: Readers = ()
        self._policy: Policy | None = None if reasoning is None else checked(reasoning)

    @property
    def current(self) -> Call:
        """The turn's last call (an edit or a regenerate has begun one already)."""
        if not self.calls:
            raise InvalidInput(f"turn {self.id!r} has no call yet; begin one with turn.call(...)")
        return self.calls[-1]

    def call(self, sent: ItemsInput = (), **options: Unpack[CallOptions]) -> Call:
        """Write a pending call with what it newly sends; ``call.context`` is then what to send to the model.

        Options: see ``CallOptions``. Raises ``TurnInProgress``, ``TurnLost``, ``CallInProgress``,
        ``ConversationGone``, ``IdConflict``, ``InvalidItems``, ``ReasoningMismatch``.
        """
        encoded = items.encode(sent, role="user")
        if self.calls and not self.calls[-1].settled:
            raise CallInProgress(self.id, self.calls[-1].id)
        if self.ended:
            raise InvalidInput(f"turn {self.id!r} has ended; start a new one")
        readers = readers_of(options.get("provider"), options.get("model"))
        while True:
            base = self._first_base(readers) if self._rounds == 0 else self._base(readers)
            call = self._begin(base, encoded, readers, options)
            if call is not None:
                return call

    def begin_at(self, spot: Spot, reason: Reason, sent: ItemText, inherited: Settings, options: CallOptions) -> Call:
        """Move the cursor to where ``spot``'s turn hangs, take the turn and write its first call, all at once.

        What edit and regenerate stand on. Raises as ``call`` does, and ``CursorMoved``.
        """
        readers = readers_of(options.get("provider"), options.get("model"))
        base = Context(None, items.NO_ITEMS)
        if spot.parent_id is not None:
            base = assemble(self.session, None, spot.parent_id, readers)
        base = replace(
            base,
            settings=inherited,
            conversation_id=self.conversation_id,
            cursor=spot.cursor,
            epoch=spot.epoch,
        )
        move = {"id": new_id(), "reason": reason.value, "actor": self.session.actor}
        call = self._begin(base, sent, readers, options, move)
        assert call is not None
        return call

    def _first_base(self, readers: Readers) -> Context:
        """What the first round stands on: the conversation as it is now."""
        return assemble(self.session, self.conversation_id, None, readers)

    def _base(self, readers: Readers) -> Context:
        """What a later round stands on: the turn's own last segment, no read (unless another reader asks)."""
        segment = self._segment
        if readers != self._readers:
            segment = assemble(self.session, None, self.last_id, readers).segment
        return Context(
            segment,
            items.NO_ITEMS,
            self._settings,
            self.conversation_id,
            self.started_from,
            epoch=self.epoch,
            readers=readers,
            held=0 if segment is None else segment.depth,
        )

    def _begin(
        self,
        base: Context,
        sent: ItemText,
        readers: Readers,
        options: CallOptions,
        move: dict[str, Any] | None = None,
    ) -> Call | None:
        """Write the pending node; ``None`` when the first call must look at the conversation again."""
        settings = in_force(base.settings, options)
        context = with_new_items(self.session, replace(base, settings=settings.shown), sent)
        first = self._rounds == 0
        limits = limits_of(options)
        context = windowed(self.session, context, limits, running=not first)
        policy = policy_of(options, self._policy)
        context = under_policy(self.session, context, options.get("provider"), options.get("model"), policy)
        recorded = recorded_options(readers, options, limits, context.window, policy)
        if not self.exclusive and self.kind is NodeKind.TURN:
            recorded["exclusive"] = False  # for whoever goes on with the turn in another process
        epoch = base.epoch or 0
        parent_id = base.node_id
        call_id = options.get("id") or self._next_id
        check_id(call_id, "node id")
        node = writing.sent_properties(
            workspace=self.session.workspace,
            conversation_id=self.conversation_id,
            node_id=call_id,
            kind=self.kind,
            turn_id=self.id,
            round=self._rounds,
            is_root=parent_id is None,
            sent=sent,
            settings=settings.properties,
            context_hash=context.hash,
            provider=options.get("provider"),
            model=options.get("model"),
            options=recorded or None,
            metadata=options.get("metadata"),
        )
        node, blobs = writing.lightened(self.session, node)
        row = self.session.row(
            queries.APPEND_CALL,
            conversation_id=self.conversation_id,
            node=node,
            blobs=blobs,
            node_id=call_id,
            parent_id=parent_id,
            expected=base.cursor,
            epoch=epoch,
            exact=sent.exact,
            turn_id=self.id,
            owner=self.owner,
            lease_ms=self.lease_ms,
            exclusive=self.exclusive,
            first=first,
            move=move,
            settings=settings.unstored(self.session),
        )
        if row is None:
            raise ConversationNotFound(self.conversation_id, self.session.workspace)
        outcome = row["outcome"]
        if outcome == "turn_expired":
            lost_turns.settle(self.session, self.conversation_id, row["turn_id"])
        if outcome in {"turn_expired", "moved", "gone"} and first and move is None:
            return None  # it changed between our read and our write, and nobody relied on that read yet
        if outcome == "turn_expired":
            raise CursorMoved(self.conversation_id, base.cursor, self._cursor_now(), None)
        if outcome not in {"ok", "repeated"}:
            refuse(
                row,
                conversation_id=self.conversation_id,
                node_id=call_id,
                target_id=parent_id,
                expected=base.cursor,
                turn_id=self.id,
            )
        self.session.stored_settings.update(settings.texts)
        if first:
            self.started_from = base.cursor if move is None else parent_id
            self.epoch = epoch
        self._rounds += 1
        self._next_id = new_id()
        self.last_id = call_id
        self._readers = readers
        self._settings = settings.shown
        self._policy = policy
        call = Call(self, call_id, context, sent)
        self.calls.append(call)
        return call

    def _cursor_now(self) -> str | None:
        row = self.session.row(queries.CONVERSATION, conversation_id=self.conversation_id)
        return None if row is None else row["cursor"]

    def compact(
        self, returned: ItemsInput, *, sent: ItemsInput = (), readers: tuple[str, ...] = ("*",), **recorded: Any
    ) -> str:
        """Compact between two rounds: the next call hangs under the compaction. Returns the compaction's id.

        Keyword arguments as of ``GraphStore.compact``. The cursor still moves only at the turn's end.
        """
        if self.last_id is None or not self.current.settled:
            raise InvalidInput(f"turn {self.id!r} can compact only between two of its calls")
        node_id = compaction.write(
            self.session,
            self.conversation_id,
            original_id=self.last_id,
            epoch=self.epoch,
            returned=returned,
            sent=sent,
            readers=readers,
            turn_id=self.id,
            exclusive=self.exclusive,
            lease_ms=self.lease_ms,
            **recorded,
        )
        self.last_id = self.last_succeeded_id = node_id
        # The next round's context begins at the compaction, or unfolds it, by who reads: it is read then.
        self._segment, self._readers = None, ()
        return node_id

    def end(self) -> None:
        """End the turn: move the cursor to its last node. Ending it twice changes nothing.

        Raises ``CursorMoved`` (the turn's nodes are kept as an unseen branch), ``TurnLost``, ``ConversationGone``.
        """
        if self.ended or self.last_id is None:
            return
        row = self.session.row(
            queries.MOVE_CURSOR,
            conversation_id=self.conversation_id,
            target_id=self.last_id,
            expected=self.started_from,
            epoch=self.epoch,
            move_id=derived_id("end", self.id),
            reason=Reason.TURN.value,
            actor=self.session.actor,
            turn_id=self.id,
            exclusive=self.exclusive,
        )
        self.ended = True
        if row is None:
            raise ConversationGone(self.conversation_id)
        if row["outcome"] not in {"ok", "unchanged", "repeated"}:
            refuse(
                row,
                conversation_id=self.conversation_id,
                node_id=self.last_id,
                target_id=self.last_id,
                expected=self.started_from,
                turn_id=self.id,
                kept=self.last_id,
            )

    def renew(self, lease_seconds: float | None = None) -> datetime | None:
        """Hold the conversation for so many seconds from now (default: the turn's own); returns until when.

        ``None`` for a turn that holds nothing. Raises ``TurnLost``, ``ConversationGone``.
        """
        if not self.exclusive:
            return None
        if lease_seconds is not None:
            self.lease_ms = max(round(checking.lease(lease_seconds) * 1000), 1)
        row = self.session.row(
            queries.RENEW_TURN,
            conversation_id=self.conversation_id,
            turn_id=self.id,
            lease_ms=self.lease_ms,
            epoch=self.epoch,
        )
        if row is None or row["outcome"] == "gone":
            self.ended = True
            raise ConversationGone(self.conversation_id)
        if row["outcome"] == "turn_lost":
            self.ended = True
            raise TurnLost(self.conversation_id, self.id)
        until: datetime = row["turn_expires_at"].to_native()
        return until

    def __enter__(self) -> Turn:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        pending = bool(self.calls) and not self.calls[-1].settled
        if error is None:
            if pending and not self.ended:
                self.calls[-1].fail("unfinished", "the turn was left before this call was settled")
            self.end()
            return
        try:
            if pending and not self.ended:
                self.calls[-1].fail("error", f"{type(error).__name__}: {error}")
            else:
                self.end()
        except GraphStoreError as second:
            error.add_note(f"and the turn could not be ended: {second}")

    def resumed(
        self,
        last_id: str,
        round: int,
        succeeded_id: str | None,
        started_from: str | None,
        epoch: int,
        ended: bool,
        settings: Settings,
    ) -> None:
        """Take over what another process knew of this turn; the next round reads the context it stands on."""
        self.last_id, self.last_succeeded_id = last_id, succeeded_id
        self.started_from, self.epoch, self.ended = started_from, epoch, ended
        self._rounds = round + 1
        self._settings = settings
        self._readers = ()

    def continue_from(self, call: Call, returned: ItemText | None, row: dict[str, Any]) -> None:
        """Extend the turn's own context by a call just settled, so that the next one reads nothing."""
        if returned is not None:
            self.last_succeeded_id = call.id
        if call.base is None:  # begun elsewhere: the next round reads what it stands on
            return
        base = call.base.path_end
        sent = call.sent
        own = frozenset({(self.conversation_id, _removals(base, self.conversation_id))})
        calls = [*sent.call_ids, *(returned.call_ids if returned else ())]
        results = [*sent.result_ids, *(returned.result_ids if returned else ())]
        exact = sent.exact or (returned is not None and returned.exact)
        self._segment = extended(
            base, call.id, own, sent.text, None if returned is None else returned.text, calls, results, exact
        )
        if not row["lost"]:
            self.session.held.put(self._readers, self.conversation_id, self._segment)


def _removals(segment: Segment | None, conversation_id: str) -> int:
    if segment is not None:
        for owner, removals in segment.facts.owners:
            if owner == conversation_id:
                return removals
    return 0
