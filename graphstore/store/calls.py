"""One call of a model within a turn: written as pending, settled once (rules S2, F1, F2, F4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphstore import items, queries
from graphstore.context import Context
from graphstore.errors import AlreadySettled, ConversationGone, CursorMoved, InvalidInput, TurnLost
from graphstore.fingerprint import derived_id
from graphstore.items import ItemsInput, ItemText
from graphstore.models import CONTEXT_OVERFLOW, NodeKind, Reason, Usage
from graphstore.store import writing

if TYPE_CHECKING:
    from graphstore.store.turns import Turn


class Call:
    """One call of a model, written as pending. Settle it once: ``succeed`` or ``fail``."""

    def __init__(self, turn: Turn, id: str, context: Context | Callable[[], Context], sent: ItemText) -> None:
        self.turn = turn
        self.id = id
        self.sent = sent
        self.settled = False
        self._context = context

    @property
    def context(self) -> Context:
        """What to send to the model. Of a call begun elsewhere it is read when it is asked for."""
        if callable(self._context):
            self._context = self._context()
        return self._context

    @property
    def base(self) -> Context | None:
        """The context, if it is here without a read."""
        return None if callable(self._context) else self._context

    def succeed(
        self,
        returned: ItemsInput,
        *,
        usage: Usage | dict[str, Any] | None = None,
        finish_reason: str | None = None,
        response_id: str | None = None,
        model: str | None = None,
        end_turn: bool = False,
    ) -> None:
        """Store what the model returned; with ``end_turn`` the turn ends in the same transaction.

        The very same completion again is accepted and changes nothing. ``finish_reason="cancelled"`` says the user
        stopped it. ``model`` names the model that really answered, if the provider says so.
        Raises ``AlreadySettled`` for another completion, ``TurnLost`` after storing when the turn was taken over,
        ``CursorMoved`` when ``end_turn`` lost a race (the branch is kept), ``ConversationGone``.
        """
        encoded = items.encode(returned, role="assistant")
        result = writing.succeeded_properties(self.sent, encoded, usage, finish_reason, response_id, model)
        self._settle(result, encoded, end=bool(end_turn), target_id=self.id, moves=bool(end_turn), reason=Reason.TURN)

    def fail(
        self,
        kind: str,
        message: str = "",
        *,
        usage: Usage | dict[str, Any] | None = None,
        response_id: str | None = None,
    ) -> None:
        """Store that the call failed; the turn ends, and the cursor moves to this call.

        Its sent items stay in the next turn's context. With ``kind="context_overflow"`` the cursor goes to the turn's
        last succeeded call instead, or stays. Raises as ``succeed``.
        """
        if not kind:
            raise InvalidInput("a failure needs a kind, such as 'rate_limit', 'timeout' or 'context_overflow'")
        target = self.turn.last_succeeded_id if kind == CONTEXT_OVERFLOW else self.id
        result = writing.failed_properties(kind, message, usage, response_id)
        self._settle(result, None, end=True, target_id=target, moves=target is not None, reason=Reason.FAILURE)

    def save_partial(self, received: ItemsInput) -> None:
        """Keep what a streaming call has received so far, in place of what was kept before; renews the turn.

        A crash keeps it on the node (``node.partial``), where screens show it as unfinished. It is never assembled:
        only ``succeed`` makes returned items, and lets it go. Raises ``AlreadySettled`` once the call is over,
        ``TurnLost``, ``ConversationGone``.
        """
        turn = self.turn
        row = turn.session.row(
            queries.SAVE_PARTIAL,
            conversation_id=turn.conversation_id,
            node_id=self.id,
            partial=items.encode(received, role="assistant").text,
            turn_id=turn.id,
            exclusive=turn.exclusive,
            lease_ms=turn.lease_ms,
            epoch=turn.epoch,
        )
        if row is None or row["outcome"] == "gone":
            turn.ended = True
            raise ConversationGone(turn.conversation_id)
        if row["outcome"] == "settled":
            raise AlreadySettled(self.id, row["status"])
        if row["outcome"] == "turn_lost":
            turn.ended = True
            raise TurnLost(turn.conversation_id, turn.id)

    def _settle(
        self,
        result: dict[str, Any],
        returned: ItemText | None,
        *,
        end: bool,
        target_id: str | None,
        moves: bool,
        reason: Reason,
    ) -> None:
        turn = self.turn
        if turn.kind is NodeKind.CONVERSION:
            end = moves = False  # a side job goes on after a failure, and moves no cursor
        result, blobs = writing.lightened(turn.session, result)
        row = turn.session.row(
            queries.SETTLE_CALL,
            conversation_id=turn.conversation_id,
            node_id=self.id,
            result=result,
            blobs=blobs,
            exact=returned is not None and returned.exact,
            turn_id=turn.id,
            exclusive=turn.exclusive,
            lease_ms=turn.lease_ms,
            epoch=turn.epoch,
            end=end,
            moves=moves,
            target_id=target_id,
            expected=turn.started_from,
            move_id=derived_id("settle", self.id),
            reason=reason.value,
            actor=turn.session.actor,
        )
        if row is None or row["outcome"] == "gone":
            turn.ended = True
            raise ConversationGone(turn.conversation_id)
        if row["outcome"] == "conflict":
            raise AlreadySettled(self.id, row["status"])
        if not self.settled:
            self.settled = True
            turn.continue_from(self, returned, row)
        if row["lost"] or (moves and row["moved"] is None):
            turn.ended = True
            raise TurnLost(turn.conversation_id, turn.id)
        if end:
            turn.ended = True
            if row["moved"] is False:
                raise CursorMoved(turn.conversation_id, turn.started_from, row["cursor"], target_id)
