"""The query files; ``graphstore.queries`` loads them."""
