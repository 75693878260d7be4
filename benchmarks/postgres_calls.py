"""What a conversation store on PostgreSQL is: tables of its own, and one call of a model as two transactions.

The tables hold what a node, its conversation and its moves hold here, with the foreign keys and indexes that give the
same guarantees: one parent that exists, one cursor, moves in order, a conversation's calls found without a scan. Every
write locks the conversation first, compares cursor, epoch and lease under that lock, and refuses.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import psycopg

from graphstore.fingerprint import new_id

TABLES = """
CREATE TABLE conversation (
  id uuid PRIMARY KEY, cursor_id uuid, version int NOT NULL DEFAULT 0, epoch int NOT NULL DEFAULT 0,
  moves int NOT NULL DEFAULT 0, turn_id uuid, turn_owner text, turn_node_id uuid, turn_expires_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(), updated_at timestamptz NOT NULL DEFAULT clock_timestamp());
CREATE TABLE call (
  id uuid PRIMARY KEY, conversation_id uuid NOT NULL REFERENCES conversation, parent_id uuid REFERENCES call,
  kind text NOT NULL, status text NOT NULL, turn_id uuid NOT NULL, round int NOT NULL, sent text NOT NULL,
  sent_hash text NOT NULL, context_hash text, provider text, model text, returned text, result_hash text,
  finish_reason text, usage text, created_at timestamptz NOT NULL DEFAULT clock_timestamp(), finished_at timestamptz);
CREATE INDEX call_conversation ON call (conversation_id);
CREATE INDEX call_parent ON call (parent_id);
ALTER TABLE conversation ADD FOREIGN KEY (cursor_id) REFERENCES call;
CREATE TABLE move (
  conversation_id uuid NOT NULL REFERENCES conversation, seq int NOT NULL, id uuid NOT NULL UNIQUE,
  at timestamptz NOT NULL DEFAULT clock_timestamp(), from_id uuid, to_id uuid, reason text NOT NULL, actor text,
  accepted boolean NOT NULL, PRIMARY KEY (conversation_id, seq));
"""

LEASE = "300 seconds"


class Refused(Exception):
    """The cursor is elsewhere, somebody holds the turn, or the call was settled."""


def create_tables(connection: psycopg.Connection[Any]) -> None:
    """Once for each server."""
    connection.execute(TABLES)


@dataclass
class Conversation:
    """One conversation, as the process that writes it knows it: where its cursor is and what its epoch."""

    connection: psycopg.Connection[Any]
    id: str
    cursor_id: str | None = None
    epoch: int = 0

    @classmethod
    def create(cls, connection: psycopg.Connection[Any], id: str) -> Conversation:
        """A new, empty one."""
        connection.execute("INSERT INTO conversation (id) VALUES (%s)", (id,))
        return cls(connection, id)

    def path(self) -> list[tuple[str, str]]:
        """What was sent and returned on the cursor's path, root first."""
        rows = self.connection.execute(
            """WITH RECURSIVE up AS (
                 SELECT c.* FROM conversation v JOIN call c ON c.id = v.cursor_id WHERE v.id = %s
                 UNION ALL SELECT c.* FROM up JOIN call c ON c.id = up.parent_id)
               SELECT sent, returned FROM up""",
            (self.id,),
        ).fetchall()
        return rows[::-1]

    def moves(self) -> list[tuple[Any, ...]]:
        """The log of moves: where from, where to, accepted."""
        return self.connection.execute(
            "SELECT from_id::text, to_id::text, accepted FROM move WHERE conversation_id = %s ORDER BY seq", (self.id,)
        ).fetchall()


