"""Every error this package raises, in one tree.

    GraphStoreError
    ├── NotFound
    │   ├── ConversationNotFound
    │   ├── NodeNotFound
    │   ├── EffectNotFound
    │   └── ApiKeyNotFound
    ├── Refused                  the store is in another state than the caller expected
    │   ├── CursorMoved          a compare-and-set on the cursor lost (nothing written is lost)
    │   ├── TurnInProgress       somebody else holds the running turn
    │   ├── TurnLost             this turn's lease ran out and was taken over
    │   ├── CallInProgress       the turn's last call is still pending
    │   ├── RoundTaken           the turn went on from this call already
    │   ├── AlreadySettled       a second, different completion of one call
    │   ├── IdConflict           the same id with other content or another parent
    │   ├── BehindCompaction     an edit of a question that a compaction has folded away
    │   ├── ReasoningMismatch    signed reasoning doesn't fit what comes before it any more
    │   ├── BranchInUse          a cursor or a running turn is on the branch that is to be hidden
    │   ├── RetriesExhausted     no draft of a side job was valid, and it has no attempt left
    │   ├── EffectRefused        an effect can't take this step now: not approved, claimed, off the path …
    │   ├── HeldPartChanged      the part of a context that a client holds doesn't stand any more
    │   ├── NodesShared          other conversations stand on what was to be deleted
    │   ├── WorkspaceNotEmpty    an archive is restored into an empty workspace only
    │   ├── RestoreInProgress    a restore into this workspace has not finished
    │   ├── ExportDisturbed      what an archive needs was removed while it was written
    │   └── ConversationGone     cleared or deleted while this turn ran
    ├── PathBroken               the path of a node can't be given whole
    │   └── CompactionUnreadable nothing above an unreadable compaction can be read
    ├── InvalidInput             what the caller passed can't be stored or read
    │   └── InvalidItems
    ├── SourceUnreadable         an import's file as a whole can't be read
    │   └── ArchiveUnreadable    an archive is cut, damaged, or of a newer program
    ├── ServerError              the database server
    │   ├── ServerUnavailable
    │   ├── LocalServerError     the embedded server can't be started or stopped
    │   └── SchemaError          the database's schema and this program don't fit
    └── QueryError               a query file and its call disagree (a defect of this package)

Messages name the thing, say what is true, and say what to do next.
"""

from __future__ import annotations

from datetime import datetime


class GraphStoreError(Exception):
    """Base of every error of this package."""


class NotFound(GraphStoreError):
    """Something named by id is not in this workspace."""


class ConversationNotFound(NotFound):
    """No such conversation in this workspace."""

    def __init__(self, conversation_id: str, workspace: str) -> None:
        self.conversation_id = conversation_id
        self.workspace = workspace
        super().__init__(
            f"there is no conversation {conversation_id!r} in workspace {workspace!r}; "
            "list the conversations to see which ids exist"
        )


class NodeNotFound(NotFound):
    """No such node in this workspace (or not in the conversation that was named)."""

    def __init__(self, node_id: str, where: str) -> None:
        self.node_id = node_id
        super().__init__(f"there is no node {node_id!r} in {where}; look at the conversation's tree for its ids")


class ApiKeyNotFound(NotFound):
    """There is no such key in this workspace."""

    def __init__(self, key_id: str, workspace: str) -> None:
        self.key_id = key_id
        super().__init__(f"workspace {workspace!r} has no key {key_id!r}; graphstore keys list shows them")


class EffectNotFound(NotFound):
    """No such effect in this workspace."""

    def __init__(self, effect_id: str, workspace: str) -> None:
        self.effect_id = effect_id
        super().__init__(
            f"there is no effect {effect_id!r} in workspace {workspace!r}; list the effects of its conversation"
        )


class Refused(GraphStoreError):
    """The store is in another state than the caller expected; nothing already written is lost."""


