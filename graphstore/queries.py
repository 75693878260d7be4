"""The query files, each bound to one constant.

One file is one query: its folder is its access (``read``, ``write``, ``schema``), its first comment says what it
returns, its ``$names`` are its parameters. A missing or undocumented file fails at import.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

from graphstore.errors import QueryError

# Strings, escaped names and comments may contain anything; only what is left has parameters.
_TOKENS = re.compile(
    r"""(?P<skip>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`|/\*.*?\*/)|(?P<comment>//[^\n]*)|\$(?P<name>\w+)""", re.S
)


@dataclass(frozen=True, slots=True)
class Query:
    """A query and its signature. ``access`` is ``read``, ``write`` or ``schema``."""

    name: str
    access: str
    text: str
    doc: str
    parameters: frozenset[str]

    def check(self, given: Mapping[str, Any]) -> None:
        """Raise ``QueryError`` unless exactly the parameters of this query are given."""
        if self.parameters != given.keys():
            missing, extra = sorted(self.parameters - given.keys()), sorted(given.keys() - self.parameters)
            raise QueryError(f"query {self.name!r}: missing parameters {missing}, unknown parameters {extra}")

    def about(self, what: str, changes: Mapping[str, str]) -> Query:
        """The same query about another label: each of these texts, which it must have, replaced by its other."""
        text = self.text
        for old, new in changes.items():
            if old not in text:
                raise QueryError(f"query {self.name!r} has no {old!r} to make a query about {what} of")
            text = text.replace(old, new)
        return replace(self, name=f"{self.name} ({what})", text=text)


def parse(name: str, source: str) -> Query:
    """Make a query of a file's text; ``name`` is ``<access>/<file name>``.

    Raises ``QueryError`` when the file has no leading comment or no query.
    """
    access = name.partition("/")[0]
    if access not in {"read", "write", "schema"}:
        raise QueryError(f"query {name!r}: the folder must be read, write or schema")
    doc = re.match(r"(?:[ \t]*//[^\n]*\n)+", source)
    if doc is None:
        raise QueryError(f"query {name!r}: its first lines must be a // comment saying what it returns")
    parameters = frozenset(m["name"] for m in _TOKENS.finditer(source) if m["name"])
    text = _TOKENS.sub(lambda m: "" if m["comment"] else m[0], source).strip()
    text = re.sub(r"\n\s*\n", "\n", text)
    if not text:
        raise QueryError(f"query {name!r}: the file holds no query")
    about = " ".join(line.strip().removeprefix("//").strip() for line in doc[0].splitlines())
    return Query(name, access, text, about, parameters)


def load(name: str) -> Query:
    """Load ``cypher/<name>.cypher``."""
    path = files("graphstore.cypher").joinpath(f"{name}.cypher")
    if not path.is_file():
        raise QueryError(f"query {name!r}: there is no file {path}")
    return parse(name, path.read_text("utf-8"))


def load_migrations() -> list[Query]:
    """The schema files ``V0001__name.cypher``, in order; one statement each."""
    names = (entry.name for entry in files("graphstore.cypher").joinpath("schema").iterdir())
    return [load(f"schema/{name.removesuffix('.cypher')}") for name in sorted(names) if name.endswith(".cypher")]


ACCEPTED_PATHS = load("read/accepted_paths")
APPLIED_MIGRATIONS = load("read/applied_migrations")
API_KEY = load("read/api_key")
API_KEYS = load("read/api_keys")
ARCHIVE_NAMED = load("read/archive_named")
ARCHIVE_PAGE = load("read/archive_page")
ASSEMBLE = load("read/assemble")
BLOBS = load("read/blobs")
AWAIT_TEXTS = load("read/await_texts")
BRANCHES = load("read/branches")
BRANCH_END = load("read/branch_end")
BUBBLES = load("read/bubbles")
CALL_AS_MADE = load("read/call_as_made")
CENSUS = load("read/census")
CLEARED_NODES = load("read/cleared_nodes")
CONVERSATION = load("read/conversation")
CONVERSATIONS_LIKE = load("read/conversations_like")
COUNT_CONVERSATIONS = load("read/count_conversations")
COUNT_THINGS = load("read/count_things")
DUPLICATE_KEYS = load("read/duplicate_keys")
EFFECT = load("read/effect")
EFFECTS = load("read/effects")
EXTEND = load("read/extend")
EXTEND_NODE = load("read/extend_node")
FEEDBACK = load("read/feedback")
HIDDEN_NODES = load("read/hidden_nodes")
KNOWN_CONVERSATIONS = load("read/known_conversations")
KNOWN_NODES = load("read/known_nodes")
LABELLED = load("read/labelled")
LABELS = load("read/labels")
LIST_CONVERSATIONS = load("read/list_conversations")
LOOSE_THINGS = load("read/loose_things")
MARKERS = load("read/markers")
MOVES = load("read/moves")
NEEDED_NODES = load("read/needed_nodes")
NODE = load("read/node")
NODES = load("read/nodes")
NODES_LIKE = load("read/nodes_like")
OPEN_CALLS = load("read/open_calls")
ORIGINS = load("read/origins")
OWNED_NODES = load("read/owned_nodes")
PATH = load("read/path")
PING = load("read/ping")
PREFERENCE_BRANCHES = load("read/preference_branches")
PREFERENCE_TEXTS = load("read/preference_texts")
REQUESTS_BESIDE = load("read/requests_beside")
RESTORE_MARK = load("read/restore_mark")
RETAINABLE = load("read/retainable")
SCREEN_THEN = load("read/screen_then")
SEARCH = load("read/search")
SERVER_VERSIONS = load("read/server_versions")
SETTINGS_IN_USE = load("read/settings_in_use")
STATE = load("read/state")
STATE_LEFT_BEHIND = load("read/state_left_behind")
STORED_SETTINGS = load("read/stored_settings")
STRAY_NODES = load("read/stray_nodes")
STRETCHES = load("read/stretches")
SUBTREE = load("read/subtree")
SUMMARIES = load("read/summaries")
TOMBSTONES = load("read/tombstones")
TOOL_CACHE = load("read/tool_cache")
TREE = load("read/tree")
TURNS_OF = load("read/turns_of")
TURN_STANDING = load("read/turn_standing")
TURN_START = load("read/turn_start")
TWO_PATHS = load("read/two_paths")
UNFINISHED_REMOVALS = load("read/unfinished_removals")
UNSEEN_BRANCHES = load("read/unseen_branches")
USAGE_OF_CONVERSATION = load("read/usage_of_conversation")
USAGE_OF_WORKSPACE = load("read/usage_of_workspace")
VERIFY_CONVERSATIONS = load("read/verify_conversations")
VERIFY_NODES = load("read/verify_nodes")
VERIFY_STRUCTURE = load("read/verify_structure")

ADD_BUBBLE = load("write/add_bubble")
ADVANCE_RESTORE = load("write/advance_restore")
ADD_LABEL = load("write/add_label")
ANSWER_REQUEST = load("write/answer_request")
APPEND_CALL = load("write/append_call")
ATTACH_SUMMARY = load("write/attach_summary")
CACHED_TOOL_RESULT = load("write/cached_tool_result")
CACHE_TOOL_RESULT = load("write/cache_tool_result")
CHANGE_EFFECT = load("write/change_effect")
CLAIM_EFFECT = load("write/claim_effect")
CLAIM_REQUEST = load("write/claim_request")
CLEAR = load("write/clear")
COMPACT = load("write/compact")
COUNT_REMOVAL = load("write/count_removal")
CREATE_API_KEY = load("write/create_api_key")
CREATE_CONVERSATION = load("write/create_conversation")
DELETE_CONVERSATION = load("write/delete_conversation")
DELETE_MOVES = load("write/delete_moves")
DELETE_NODES = load("write/delete_nodes")
DISMISS = load("write/dismiss")
END_API_KEY = load("write/end_api_key")
EVICT_TOOL_RESULTS = load("write/evict_tool_results")
FORK = load("write/fork")
GIVE_FEEDBACK = load("write/give_feedback")
HAND_OVER = load("write/hand_over")
IMPORT_BLOBS = load("write/import_blobs")
IMPORT_CONVERSATIONS = load("write/import_conversations")
IMPORT_CURSORS = load("write/import_cursors")
IMPORT_NODES = load("write/import_nodes")
IMPORT_ROOTS = load("write/import_roots")
IMPORT_SETTINGS = load("write/import_settings")
IMPORT_USES = load("write/import_uses")
MARK_DELETING = load("write/mark_deleting")
MARK_RESTORE = load("write/mark_restore")
MARK_SETTINGS = load("write/mark_settings")
MOVE_CURSOR = load("write/move_cursor")
PROPOSE_EFFECT = load("write/propose_effect")
RECORD_CALL = load("write/record_call")
RECORD_MIGRATION = load("write/record_migration")
RELEASE_RESTORED = load("write/release_restored")
REMOVE_LABEL = load("write/remove_label")
REMOVE_SUMMARY = load("write/remove_summary")
RENEW_TURN = load("write/renew_turn")
RESTORE = load("write/restore")
RESTORE_LINKS = load("write/restore_links")
RESTORE_THINGS = load("write/restore_things")
SAVE_PARTIAL = load("write/save_partial")
RULE_TOOL = load("write/rule_tool")
SETTLE_CALL = load("write/settle_call")
SETTLE_LOST_TURN = load("write/settle_lost_turn")
SWEEP_REQUESTS = load("write/sweep_requests")
SWEEP_SETTINGS = load("write/sweep_settings")
TOMBSTONE = load("write/tombstone")
UNMARK_DELETING = load("write/unmark_deleting")
UNMARK_RESTORE = load("write/unmark_restore")
USE_API_KEY = load("write/use_api_key")
WITHDRAW_FEEDBACK = load("write/withdraw_feedback")
WRITE_STATE = load("write/write_state")
