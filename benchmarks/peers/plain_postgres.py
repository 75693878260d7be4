"""What one would write by hand: a row a call with its parent's id, a cursor as compare-and-set, a recursive query."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import orjson
import psycopg
from psycopg.types.json import Jsonb, set_json_loads

from benchmarks.peers.peer import Peer, Refused, Servers
from benchmarks.peers.postgres_schema import Schema
from benchmarks.peers.workloads import Call, Message

_TABLES = """
CREATE TABLE thread (id uuid PRIMARY KEY, cursor uuid);
CREATE TABLE call (id uuid PRIMARY KEY, thread_id uuid NOT NULL REFERENCES thread, parent_id uuid REFERENCES call,
                   sent jsonb NOT NULL, returned jsonb NOT NULL, created_at timestamptz NOT NULL DEFAULT now());
CREATE INDEX call_parent ON call (parent_id);
CREATE INDEX call_thread ON call (thread_id);
"""
# The client undoes the insert when the cursor was elsewhere.
_APPEND = """
WITH written AS (INSERT INTO call (id, thread_id, parent_id, sent, returned)
                 VALUES (%(id)s, %(thread)s, %(parent)s, %(sent)s, %(returned)s))
UPDATE thread SET cursor = %(id)s WHERE id = %(thread)s AND cursor IS NOT DISTINCT FROM %(expected)s
"""
# The same without a transaction to begin and to end: nothing is inserted when the cursor was elsewhere.
_APPEND_AT_ONCE = """
WITH moved AS (UPDATE thread SET cursor = %(id)s
               WHERE id = %(thread)s AND cursor IS NOT DISTINCT FROM %(expected)s RETURNING id)
INSERT INTO call (id, thread_id, parent_id, sent, returned)
SELECT %(id)s, id, %(parent)s, %(sent)s, %(returned)s FROM moved
"""
_PATH = """
WITH RECURSIVE up AS (
  SELECT c.id, c.parent_id, c.sent, c.returned FROM thread t JOIN call c ON c.id = t.cursor WHERE t.id = %s
  UNION ALL
  SELECT c.id, c.parent_id, c.sent, c.returned FROM up JOIN call c ON c.id = up.parent_id)
SELECT sent, returned FROM up
"""


@dataclass
class Thread:
    """A conversation, and the cursor as this client knows it."""

    id: uuid.UUID
    cursor: uuid.UUID | None = None


class PlainPostgres(Peer):
    """As one would write it first: a transaction a call, JSON parsed as psycopg does by itself."""

    name = "plain PostgreSQL"
    packages = ("psycopg",)
    warm_up = 200
    loads: ClassVar[Callable[[bytes], Any]] = staticmethod(json.loads)
    append_statement: ClassVar[str] = _APPEND
    autocommit: ClassVar[bool] = False

    def __init__(self, servers: Servers, schema: Schema | None = None) -> None:
        super().__init__(servers)
        self._schema = schema or Schema(servers.postgres)
        self._shared = schema is not None
        self._connection: psycopg.Connection[Any]

    def open(self) -> None:
        self._connection = self._schema.connect(tuned=True)
        set_json_loads(self.loads, self._connection)
        self._connection.autocommit = self.autocommit
        if not self._shared:
            self._connection.execute(_TABLES)
            self._connection.commit()

    def close(self) -> None:
        self._connection.close()
        if not self._shared:
            self._schema.drop()

    def new_thread(self) -> Thread:
        thread = Thread(uuid.uuid4())
        self._connection.execute("INSERT INTO thread (id) VALUES (%s)", (thread.id,))
        self._connection.commit()
        return thread

    def native(self, call: Call) -> tuple[Jsonb, Jsonb]:
        sent = [_message(message) for message in call.sent]
        return Jsonb(sent, dumps=orjson.dumps), Jsonb(_message(call.returned), dumps=orjson.dumps)

    def append(self, thread: Thread, native: tuple[Jsonb, Jsonb]) -> None:
        self.branch(thread, thread.cursor, native)

    def branch(self, thread: Thread, place: uuid.UUID | None, native: tuple[Jsonb, Jsonb]) -> None:
        new = uuid.uuid4()
        given = {"id": new, "thread": thread.id, "parent": place, "expected": thread.cursor}
        done = self._connection.execute(self.append_statement, {**given, "sent": native[0], "returned": native[1]})
        if done.rowcount != 1:
            self._connection.rollback()
            raise Refused
        self._connection.commit()
        thread.cursor = new

    def place(self, thread: Thread) -> uuid.UUID | None:
        return thread.cursor

    def read(self, thread: Thread) -> list[dict[str, Any]]:
        # Sent unprepared: a plan kept from when the table was nearly empty scans it at every step.
        rows = self._connection.execute(_PATH, (thread.id,), prepare=False).fetchall()
        self._connection.commit()
        messages = []
        for sent, returned in reversed(rows):
            messages += sent
            messages.append(returned)
        return messages

    def texts(self, read: Sequence[dict[str, Any]]) -> list[str]:
        return [
            message["tool_calls"][0]["query"] if "tool_calls" in message else message["content"] for message in read
        ]

    def switch(self, thread: Thread, place: uuid.UUID) -> None:
        move = "UPDATE thread SET cursor = %s WHERE id = %s AND cursor IS NOT DISTINCT FROM %s"
        self._connection.execute(move, (place, thread.id, thread.cursor))
        self._connection.commit()
        thread.cursor = place

    def siblings(self, thread: Thread, place: uuid.UUID) -> int:  # noqa: ARG002 - a parent's id is enough
        query = "SELECT id, created_at FROM call WHERE parent_id = %s ORDER BY created_at"
        found = self._connection.execute(query, (place,)).fetchall()
        self._connection.commit()
        return len(found)

    def size(self) -> int:
        return self._schema.size()

    def written(self) -> int:
        return self._schema.written()

    def writer(self) -> PlainPostgres:
        other = type(self)(self.servers, self._schema)
        other.open()
        return other

    def seen(self, thread: Thread) -> Thread:
        row = self._connection.execute("SELECT cursor FROM thread WHERE id = %s", (thread.id,)).fetchone()
        self._connection.commit()
        assert row is not None
        return Thread(thread.id, row[0])

    def kept(self, thread: Thread) -> set[str]:
        rows = self._connection.execute("SELECT sent, returned FROM call WHERE thread_id = %s", (thread.id,)).fetchall()
        self._connection.commit()
        return set(self.texts([message for sent, returned in rows for message in (*sent, returned)]))


class PlainPostgresBest(PlainPostgres):
    """The same in its best form: one statement a call, and the fastest JSON parser told to psycopg."""

    name = "plain PostgreSQL, best form"
    packages = ("psycopg", "orjson")
    workloads = ("W1", "W2")
    loads = staticmethod(orjson.loads)
    append_statement = _APPEND_AT_ONCE
    autocommit = True


def _message(message: Message) -> dict[str, Any]:
    if message.role == "tool_call":
        asked = {"id": message.call_id, "name": "search", "query": message.text}
        return {"role": "assistant", "content": "", "tool_calls": [asked]}
    if message.role == "tool_result":
        return {"role": "tool", "tool_call_id": message.call_id, "name": "search", "content": message.text}
    return {"role": message.role, "content": message.text}
