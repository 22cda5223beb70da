"""The phrases that a decision chooses, such as "At least {limit}.": the names that `phrases.j2` sets.

A user's file of that name replaces single phrases and inherits the others. A phrase is plain text with `{field}`s, for
people who change a word or translate. The phrases in use are a context, as the language of a program is, and so are the
results that depend on them (`once`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from functools import cache, wraps
from string import Formatter
from typing import TYPE_CHECKING, Any, TypeVar

from skillgen.errors import UsageError
from skillgen.text.markdown import Markdown

if TYPE_CHECKING:
    from skillgen.render.environment import Templates

PHRASES_TEMPLATE = "phrases.j2"

_Phrases = Mapping[str, Any]
"""Name to a text, to a pair of texts (for one thing, for several), or to a mapping of decisions to texts."""


def phrase(name: str, /, count: object = None, **fields: object) -> Markdown:
    """Returns a phrase of `phrases.j2` with its fields filled in; `count` chooses from a pair, the first for 1."""
    text = (_IN_USE.get() or _builtin_phrases())[name]
    if type(text) is tuple:
        text = text[count != 1]
    return Markdown(text.format(**fields)) if fields else text


def plain_phrase(name: str, /, count: object = None, **fields: object) -> str:
    """Returns a phrase with a source's own words as plain text, which is not safe Markdown yet."""
    return str(phrase(name, count, **fields))


def phrases(name: str) -> Mapping[str, str]:
    """Returns the phrases for each value of a decision."""
    found: Mapping[str, str] = (_IN_USE.get() or _builtin_phrases())[name]
    return found


_IN_USE: ContextVar[_Phrases | None] = ContextVar("phrases", default=None)
_TABLES: ContextVar[Mapping[object, dict[Any, Any]] | None] = ContextVar("tables", default=None)

_Result = TypeVar("_Result")
_Node = TypeVar("_Node")


def once(function: Callable[[_Node], _Result]) -> Callable[[_Node], _Result]:
    """Makes a function compute its result for a service, or a part of it, once, as long as its documents are rendered.

    The part is known by its identity: to hash it takes longer than most results.
    """

    @wraps(function)
    def result(node: _Node) -> _Result:
        return of_rendering(function, node, function)

    return result


def of_rendering(key: object, node: _Node, compute: Callable[[_Node], _Result]) -> _Result:
    """Returns what was computed for a node of the model in this rendering; the node is known by its identity."""
    results = table(key)
    found: tuple[_Node, _Result] | None = results.get(id(node))
    if found is None:
        found = results[id(node)] = node, compute(node)
    return found[1]


def table(key: object) -> dict[Any, Any]:
    """Returns a table of this rendering, which is empty at first; outside of one, an empty one each time."""
    tables = _TABLES.get()
    return tables[key] if tables is not None else {}


FEW = 3
"""Tools that are too few to say once what fewer of them have in common."""


def usual_number(tools: int) -> float:
    """Returns how many of some tools must have something in the same words before it is said once."""
    return max(FEW, 0.8 * tools)


@contextmanager
def phrases_of(templates: Templates) -> Iterator[None]:
    """Uses the phrases of these templates, for one rendering.

    Raises:
        UsageError: the user's phrases have an error.
    """
    token = _IN_USE.set(_builtin_phrases() if templates.is_builtin(PHRASES_TEMPLATE) else _with_users(templates))
    tables = _TABLES.set(defaultdict(dict))
    try:
        yield
    finally:
        _IN_USE.reset(token)
        _TABLES.reset(tables)


@cache
def _builtin_phrases() -> _Phrases:
    from skillgen.render.environment import Templates

    return _as_markdown(Templates({}, {}).names_set_in(PHRASES_TEMPLATE))


def _as_markdown(table: _Phrases) -> _Phrases:
    return {name: Markdown(item) if isinstance(item, str) else item for name, item in table.items()}


def _with_users(templates: Templates) -> _Phrases:
    """Returns the built-in phrases, replaced by those of a user."""
    table = dict(_builtin_phrases())
    for name, item in _as_markdown(templates.names_set_in(PHRASES_TEMPLATE)).items():
        known = table.get(name)
        if known is None:
            close = get_close_matches(name, table, n=1)
            fix = f"did you mean {close[0]}?" if close else "correct its name"
            raise _problem(f"there is no phrase {name!r}", fix)
        if isinstance(known, Mapping) and isinstance(item, Mapping):
            item = {**known, **item}
        elif type(item) is not type(known) or (isinstance(item, tuple) and len(item) != len(known)):
            kind = "a text" if isinstance(known, str) else f"like {known!r}"
            raise _problem(f"the phrase {name!r} is not {kind}", "write it like the built-in one")
        if unknown := _fields(item) - _fields(known):
            fix = f"use {', '.join(sorted(_fields(known))) or 'none'}"
            raise _problem(f"the phrase {name!r} has no field {', '.join(sorted(unknown))}", fix)
        table[name] = item
    return table


def _fields(item: Any) -> set[str]:
    """Returns the fields of a phrase; one with an attribute or a format is itself no known field."""
    if not isinstance(item, str):
        return set().union(*map(_fields, item.values() if isinstance(item, Mapping) else item))
    try:
        parts = [part for part in Formatter().parse(item) if part[1] is not None]
        return {f"{name}{'!' + how if how else ''}{':' + spec if spec else ''}" for _, name, spec, how in parts}
    except ValueError as error:
        raise _problem(f"a phrase has a brace that does not match: {error}", "write {{ or }} for a brace") from None


def _problem(reason: str, fix: str) -> UsageError:
    return UsageError(f"the template cannot be rendered: {reason}", where=f"template {PHRASES_TEMPLATE}", fix=fix)