class Statements(Conversation):
    """Each transaction as an application writes it: begin, lock and look, write, commit; all prepared."""

    def _run(self, query: str, parameters: tuple[Any, ...]) -> Any:
        return self.connection.execute(query, parameters, prepare=True)

    def begin(self, sent: str, turn_id: str) -> str:
        """Take the turn and write the pending call; returns its id. Raises ``Refused``."""
        call_id = new_id()
        with self.connection.transaction():
            row = self._run(
                """SELECT cursor_id, epoch, turn_id IS NULL OR turn_id = %s OR turn_expires_at < clock_timestamp()
                   FROM conversation WHERE id = %s FOR UPDATE""",
                (turn_id, self.id),
            ).fetchone()
            self._refuse_unless(row)
            self._run(INSERT_PENDING, _pending(self, call_id, turn_id, sent))
            self._run(
                f"""UPDATE conversation SET turn_id = %s, turn_owner = %s, turn_node_id = %s,
                      turn_expires_at = clock_timestamp() + interval '{LEASE}', updated_at = clock_timestamp()
                    WHERE id = %s""",
                (turn_id, "owner", call_id, self.id),
            )
        return call_id

    def complete(self, call_id: str, turn_id: str, returned: str, usage: str) -> None:
        """Settle the call and move the cursor to it; the turn ends. Raises ``Refused``."""
        with self.connection.transaction():
            row = self._run(
                "SELECT cursor_id, epoch, turn_id = %s FROM conversation WHERE id = %s FOR UPDATE", (turn_id, self.id)
            ).fetchone()
            self._refuse_unless(row)
            settled = self._run(
                """UPDATE call SET status = 'succeeded', returned = %s, result_hash = %s, finish_reason = 'stop',
                     usage = %s, finished_at = clock_timestamp() WHERE id = %s AND status = 'pending'""",
                (returned, digest(returned), usage, call_id),
            )
            if settled.rowcount != 1:
                raise Refused
            self._move(call_id)
        self.cursor_id = call_id

    def record(self, sent: str, returned: str, usage: str) -> str:
        """Write a call that is known whole and move the cursor to it, in one transaction; returns its id."""
        call_id = new_id()
        with self.connection.transaction():
            row = self._run(
                """SELECT cursor_id, epoch, turn_id IS NULL OR turn_expires_at < clock_timestamp()
                   FROM conversation WHERE id = %s FOR UPDATE""",
                (self.id,),
            ).fetchone()
            self._refuse_unless(row)
            self._run(INSERT_WHOLE, _whole(self, call_id, sent, returned, usage))
            self._move(call_id)
        self.cursor_id = call_id
        return call_id

    def _refuse_unless(self, row: tuple[Any, int, bool] | None) -> None:
        if row is None or (None if row[0] is None else str(row[0])) != self.cursor_id or row[1] != self.epoch:
            raise Refused
        if not row[2]:
            raise Refused

    def _move(self, call_id: str) -> None:
        row = self._run(
            """UPDATE conversation SET cursor_id = %s, version = version + 1, moves = moves + 1, turn_id = NULL,
                 turn_owner = NULL, turn_node_id = NULL, turn_expires_at = NULL, updated_at = clock_timestamp()
               WHERE id = %s RETURNING moves""",
            (call_id, self.id),
        ).fetchone()
        self._run(
            """INSERT INTO move (conversation_id, seq, id, from_id, to_id, reason, actor, accepted)
               VALUES (%s, %s, %s, %s, %s, 'turn', 'benchmark', true)""",
            (self.id, row[0], new_id(), self.cursor_id, call_id),
        )


