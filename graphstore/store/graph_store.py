"""The store's one public face."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Unpack, overload

from graphstore.cacheplan import CachePlan, Tokenizer
from graphstore.chaining import Chain
from graphstore.context import Context
from graphstore.database import Database
from graphstore.errors import InvalidInput
from graphstore.importers import ImportedConversation
from graphstore.items import ItemDict, ItemsInput
from graphstore.local import LocalServer
from graphstore.migrations import migrate, pending
from graphstore.models import (
    BubblePage,
    Conversation,
    ConversationSummary,
    ImportOutcome,
    Marker,
    Move,
    Node,
    RemovalReceipt,
    SawByUser,
    Tombstone,
    UnseenBranch,
    Usage,
    VerifyReport,
)
from graphstore.models_branches import Branch, Comparison, SearchHit
from graphstore.payloads import DEFAULT_LIMIT, check_limit
from graphstore.reasoning import checked
from graphstore.settings import Settings
from graphstore.store import (
    assembly,
    branch_listing,
    branches,
    bubbles,
    compaction,
    comparison,
    conversations,
    deletion,
    importing,
    reconstruction,
    resuming,
    searching,
    tombstones,
    verification,
    windowing,
)
from graphstore.store import tail as tails
from graphstore.store.api_keys import ApiKeys
from graphstore.store.archive import Archive
from graphstore.store.conversions import DEFAULT_RETRIES, Conversion
from graphstore.store.derived_state import DerivedState
from graphstore.store.effects import Effects
from graphstore.store.feedback import FeedbackGiven
from graphstore.store.held import HeldContexts
from graphstore.store.labels import Labels
from graphstore.store.reconstruction import SawByModel
from graphstore.store.recording import Recorder
from graphstore.store.removal import Progress
from graphstore.store.retention import Retention
from graphstore.store.session import DEFAULT_HELD_BYTES, Session
from graphstore.store.settings import CallOptions
from graphstore.store.summaries import Summaries
from graphstore.store.tool_cache import ToolCache
from graphstore.store.turns import DEFAULT_LEASE_SECONDS, Turn
from graphstore.store.usage import UsageAccounts
from graphstore.window import Limits


class GraphStore:
    """The conversations of one workspace. Thread-safe; close it when done, or use it as a context manager.

    Get one by ``GraphStore.open()`` or ``GraphStore.connect(uri, auth=…)``.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    # Opening

    @classmethod
    def open(
        cls,
        *,
        workspace: str | None = None,
        actor: str | None = None,
        settings: Settings | None = None,
        held_bytes: int = DEFAULT_HELD_BYTES,
    ) -> GraphStore:
        """Open the store that the environment names: ``NEO4J_URI``, or else the embedded server, started if need be.

        ``workspace`` is the tenant (default: ``GRAPHSTORE_WORKSPACE`` or ``default``), ``actor`` is recorded with every
        move, ``held_bytes`` bounds the contexts kept in this process. Raises ``LocalServerError``,
        ``ServerUnavailable``, ``SchemaError``.
        """
        settings = settings or Settings()
        database = connect(settings)
        named = settings.workspace if workspace is None else workspace
        return cls._on(database, named, actor, held_bytes, settings.blob_bytes)

    @classmethod
    def connect(
        cls,
        uri: str,
        *,
        auth: tuple[str, str] | None = None,
        database: str = "neo4j",
        workspace: str = "default",
        actor: str | None = None,
        held_bytes: int = DEFAULT_HELD_BYTES,
        blob_bytes: int = DEFAULT_LIMIT,
    ) -> GraphStore:
        """Open the store on a Neo4j server of one's own; ``auth`` is ``(username, password)``.

        Strings of more than ``blob_bytes`` bytes are stored apart, each once.
        """
        check_limit(blob_bytes)
        username, password = auth or ("neo4j", None)
        return cls._on(Database.connect(uri, username, password, database), workspace, actor, held_bytes, blob_bytes)

    @classmethod
    def _on(cls, database: Database, workspace: str, actor: str | None, held_bytes: int, blob_bytes: int) -> GraphStore:
        try:
            conversations.check_id(workspace, "workspace name")
            if pending(database):
                migrate(database)
            return cls(Session(database, workspace, actor, HeldContexts(held_bytes), blob_bytes))
        except BaseException:
            database.close()
            raise

    def in_workspace(self, workspace: str, *, actor: str | None = None) -> GraphStore:
        """The same server, another workspace; shares the connections and holds contexts of its own."""
        conversations.check_id(workspace, "workspace name")
        return GraphStore(Session(self._session.database, workspace, actor, blob_bytes=self._session.blob_bytes))

    @property
    def session(self) -> Session:
        """What queries run on, for the rooms above the store (analytics, the service)."""
        return self._session

    @property
    def usage(self) -> UsageAccounts:
        """What calls used and cost: ``store.usage.of(conversation_id)``, ``store.usage.by("model", "day")``."""
        return UsageAccounts(self._session)

    @property
    def archive(self) -> Archive:
        """The workspace as one file, and back: ``store.archive.export(path)``, ``store.archive.restore(path)``."""
        return Archive(self._session)

    @property
    def retention(self) -> Retention:
        """What may go after a time: ``store.retention.plan(rules)``, a dry run of ``store.retention.apply(rules)``."""
        return Retention(self._session)

    def verify(self, *, progress: Callable[[int, int], object] = lambda _done, _total: None) -> VerifyReport:
        """Make every fingerprint again and follow every pointer of the workspace; says what disagrees with the stored.

        It may be used meanwhile: what seems wrong is looked at once more. ``progress`` gets the things looked at and
        about how many there are. Raises ``RestoreInProgress``.
        """
        return verification.verify(self._session, progress)

    @property
    def workspace(self) -> str:
        """The workspace that this store reads and writes."""
        return self._session.workspace

    def close(self) -> None:
        """Close the connections; the embedded server goes on for other processes."""
        self._session.database.close()

    def __enter__(self) -> GraphStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    # Conversations

    def create_conversation(
        self, *, id: str | None = None, title: str | None = None, metadata: dict[str, Any] | None = None
    ) -> str:
        """Make an empty conversation and return its id; repeating it with the same id and title changes nothing.

        Raises ``IdConflict`` when the id is taken by another.
        """
        return conversations.create(self._session, id, title, metadata)

    def conversation(self, conversation_id: str) -> Conversation:
        """One conversation: its cursor, version, running turn, where it was forked."""
        return conversations.get(self._session, conversation_id)

    def list_conversations(
        self, *, limit: int = 50, after: str | None = None
    ) -> tuple[list[ConversationSummary], str | None]:
        """A page of conversations, newest first, and the key to pass as ``after`` for the next (``None``: the end)."""
        return conversations.page(self._session, limit, after)

    def conversations(self) -> Iterator[ConversationSummary]:
        """All conversations, newest first, read a page at a time."""
        after: str | None = None
        while True:
            page, after = conversations.page(self._session, 200, after)
            yield from page
            if after is None:
                return

    def node(self, node_id: str) -> Node:
        """One node with its items."""
        return conversations.node(self._session, node_id)

    @overload
    def path(self, conversation_id: str) -> list[Node]: ...
    @overload
    def path(self, conversation_id: None = None, *, node_id: str) -> list[Node]: ...
    def path(self, conversation_id: str | None = None, *, node_id: str | None = None) -> list[Node]:
        """The history path of a conversation's cursor, or of a node, root first; compactions don't end it."""
        _one_of(conversation_id, node_id)
        return conversations.path(self._session, conversation_id, node_id)

    def tree(self, conversation_id: str) -> list[Node]:
        """Every live node of a conversation, and the shared prefix it stands on, oldest first."""
        return conversations.tree(self._session, conversation_id)

    def moves(self, conversation_id: str) -> list[Move]:
        """Every move of a conversation's cursor in order, refused ones too."""
        return conversations.moves(self._session, conversation_id)

    # Screens

    def add_bubble(self, node_id: str, content: str | Mapping[str, Any], *, id: str | None = None) -> str:
        """Put on a node what a screen shows of it: a text, or a JSON object (text, charts, status). Returns its id.

        Bubbles never change; the same again with its ``id`` changes nothing. They go with their node. Raises
        ``NodeNotFound``, ``IdConflict`` when the id is taken by another bubble, ``InvalidInput``.
        """
        return bubbles.add(self._session, node_id, content, id)

    def bubbles(self, conversation_id: str, *, before: str | None = None, limit: int = 50) -> BubblePage:
        """The newest bubbles on a conversation's path, oldest first, with the markers of their turns; one query.

        The path is the history path to the last node of the running exclusive turn, else to the cursor. ``before`` is
        the page's own ``before``, for the page above it. Raises ``ConversationNotFound``, ``PathBroken``, and
        ``InvalidInput`` when the path no longer has ``before``, as after a switch: begin at the end again then.
        """
        return bubbles.page(self._session, conversation_id, before, limit)

    # Reconstruction

    def saw_by_model(self, node_id: str) -> SawByModel:
        """What a call's model saw, as it was then, compared with the fingerprint that was stored of it.

        Raises ``NodeNotFound``, ``PathBroken``, ``CompactionUnreadable``.
        """
        return reconstruction.by_model(self._session, node_id)

    def saw_by_user(self, conversation_id: str, at: datetime) -> SawByUser:
        """What a conversation's user saw at a time (without a zone: UTC): the cursor's path then, with its bubbles.

        Raises ``ConversationNotFound``, ``PathBroken``.
        """
        return reconstruction.by_user(self._session, conversation_id, at)

    # Importing

    def import_file(
        self,
        path: Path | str,
        *,
        format: str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Iterator[ImportOutcome]:
        """Import an export (file, gzip, zip or folder); gives an outcome for each conversation as it is stored.

        The format is recognised by content unless named (``graphstore.importers.FORMATS``). Importing it again adds
        nothing, a longer version adds what is new. Nothing happens until the outcomes are taken. ``progress`` gets the
        bytes read and their total. Raises ``SourceUnreadable``.
        """
        return importing.import_file(self._session, path, format, progress)

    def import_conversations(self, source: Iterable[ImportedConversation]) -> Iterator[ImportOutcome]:
        """Import conversations of one's own making, as ``import_file`` does with what a file holds."""
        return importing.import_conversations(self._session, source)

    # Turns and contexts

    def turn(
        self,
        conversation_id: str,
        *,
        owner: str | None = None,
        exclusive: bool = True,
        lease_seconds: float = DEFAULT_LEASE_SECONDS,
        reasoning: str | None = None,
    ) -> Turn:
        """A turn, to be used as a context manager; it is taken with its first ``turn.call(...)``.

        ``owner`` is shown to whoever is refused meanwhile. The lease is renewed by every call of the turn: give it more
        seconds than one call of a model may last. ``exclusive=False`` takes and respects no lease. ``reasoning`` is its
        policy for signed reasoning that no longer fits (``drop``, ``keep`` or ``error``), as of ``CallOptions``.
        """
        return Turn(
            self._session,
            conversation_id,
            owner=owner,
            exclusive=exclusive,
            lease_seconds=lease_seconds,
            reasoning=reasoning,
        )

    def resume_turn(self, node_id: str, *, lease_seconds: float = DEFAULT_LEASE_SECONDS) -> Turn:
        """Go on with a turn begun elsewhere, by one of its calls: settle ``turn.current``, call again, end it.

        For workers that hand a turn over between requests; everything else about turns holds. Raises ``NodeNotFound``,
        ``ConversationGone``.
        """
        return resuming.resume(self._session, node_id, lease_seconds)

    def recorder(self, conversation_id: str) -> Recorder:
        """Stores calls of a conversation after they were made, one write each: ``recorder.record(sent, returned)``.

        For programs that learn of a call when all is over; a turn stores it before it is made, so that a crash between
        loses nothing.
        """
        return Recorder(self._session, conversation_id)

    def conversion(
        self, conversation_id: str, *, retries: int = DEFAULT_RETRIES, **options: Unpack[CallOptions]
    ) -> Conversion:
        """A side job on a conversation's full context, such as making a playbook of it; use it as a context manager.

        It takes no turn and blocks none, and the cursor doesn't move, so its drafts are in no later question's context.
        ``retries`` is how many attempts may follow the first; options hold for all of them, see ``CallOptions``.
        """
        return Conversion(self._session, conversation_id, retries, options)

    def context(
        self,
        conversation_id: str | None = None,
        *,
        node_id: str | None = None,
        new_items: ItemsInput | None = None,
        for_provider: str | None = None,
        for_model: str | None = None,
        reasoning: str | None = None,
        newest_turns: int | None = None,
        max_tokens: int | None = None,
        count_tokens: Tokenizer | None = None,
    ) -> Context:
        """What a call from here would send: the path's items, then ``new_items``.

        From a conversation's cursor, or from any node. Compactions that ``for_provider`` (``for_model``) can't read are
        unfolded. ``reasoning`` (``drop``, ``keep`` or ``error``) is what to do about signed reasoning that no longer
        fits what comes before it; unless one is chosen nothing is checked. ``newest_turns`` and ``max_tokens`` (counted
        by ``count_tokens``, else bytes ÷ 4) limit it to the newest turns. Raises ``ConversationNotFound``,
        ``NodeNotFound``, ``PathBroken``, ``CompactionUnreadable``, ``ReasoningMismatch``, ``InvalidInput``.
        """
        _one_of(conversation_id, node_id)
        policy = None if reasoning is None else checked(reasoning)
        limits = Limits(newest_turns, max_tokens, count_tokens)
        readers = assembly.readers_of(for_provider, for_model)
        made = assembly.assemble(self._session, conversation_id, node_id, readers, assembly.encode_new(new_items))
        made = windowing.windowed(self._session, made, limits)
        return assembly.under_policy(self._session, made, for_provider, for_model, policy)

    def tail(
        self, conversation_id: str | None = None, *, node_id: str | None = None, below: str | Context
    ) -> tails.Tail:
        """What a context has below the part of it that the client holds; reads that alone, in one round trip.

        ``below`` is the held context's ``bookmark``, or that context itself. Raises ``HeldPartChanged`` when the held
        part doesn't stand any more, and as ``context``.
        """
        _one_of(conversation_id, node_id)
        return tails.tail(self._session, conversation_id, node_id, below)

    def chain(
        self,
        conversation_id: str | None = None,
        *,
        node_id: str | None = None,
        new_items: ItemsInput | None = None,
        for_provider: str,
        for_model: str | None = None,
    ) -> Chain:
        """What a call from here would send to an endpoint that keeps the history: the nearest response on the path that
        ``for_provider`` can continue, and only the items after it, then ``new_items``.

        With ``for_model``, only a response of that model. How long a provider keeps responses is not known here. Raises
        as ``context``.
        """
        _one_of(conversation_id, node_id)
        readers = assembly.readers_of(for_provider, for_model)
        made = assembly.assemble(self._session, conversation_id, node_id, readers, assembly.encode_new(new_items))
        return assembly.with_origins(self._session, made, for_provider, for_model).chain()

    def cache_plan(
        self,
        conversation_id: str | None = None,
        *,
        node_id: str | None = None,
        new_items: ItemsInput | None = None,
        provider: str | None = None,
        model: str | None = None,
        count_tokens: Tokenizer | None = None,
    ) -> CachePlan:
        """How much of a call from here an earlier one of its tree has sent to ``model`` already (``None``: to any).

        Also whether that is enough for the model to have cached it, and where to put cache markers. Tokens are bytes
        ÷ 4 unless ``count_tokens`` counts those of a text. Raises as ``context``.
        """
        _one_of(conversation_id, node_id)
        readers = assembly.readers_of(provider, model)
        made = assembly.assemble(self._session, conversation_id, node_id, readers, assembly.encode_new(new_items))
        made = assembly.with_origins(self._session, made, provider, model)
        return assembly.plan_cache(self._session, made, count_tokens)

    def compact(
        self,
        conversation_id: str,
        returned: ItemsInput,
        *,
        sent: ItemsInput = (),
        readers: Sequence[str] = ("*",),
        provider: str | None = None,
        model: str | None = None,
        usage: Usage | dict[str, Any] | None = None,
        metadata: dict[str, Any] | None = None,
        expected: str | None = None,
        id: str | None = None,
    ) -> str:
        """Put a compaction at the end of a conversation: ``returned`` stands for all before it. Returns its id.

        ``readers`` are the providers, models or ``provider/model`` that can read it, ``*`` everyone; for others
        assembly unfolds the original. ``expected`` is the cursor the summary was made of (default: where it is now).
        Raises ``CursorMoved``, ``TurnInProgress``, ``InvalidInput``.
        """
        conversation = conversations.get(self._session, conversation_id)
        original_id = expected or compaction.original_of(self._session, id) or conversation.cursor
        if original_id is None:
            raise InvalidInput(f"conversation {conversation_id!r} is empty; there is nothing to compact")
        return compaction.write(
            self._session,
            conversation_id,
            original_id=original_id,
            epoch=conversation.epoch,
            returned=returned,
            sent=sent,
            readers=readers,
            provider=provider,
            model=model,
            usage=usage,
            metadata=metadata,
            id=id,
        )

    @property
    def effects(self) -> Effects:
        """What reaches the outside: proposed on a node, approved, claimed once, done, compensated."""
        return Effects(self._session)

    @property
    def tool_cache(self) -> ToolCache:
        """Results of tools by the canonical call, so that a branch that makes the same call reuses them."""
        return ToolCache(self._session)

    @property
    def state(self) -> DerivedState:
        """What nodes derived (facts, form values, memory writes), read along the path."""
        return DerivedState(self._session)

    @property
    def labels(self) -> Labels:
        """Words on nodes and branches: ``store.labels.add(node_id, "best")``, ``store.labels.find("best")``."""
        return Labels(self._session)

    @property
    def api_keys(self) -> ApiKeys:
        """The keys of the service that open this workspace: ``key, text = store.api_keys.create(["read"])``."""
        return ApiKeys(self._session.database, self.workspace)

    @property
    def feedback(self) -> FeedbackGiven:
        """What people think of nodes: ``store.feedback.give(node_id, rating="up", by="ann")``."""
        return FeedbackGiven(self._session)

    @property
    def summaries(self) -> Summaries:
        """What branches that were left had been about: ``store.summaries.attach(node_id, text)``."""
        return Summaries(self._session)

    # Branches

    def edit(
        self,
        conversation_id: str,
        node_id: str,
        question: str | Mapping[int, ItemDict],
        *,
        unfold: bool = False,
        owner: str | None = None,
        lease_seconds: float = DEFAULT_LEASE_SECONDS,
        **options: Unpack[CallOptions],
    ) -> Turn:
        """Ask another question in place of the one that began ``node_id``'s turn; the old branch stays whole.

        ``question`` is the new text, or new items by their position in what that node sent. Moves the cursor, takes the
        turn and writes its first call in one transaction; go on with ``turn.current``. Options as of ``Turn.call``.
        A question behind a compaction is refused (``BehindCompaction``) unless ``unfold``: then the new branch stands
        on the original, and the summary is no part of it.
        Raises ``NodeNotFound``, ``TurnInProgress``, ``CursorMoved``, ``BehindCompaction``, ``InvalidInput``.
        """
        turn = self.turn(conversation_id, owner=owner, lease_seconds=lease_seconds)
        return branches.edit(self._session, turn, node_id, question, unfold, options)

    def regenerate(
        self,
        conversation_id: str,
        node_id: str | None = None,
        *,
        unfold: bool = False,
        owner: str | None = None,
        lease_seconds: float = DEFAULT_LEASE_SECONDS,
        **options: Unpack[CallOptions],
    ) -> Turn:
        """Ask the question of ``node_id``'s turn (default: the last one) again; the old answer stays as a sibling.

        As ``edit``, with the same items sent unchanged.
        """
        turn = self.turn(conversation_id, owner=owner, lease_seconds=lease_seconds)
        return branches.regenerate(self._session, turn, node_id, unfold, options)

    def correct(
        self,
        conversation_id: str,
        returned: ItemsInput,
        *,
        node_id: str | None = None,
        metadata: dict[str, Any] | None = None,
        id: str | None = None,
        unfold: bool = False,
    ) -> str:
        """A person's own text in place of the answer of ``node_id``'s turn (default: the last). Returns the new node.

        A sibling with the same sent items, marked as a person's; the cursor moves to it.
        """
        return branches.correct(self._session, conversation_id, node_id, returned, metadata, id, unfold)

    def switch(self, conversation_id: str, node_id: str, *, expected: Any = branches.ANYWHERE) -> str:
        """Move the cursor to the end of the branch at ``node_id``; returns the node it is at now.

        The end is the node there that was the cursor most recently, else the newest turn's last node. With ``expected``
        the move is refused (``CursorMoved``) unless the cursor is there. Raises ``TurnInProgress``, ``NodeNotFound``.
        """
        return branches.switch(self._session, conversation_id, node_id, expected)

    def fork(
        self,
        node_id: str,
        *,
        id: str | None = None,
        title: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> str:
        """Start a new conversation at a node; nothing is copied. Returns its id."""
        return branches.fork(self._session, node_id, id, title, metadata)

    def markers(self, conversation_id: str, *, node_id: str | None = None) -> list[Marker]:
        """Where each turn on the path stands among its siblings ("2/3"), root first.

        The path is the cursor's, or that of ``node_id``.
        """
        return branches.markers(self._session, conversation_id, node_id)

    def branches(
        self, conversation_id: str, *, limit: int = 50, after: str | None = None
    ) -> tuple[list[Branch], str | None]:
        """A page of a conversation's live branches, newest first, and the key of the next page (``None``: the end).

        The accepted one is among them. Raises ``ConversationNotFound``, ``InvalidInput`` for what is no key.
        """
        return branch_listing.branches(self._session, conversation_id, limit, after)

    def subtree(self, node_id: str, *, limit: int = 50, after: str | None = None) -> tuple[list[Node], str | None]:
        """A page of the live nodes at and below a node, oldest first, and the key of the next page (``None``: the end).

        What forks grew below it is among them. Raises ``NodeNotFound``, ``InvalidInput`` for what is no key.
        """
        return branch_listing.subtree(self._session, node_id, limit, after)

    def search(
        self, query: str, *, limit: int = 20, after: str | None = None, raw: bool = False
    ) -> tuple[list[SearchHit], str | None]:
        """A page of the nodes on any branch that have all the words and "phrases" of ``query``, best first, and a key.

        With ``raw`` the query is in Lucene's syntax. Pass the key as ``after`` for the next page (``None``: the end).
        Raises ``InvalidInput`` for what can't be searched for.
        """
        return searching.search(self._session, query, limit, after, raw)

    def compare(self, left_id: str, right_id: str) -> Comparison:
        """Two branches, named by their end nodes: the common part of their history paths, then what differs.

        They may be of different conversations of the workspace. Raises ``NodeNotFound``, ``PathBroken``.
        """
        return comparison.compare(self._session, left_id, right_id)

    def unseen_branches(self, conversation_id: str) -> list[UnseenBranch]:
        """Branches kept after a lost race, until someone switches to them or dismisses them."""
        return conversations.unseen_branches(self._session, conversation_id)

    def dismiss(self, conversation_id: str, node_id: str) -> None:
        """Take an unseen branch (named by its end node) off that list; its nodes stay."""
        conversations.dismiss(self._session, conversation_id, node_id)

    def tombstone(self, node_id: str) -> int:
        """Hide the branch that begins at ``node_id`` (a turn's first node, or a compaction).

        It leaves markers, listings, trees, samples and statistics, and grows no more; ``restore`` shows it again.
        Returns how many nodes that hides which were not hidden before. Raises ``NodeNotFound``, ``InvalidInput`` for a
        turn's later call, ``BranchInUse`` while a conversation's cursor or a running turn is on it.
        """
        return tombstones.tombstone(self._session, node_id)

    def restore(self, node_id: str) -> int:
        """Take the tombstone off ``node_id``; returns how many nodes it had hidden (0: it carried none).

        What lies below another tombstone stays hidden by that one.
        """
        return tombstones.restore(self._session, node_id)

    def tombstones(self, conversation_id: str) -> list[Tombstone]:
        """The hidden branches of a conversation, newest tombstone first."""
        return tombstones.tombstones(self._session, conversation_id)

    def purge(self, node_id: str) -> RemovalReceipt:
        """Remove for good what the tombstone on ``node_id`` hides. Interrupted, the same call finishes it.

        Raises ``InvalidInput`` when the node carries none, ``NodesShared`` when a fork was started there.
        """
        return tombstones.purge(self._session, node_id)

    def delete_conversation(
        self,
        conversation_id: str,
        *,
        on_shared: deletion.OnShared = "keep",
        force: bool = False,
        progress: Progress = lambda _: None,
    ) -> RemovalReceipt:
        """Delete a conversation with its nodes and its history of moves; from the start on nobody can read it.

        Nodes that other conversations stand on are handed to the oldest of them as they are (``on_shared="keep"``) or
        blanked (``"erase"``); with ``"refuse"`` nothing is deleted then, and ``NodesShared`` is raised. A running turn
        is respected (``TurnInProgress``) unless ``force``; it then learns ``ConversationGone`` at its next write. Any
        size; interrupted, the same call finishes it. ``progress`` hears how many nodes each batch dealt with.
        """
        return deletion.delete(self._session, conversation_id, on_shared, force, progress)

    def clear(
        self, conversation_id: str, *, force: bool = False, progress: Progress = lambda _: None
    ) -> RemovalReceipt:
        """Empty a conversation: the next turn starts from nothing, and one that began before can't bring the old back.

        What other conversations stand on is handed to them. Interrupted, the same call finishes it. Raises
        ``TurnInProgress`` unless ``force``.
        """
        return deletion.clear(self._session, conversation_id, force, progress)


def connect(settings: Settings) -> Database:
    """The database that the settings name; starts the embedded server when they name none."""
    if settings.neo4j_uri is not None:
        password = settings.neo4j_password
        return Database.connect(
            settings.neo4j_uri,
            settings.neo4j_username,
            None if password is None else password.get_secret_value(),
            settings.neo4j_database,
        )
    endpoint = LocalServer.from_settings(settings).ensure()
    return Database.connect(endpoint.uri, endpoint.username, endpoint.password)


def _one_of(conversation_id: str | None, node_id: str | None) -> None:
    if (conversation_id is None) == (node_id is None):
        raise InvalidInput("name either a conversation or a node (node_id=…)")