class CursorMoved(Refused):
    """The cursor was not where the caller expected it.

    ``cursor`` is where it is now, ``kept`` names the end of the branch that was written but not made current
    (``None`` when the refused move named no new nodes); ``unseen_branches`` lists it until it is looked at.
    """

    def __init__(self, conversation_id: str, expected: str | None, cursor: str | None, kept: str | None) -> None:
        self.conversation_id = conversation_id
        self.expected = expected
        self.cursor = cursor
        self.kept = kept
        message = (
            f"the cursor of conversation {conversation_id!r} is at {cursor!r}, not at {expected!r} as expected: "
            "somebody else moved it; "
        )
        message += (
            f"the nodes up to {kept!r} are kept as an unseen branch: switch to it or dismiss it"
            if kept is not None
            else "read the conversation again and repeat the move"
        )
        super().__init__(message)


class TurnInProgress(Refused):
    """Another turn holds the conversation; says who and until when."""

    def __init__(self, conversation_id: str, turn_id: str, owner: str | None, expires_at: datetime) -> None:
        self.conversation_id = conversation_id
        self.turn_id = turn_id
        self.owner = owner
        self.expires_at = expires_at
        super().__init__(
            f"turn {turn_id!r} of {owner or 'an unnamed owner'} is running in conversation {conversation_id!r} "
            f"and holds it until {expires_at.isoformat()} unless it renews; wait for its end and try again"
        )


class TurnLost(Refused):
    """This turn's lease ran out and the conversation was taken over; its nodes remain as a branch."""

    def __init__(self, conversation_id: str, turn_id: str) -> None:
        self.conversation_id = conversation_id
        self.turn_id = turn_id
        super().__init__(
            f"turn {turn_id!r} no longer holds conversation {conversation_id!r}: its lease ran out and it was taken "
            "over; what it stored is kept, but it can't go on or move the cursor: start a new turn"
        )


class CallInProgress(Refused):
    """The turn's last call is still pending; the nodes of a turn form a line."""

    def __init__(self, turn_id: str, node_id: str) -> None:
        self.turn_id = turn_id
        self.node_id = node_id
        super().__init__(
            f"call {node_id!r} of turn {turn_id!r} is still pending; let it succeed or fail before the next call"
        )


class RoundTaken(Refused):
    """Another call follows already where this one was to follow; the nodes of a turn form a line."""

    def __init__(self, turn_id: str, node_id: str, last_id: str) -> None:
        self.turn_id = turn_id
        self.node_id = node_id
        self.last_id = last_id
        super().__init__(
            f"turn {turn_id!r} went on from call {node_id!r} already; its last call is {last_id!r}: go on from that one"
        )


class AlreadySettled(Refused):
    """A second completion of one call that differs from the first."""

    def __init__(self, node_id: str, status: str) -> None:
        self.node_id = node_id
        self.status = status
        super().__init__(
            f"call {node_id!r} is already {status} with another result, and a call is settled once; "
            "read it back to see what was stored"
        )


class IdConflict(Refused):
    """The same id was used before, with other content or another parent."""

    def __init__(self, what: str, id: str) -> None:
        self.id = id
        super().__init__(
            f"{what} {id!r} exists already with other content or in another place; "
            "repeat the very same write, or choose another id"
        )


class BehindCompaction(Refused):
    """The question lies behind a compaction, whose summary the model has seen instead."""

    def __init__(self, node_id: str, compaction_id: str) -> None:
        self.node_id = node_id
        self.compaction_id = compaction_id
        super().__init__(
            f"node {node_id!r} lies behind compaction {compaction_id!r}: it can be read but not edited or regenerated; "
            "fork the conversation at that node, or branch there with unfold=True, to continue from the original"
        )


class BranchInUse(Refused):
    """A branch can't be hidden while a cursor or a running turn is on it; names the conversations."""

    def __init__(self, node_id: str, cursors: tuple[str, ...], turns: tuple[str, ...]) -> None:
        self.node_id = node_id
        self.cursors = cursors
        self.turns = turns
        what = "a turn is running" if turns else "the cursor stands"
        whose = ", ".join(repr(id) for id in (turns or cursors)[:5])
        super().__init__(
            f"the branch at node {node_id!r} is in use: {what} on it in conversation {whose}; "
            + ("wait for the turn's end and try again" if turns else "switch to another branch first")
        )