class OneStatement(Conversation):
    """Each transaction as one statement in autocommit mode, the fewest round trips there can be.

    A refusal changes nothing and says nothing of why: that takes another look.
    """

    def _run(self, query: str, parameters: tuple[Any, ...]) -> None:
        if self.connection.execute(query, parameters, prepare=True).fetchone() is None:
            raise Refused

    def begin(self, sent: str, turn_id: str) -> str:
        """As ``Statements.begin``."""
        call_id = new_id()
        self._run(
            f"""WITH taken AS (
                  UPDATE conversation SET turn_id = %s, turn_owner = %s, turn_node_id = %s,
                    turn_expires_at = clock_timestamp() + interval '{LEASE}', updated_at = clock_timestamp()
                  WHERE id = %s AND cursor_id IS NOT DISTINCT FROM %s AND epoch = %s
                    AND (turn_id IS NULL OR turn_id = %s OR turn_expires_at < clock_timestamp())
                  RETURNING id)
                {_from("taken", INSERT_PENDING)} RETURNING id""",
            (
                *(turn_id, "owner", call_id, self.id, self.cursor_id, self.epoch, turn_id),
                *_pending(self, call_id, turn_id, sent),
            ),
        )
        return call_id

    def complete(self, call_id: str, turn_id: str, returned: str, usage: str) -> None:
        """As ``Statements.complete``."""
        self._run(
            f"""WITH settled AS (
                  UPDATE call SET status = 'succeeded', returned = %s, result_hash = %s, finish_reason = 'stop',
                    usage = %s, finished_at = clock_timestamp()
                  WHERE id = %s AND status = 'pending' RETURNING id),
                {MOVED.format(source="settled", held="turn_id = %s")}
                {INSERT_MOVE}""",
            (
                *(returned, digest(returned), usage, call_id),
                *(call_id, self.id, self.cursor_id, self.epoch, turn_id),
                *(new_id(), self.cursor_id, call_id),
            ),
        )
        self.cursor_id = call_id

    def record(self, sent: str, returned: str, usage: str) -> str:
        """As ``Statements.record``."""
        call_id = new_id()
        free = "(turn_id IS NULL OR turn_expires_at < clock_timestamp())"
        self._run(
            f"""WITH {MOVED.format(source="(SELECT 1) AS one", held=free)},
                written AS ({_from("moved", INSERT_WHOLE)} RETURNING id)
                {INSERT_MOVE}""",
            (
                *(call_id, self.id, self.cursor_id, self.epoch),
                *_whole(self, call_id, sent, returned, usage),
                *(new_id(), self.cursor_id, call_id),
            ),
        )
        self.cursor_id = call_id
        return call_id


INSERT_PENDING = """INSERT INTO call (id, conversation_id, parent_id, kind, status, turn_id, round, sent, sent_hash,
  context_hash, provider, model) VALUES (%s, %s, %s, 'turn', 'pending', %s, 0, %s, %s, %s, 'openai', 'gpt-5')"""

INSERT_WHOLE = """INSERT INTO call (id, conversation_id, parent_id, kind, status, turn_id, round, sent, sent_hash,
  context_hash, provider, model, returned, result_hash, finish_reason, usage, finished_at)
  VALUES (%s, %s, %s, 'turn', 'succeeded', %s, 0, %s, %s, %s, 'openai', 'gpt-5', %s, %s, 'stop', %s,
          clock_timestamp())"""

MOVED = """moved AS (
  UPDATE conversation SET cursor_id = %s, version = version + 1, moves = moves + 1, turn_id = NULL, turn_owner = NULL,
    turn_node_id = NULL, turn_expires_at = NULL, updated_at = clock_timestamp()
  FROM {source}
  WHERE conversation.id = %s AND cursor_id IS NOT DISTINCT FROM %s AND epoch = %s AND {held}
  RETURNING conversation.id, moves)"""

INSERT_MOVE = """INSERT INTO move (conversation_id, seq, id, from_id, to_id, reason, actor, accepted)
  SELECT id, moves, %s, %s, %s, 'turn', 'benchmark', true FROM moved RETURNING seq"""


def _from(source: str, insert: str) -> str:
    """The insertion, if ``source`` gave a row."""
    head, values = insert.split("VALUES (")
    # Outside VALUES nothing tells the server that the first four are ids.
    return f"{head}SELECT {values[:-1].replace('%s', '%s::uuid', 4)} FROM {source}"


def _pending(at: Conversation, call_id: str, turn_id: str, sent: str) -> tuple[Any, ...]:
    return (call_id, at.id, at.cursor_id, turn_id, sent, digest(sent), "0" * 64)


def _whole(at: Conversation, call_id: str, sent: str, returned: str, usage: str) -> tuple[Any, ...]:
    return (call_id, at.id, at.cursor_id, call_id, sent, digest(sent), "0" * 64, returned, digest(returned), usage)


def digest(text: str) -> str:
    """The hash that tells a repeated write from another with the same id."""
    return hashlib.sha256(text.encode()).hexdigest()
