"""A title for a conversation whose source gives it none: its first question, on one line, cut at a word. Pure."""

from __future__ import annotations

from graphstore.importers.fields import array, mapping, text
from graphstore.importers.records import ImportedConversation, Items

LONGEST = 60
"""Characters of a title made here, the mark of the cut included."""

_CUT = "…"


def titled(conversation: ImportedConversation) -> ImportedConversation:
    """The same conversation, with a title unless it has no question with words in it either."""
    if not (conversation.title or "").strip():
        said = (words for call in conversation.calls if (words := _question(call.sent)))
        conversation.title = shortened(next(said, "")) or conversation.title
    return conversation


def shortened(words: str) -> str:
    """``words`` on one line, at most ``LONGEST`` characters, cut behind a word where there is one to cut behind."""
    line = " ".join(words[: 20 * LONGEST].split())
    if len(line) <= LONGEST:
        return line
    room = LONGEST - len(_CUT)
    end = line.rfind(" ", 0, room + 1)
    return line[: end if end > 0 else room].rstrip() + _CUT


def _question(sent: Items) -> str:
    for item in sent:
        if item.get("type") == "message" and item.get("role") == "user":
            content = item.get("content")
            parts = [content] if isinstance(content, str) else [mapping(part).get("text") for part in array(content)]
            if words := " ".join(text(part) or "" for part in parts).strip():
                return words
    return ""