class RetriesExhausted(Refused):
    """A side job has made all the attempts it may. ``errors`` are those of its last draft, as far as they are known."""

    def __init__(self, conversation_id: str, node_id: str, attempts: int, errors: tuple[str, ...]) -> None:
        self.conversation_id = conversation_id
        self.node_id = node_id
        self.attempts = attempts
        self.errors = errors
        wrong = f" ({'; '.join(errors[:3])})" if errors else ""
        super().__init__(
            f"the side job on conversation {conversation_id!r} has made its {attempts} attempts, the last at node "
            f"{node_id!r}{wrong}; its drafts are kept: read them, or start another job with more retries"
        )


class EffectRefused(Refused):
    """An effect can't take this step now.

    ``reason`` is ``not_approved``, ``off_path``, ``claimed``, ``unclaimed``, ``state`` (it has come too far, or not far
    enough) or ``finished`` (it took that very step with another record); ``status`` is how far it has come.
    """

    def __init__(self, effect_id: str, name: str, reason: str, status: str, worker: str | None) -> None:
        self.effect_id = effect_id
        self.reason = reason
        self.status = status
        self.worker = worker
        what = {
            "not_approved": f"can't be undone and is {status}, not approved; have it approved first",
            "off_path": "can't be undone, and the node that proposed it is not on its conversation's path any more; "
            "switch back to that branch, or leave it undone",
            "claimed": f"is claimed by {worker or 'another worker'!r} already; leave it to that one",
            "unclaimed": "was not claimed; claim it before carrying it out",
            "finished": f"is {status} already with another record, and each step is taken once; read it back",
            "state": f"is {status} and can't take this step from there; read it back to see what was done",
        }
        super().__init__(f"effect {effect_id!r} ({name}) {what[reason]}")


class HeldPartChanged(Refused):
    """The part of a context that a client holds doesn't stand any more: all of it has to be read again.

    ``reason`` is ``off_path`` (its last node is no longer on the path), ``removed`` (data was deleted or erased from a
    conversation that owns part of it), ``completed`` (a call on it was completed late) or ``answered`` (a tool call
    that was left out of it has got its result since).
    """

    def __init__(self, node_id: str, reason: str) -> None:
        self.node_id = node_id
        self.reason = reason
        why = {
            "off_path": "that node is not on the context's path any more",
            "removed": "data was deleted or erased from a conversation that owns part of it",
            "completed": "a call on it was completed since",
            "answered": "a tool call that was left out of it has a result now",
        }
        super().__init__(
            f"the context held up to node {node_id!r} doesn't stand any more: {why[reason]}; "
            "read it all: store.context(…)"
        )


class NodesShared(Refused):
    """A conversation was to be deleted only if no other one stands on its nodes, and others do."""

    def __init__(self, conversation_id: str, needed_by: tuple[str, ...]) -> None:
        self.conversation_id = conversation_id
        self.needed_by = needed_by
        super().__init__(
            f"conversation {conversation_id!r} is kept, as other conversations stand on its nodes: "
            f"{', '.join(repr(id) for id in needed_by[:5])}; delete those first, or hand the nodes over "
            '(on_shared="keep") or blank them (on_shared="erase")'
        )


class ConversationChanged(Refused):
    """A conversation was to be deleted only if nobody had changed it since it was looked at, and somebody has."""

    def __init__(self, conversation_id: str) -> None:
        self.conversation_id = conversation_id
        super().__init__(f"conversation {conversation_id!r} is kept, as it was changed meanwhile; look at it again")


class WorkspaceNotEmpty(Refused):
    """An archive was to be restored into a workspace that holds something. ``counts``: how many of each kind."""

    def __init__(self, workspace: str, counts: dict[str, int]) -> None:
        self.workspace = workspace
        self.counts = counts
        there = ", ".join(f"{count:,} {kind}" for kind, count in counts.items())
        super().__init__(
            f"workspace {workspace!r} is not empty, it holds {there}; nothing was written: "
            "restore into a workspace of another name"
        )


