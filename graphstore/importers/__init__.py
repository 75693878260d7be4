"""Read other programs' conversations: bytes in, conversations of calls out; no database.

``read`` streams a file, gzip file, zip or folder, one conversation at a time, recognising the format by content.
"""

from __future__ import annotations

from graphstore.importers.reading import FORMATS, detect, read
from graphstore.importers.records import ImportedCall, ImportedConversation, Items, Report, no_reply_key

__all__ = [
    "FORMATS",
    "ImportedCall",
    "ImportedConversation",
    "Items",
    "Report",
    "detect",
    "no_reply_key",
    "read",
]
