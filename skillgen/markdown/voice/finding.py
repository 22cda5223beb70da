"""Finds the texts that address the model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from skillgen.markdown.credentials import without_placeholders
from skillgen.markdown.voice.coding import SENTENCE_END, bits_of, coded, sentences_of
from skillgen.markdown.voice.disguises import SHORTEST_CODE, hidden_in, is_plain, shown
from skillgen.markdown.voice.rule import Rule
from skillgen.markdown.voice.rules import RULES
from skillgen.markdown.voice.suspects import (
    is_foreign,
    is_too_short,
    may_be_broken,
    may_be_disguised,
    may_have_shape,
    may_have_sign,
    may_name_a_file,
    strange_words,
    words_of,
    words_of_each,
)

LOOKED_AT = 1_000_000
"""Characters of one text that are looked at; beyond them it is no description any more, and is cut off."""

_FILES = re.compile(
    r"(?<!\w)\.ssh\b(?!.{0,40}\.pub)|\bid_(?:rsa|dsa|ed25519|ecdsa)\b(?!\.pub)"
    r"|(?<![\w.])/?etc/(?:passwd|shadow|sudoers|hosts)\b"
    r"|(?<![\w/])\.(?:aws|env|cursor|claude|git-credentials|gitconfig|netrc|npmrc|pypirc|kube|gnupg|docker/config|bashrc|"
    r"bash_history|zshrc|zsh_history|pgpass|config/gh|config/gcloud|azure)\b(?![-(])|(?<=~/)\.\w[\w./-]*|\bmcp\.json\b"
    r"|(?:/home/[\w.-]{1,60}|/root|/users/[\w.-]{1,60}|\$\{?home\}?|%userprofile%)[/\\]\.\w[\w./-]*"
    r"|\bclaude_desktop_config|\bwallet\.dat\b|\bcredentials\.json\b|(?<=\s)\.pem\b"
)
_AT_ONCE = 1_000
"""Texts whose words are kept at a time."""

_NO_THINGS = frozenset(" \n")
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
    found: dict[str, Rule] = {}
    waiting = [text for text in texts if not is_too_short(text)]
    for start in range(0, len(waiting), _AT_ONCE):
        for text, said in _worth_a_look(waiting[start : start + _AT_ONCE]):
            if text not in found and (rule := _rule_for(said)) is not None:
                found[text] = rule
    return found


def _worth_a_look(texts: list[str]) -> Iterator[tuple[str, str]]:
    """Gives what texts say, and what they hide, where a rule may find something in it."""
    own_words = list(map(without_placeholders, texts))  # "[hidden]" is also a form of imitation
    readings = [text.lower() if is_plain(text) else shown(text) for text in own_words]
    words_of_texts = words_of_each(readings)
    strange = strange_words(words_of_texts)
    for text, own, reading, words in zip(texts, own_words, readings, words_of_texts, strict=True):
        if len(words) < _FEWEST_WORDS and len(text) < SHORTEST_CODE and reading.isascii():
            continue
        if not reading.isascii() or may_be_broken(reading, words):
            yield text, reading
        if may_be_disguised(own, words, strange):
            for hidden in hidden_in(own):
                yield text, hidden


@lru_cache(1 << 12)
def _rule_for(reading: str) -> Rule | None:
    words = words_of(reading)
    sentences = sentences_of(_as_words(reading, words))
    if len(sentences) > 1 and not is_foreign(reading, words):
        pairs = zip(sentences, words_of_each(sentences), strict=True)
        sentences = [sentence for sentence, own in pairs if may_have_shape(sentence, own)]
    row = SENTENCE_END.join(map(coded, sentences))
    things = bits_of(set(row) - _NO_THINGS)
    has_sign = may_have_sign(reading, words)
    return next((rule for rule in RULES if rule.finds(reading, row, things, has_sign=has_sign)), None)


def _as_words(text: str, words: list[str]) -> str:
    """Gives a text whose addresses and files are words."""
    if may_name_a_file(text, words):
        text = _FILES.sub(" sensitivefile ", text)
    if "@" in text:
        text = _ADDRESS.sub(" somemail ", text)
    if "://" in text:
        text = _URL.sub(" someurl ", text)
    return text.translate(_DELETED)
