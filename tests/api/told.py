"""What the service's tests tell about."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Story:
    """A conversation whose first answer was regenerated; the cursor is at ``again``."""

    id: str
    first: str
    again: str