class RestoreInProgress(Refused):
    """A restore into this workspace has not finished. ``sha256`` tells of which archive."""

    def __init__(self, workspace: str, sha256: str) -> None:
        self.workspace = workspace
        self.sha256 = sha256
        super().__init__(
            f"workspace {workspace!r} is being restored from the archive with SHA-256 {sha256}, or was when that was "
            "interrupted; restore the same file again to finish it"
        )


class ExportDisturbed(Refused):
    """Something that an archive needs was removed, or came, while it was being written. No file is left."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} while the archive was written, so it would not be whole; no file is kept: repeat it")


class ReasoningMismatch(Refused):
    """Signed reasoning on a path no longer fits what comes before it, and the caller wants neither to send nor drop it.

    ``nodes`` are the calls that would have to run again, root first.
    """

    def __init__(self, nodes: tuple[str, ...], changes: tuple[str, ...]) -> None:
        self.nodes = nodes
        self.changes = changes
        super().__init__(
            f"the reasoning of {len(nodes)} calls on this path, from {nodes[0]!r} on, is bound to another "
            f"{', '.join(changes)}; run those calls again, or choose reasoning='drop' or 'keep'"
        )


class ConversationGone(Refused):
    """The conversation was cleared or deleted after this turn began."""

    def __init__(self, conversation_id: str) -> None:
        self.conversation_id = conversation_id
        super().__init__(
            f"conversation {conversation_id!r} was cleared or deleted after this turn began; start a new turn"
        )


class PayloadMissing(GraphStoreError):
    """A stored text refers to a heavy string that isn't there."""

    def __init__(self, digest: str) -> None:
        self.sha256 = digest
        super().__init__(
            f"the blob {digest!r} that a stored text refers to is missing: the data is damaged; "
            "'graphstore verify' lists all that is"
        )


class PathBroken(GraphStoreError):
    """The path above a node does not reach a known root or compaction, so it isn't given at all."""

    def __init__(self, node_id: str, top_id: str) -> None:
        self.node_id = node_id
        self.top_id = top_id
        super().__init__(
            f"the path of node {node_id!r} ends at {top_id!r}, which is neither a root nor a compaction: "
            "it is damaged or being deleted, and is not returned as if it were whole"
        )


class CompactionUnreadable(PathBroken):
    """The reader can't read this compaction, and nothing readable is left above it."""

    def __init__(self, node_id: str, compaction_id: str, readers: tuple[str, ...]) -> None:
        self.node_id = node_id
        self.top_id = self.compaction_id = compaction_id
        self.readers = readers
        GraphStoreError.__init__(
            self,
            f"compaction {compaction_id!r} on the path of node {node_id!r} can be read by {list(readers)!r} only, and "
            "its original is no longer there to unfold; ask for the context of one of those readers",
        )


class InvalidInput(GraphStoreError):
    """What the caller passed can't be stored or read."""


class InvalidItems(InvalidInput):
    """The items passed are not items; names the position and what is wrong."""


class SourceUnreadable(GraphStoreError):
    """A file to import can't be read at all (single bad records are reported instead)."""


class ArchiveUnreadable(SourceUnreadable):
    """An archive can't be restored: it is none, was cut or damaged, or is of a newer program."""

    def __init__(self, path: str, why: str) -> None:
        self.path = path
        super().__init__(f"{path!r} can't be restored: {why}")


class ServerError(GraphStoreError):
    """Something about the database server."""


class ServerUnavailable(ServerError):
    """The server can't be reached, or refuses these credentials."""


class LocalServerError(ServerError):
    """The embedded server can't be installed, started or stopped."""


class SchemaError(ServerError):
    """The database's schema is newer than this program, or an applied migration has changed."""


class QueryError(GraphStoreError):
    """A query file and the code that calls it disagree; a defect of this package."""


class QueryNotice(UserWarning):
    """A notice of the database about a query (deprecated, unknown label), raised as a Python warning."""
