"""Going on with a turn begun elsewhere: another process, another worker, an earlier request (rules S2, S4, C7).

What a turn remembers is read back from its call and its conversation; only the context is not, until it is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphstore import items, jsontext, queries
from graphstore.errors import ConversationGone, NodeNotFound
from graphstore.models import Status
from graphstore.store import reconstruction
from graphstore.store.calls import Call
from graphstore.store.conversations import check_id
from graphstore.store.settings import settings_of
from graphstore.store.turns import DEFAULT_LEASE_SECONDS, Turn

if TYPE_CHECKING:
    from graphstore.store.session import Session


def resume(session: Session, node_id: str, lease_seconds: float = DEFAULT_LEASE_SECONDS) -> Turn:
    """The turn of a call, with that call as ``turn.current``.

    Raises ``NodeNotFound`` for what is no call of a turn, ``ConversationGone`` for one that is being cleared away.
    """
    check_id(node_id, "node id")
    row = session.row(queries.TURN_STANDING, node_id=node_id)
    if row is None:
        raise NodeNotFound(node_id, f"the turns of workspace {session.workspace!r}")
    if row["epoch"] is None:
        raise ConversationGone(row["conversation_id"])
    options = jsontext.loads(row["options"]) if row["options"] else {}
    turn = Turn(
        session,
        row["conversation_id"],
        owner=row["owner"] if row["mine"] else None,
        exclusive=options.get("exclusive", True),
        lease_seconds=lease_seconds,
        turn_id=row["turn_id"],
        reasoning=options.get("reasoning", {}).get("policy"),
    )
    sent = items.encode(session.payloads([row["sent"]]).restored(row["sent"]).encode(), role="user")
    call = Call(turn, node_id, lambda: reconstruction.by_model(session, node_id).context, sent)
    call.settled = row["status"] != Status.PENDING
    turn.calls.append(call)
    turn.resumed(
        node_id,
        row["round"],
        node_id if row["status"] == Status.SUCCEEDED else row["succeeded_before"],
        row["started_from"],
        row["epoch"],
        row["ended"],
        settings_of(row),
    )
    return turn
