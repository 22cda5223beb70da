"""Finds the texts that address the model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from skillgen.markdown.voice.coding import coded
from skillgen.markdown.voice.disguises import SHORTEST_CODE, hidden_in, is_plain, shown
from skillgen.markdown.voice.rules import RULES, Rule
from skillgen.markdown.voice.suspects import (
    FILE_STEMS,
    is_too_short,
    may_be_broken,
    may_be_disguised,
    words_of,
)

LOOKED_AT = 1_000_000
"""Characters of one text that are looked at; beyond them it is no description any more, and is cut off."""

_FILES = re.compile(
    r"(?<!\w)\.ssh\b(?!.{0,40}\.pub)|\bid_(?:rsa|dsa|ed25519|ecdsa)\b(?!\.pub)"
    r"|(?<![\w.])/?etc/(?:passwd|shadow|sudoers|hosts)\b"
    r"|(?<![\w/])\.(?:aws|env|cursor|claude|git-credentials|gitconfig|netrc|npmrc|pypirc|kube|gnupg|docker/config|bashrc|"
    r"bash_history|zshrc|zsh_history|pgpass|config/gh|config/gcloud|azure)\b(?![-(])|(?<=~/)\.\w[\w./-]*|\bmcp\.json\b"
    r"|\bclaude_desktop_config|\bwallet\.dat\b|\bauthorized_keys\b|\bcredentials\.json\b|(?<=\s)\.pem\b"
)
_FEWEST_WORDS = 3
"""Words of an order in an alphabet."""

_ADDRESS = re.compile(r"[\w.+-]{1,60}@[\w-]{1,60}\.\w+")
_URL = re.compile(r"https?://[^\s<>\"')]+")
_DELETED = str.maketrans(dict.fromkeys("'’‘*`\"“”~", None))


def rule_broken_by(text: str) -> Rule | None:
    """Gives the first rule by which a text addresses the model; none where it describes."""
    return addressing((text[:LOOKED_AT],)).get(text[:LOOKED_AT])


def addressing(texts: Iterable[str]) -> dict[str, Rule]:
    """Gives those texts that address the model, each with the first rule by which it does."""
    found = {}
    for text in texts:
        if is_too_short(text):
            continue
        for said in _worth_a_look(text):
            if (rule := _rule_for(said)) is not None:
                found[text] = rule
                break
    return found


def _worth_a_look(text: str) -> Iterator[str]:
    """Gives what a text says, and what it hides, where a rule may find something in it."""
    reading = text.lower() if is_plain(text) else shown(text)
    words = words_of(reading)
    if len(words) < _FEWEST_WORDS and len(text) < SHORTEST_CODE and reading.isascii():
        return
    if not reading.isascii() or may_be_broken(reading, words):
        yield reading
    if may_be_disguised(text, words):
        yield from hidden_in(text)


@lru_cache(1 << 12)
def _rule_for(reading: str) -> Rule | None:
    row = coded(_as_words(reading))
    things = frozenset(row)
    return next((rule for rule in RULES if rule.finds(reading, row, things)), None)


def _as_words(text: str) -> str:
    """Gives a text whose addresses and files are words."""
    if any(stem in text for stem in FILE_STEMS):
        text = _FILES.sub(" sensitivefile ", text)
    if "@" in text:
        text = _ADDRESS.sub(" somemail ", text)
    if "://" in text:
        text = _URL.sub(" someurl ", text)
    return text.translate(_DELETED)
