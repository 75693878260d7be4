"""``python -m graphstore``: the same as the command ``graphstore``."""

from __future__ import annotations

from graphstore.cli import main

if __name__ == "__main__":
    main()
