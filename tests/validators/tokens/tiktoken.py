"""Counts a token for every four bytes: the tables of tiktoken are on a host that the tests do not reach."""

from __future__ import annotations


class Encoding:
    """An encoding that only counts."""

    def encode(self, text: str) -> range:
        """Returns as many items as there are tokens."""
        return range(len(text.encode("utf-8")) // 4)


def get_encoding(_name: str) -> Encoding:
    """Returns the encoding, whichever it is."""
    return Encoding()
