"""What every projection may say: that something has no form in its target."""

from __future__ import annotations


class NotExpressible(Exception):
    """Something in a context or an answer has no form in the target; the message names it."""
