"""Splits names and paths into words, recognises verbs and nouns, and forms singulars and plurals.

A name is expected to be an optional common prefix, a verb and a noun; nothing here knows a particular service.
Compounds that the descriptions write as one word stay one: `hosting_installWordPressV1` is about WordPress, not about
words, if the descriptions write "WordPress".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain

from skillgen.model.tool import Tool
from skillgen.text import lazy_re as re


def word_set(words: str) -> frozenset[str]:
    """Returns the words of a multi-line string."""
    return frozenset(words.split())


_ALL_VERBS = word_set(
    """
    abort accept acknowledge activate add adjust allocate allow analyse analyze append apply approve archive assign
    associate attach authorize autocomplete ban begin block book boot broadcast browse build buy calculate call
    cancel capture change charge check claim cleanup clear click clone close comment commit compare complete compute
    configure confirm connect continue convert copy count create deactivate decline decode decommission decrement
    define delete deny deploy deprecate deprovision deregister describe destroy detach detect dial disable
    disassociate discard disconnect discover dismiss donate download draft drop duplicate edit email enable encode
    end enroll enter erase estimate evaluate evict exchange execute exist exit expire explain export extend extract
    fax fetch filter find finish flush follow forecast fork format forward generate geocode get grant hide import
    increment indicate infer init initialize initiate insert inspect install instantiate invalidate invite invoke
    issue join kick kill launch leave license like link list load lock log logout lookup make manage mark merge
    message migrate modify mount move mute notify nuke obtain open order overwrite parse patch pause pay perform
    persist ping place post predict prepare press preview prioritize process promote provision prune publish pull
    purchase purge push put query reactivate read rebase reboot rebuild receive recommend record redact redeem
    refresh refund regenerate register reindex reject release reload remind remove rename render renew reopen
    reorder replace reply report request resend reserve reset resize resolve restart restore resume retrain retrieve
    retry return revert review revoke rollback rotate run sample save scan schedule search select send set share
    show shred shutdown sign simulate sms snooze solve sort spend split stage star start stop store submit subscribe
    suggest summarize suppress suspend swap switch sync synchronize tag tail take terminate test toggle track train
    transfer translate trash trigger truncate tweet unarchive unassign unblock undelete undeploy undo unfollow
    uninstall unlink unlock unmute unpublish unregister unstar unsubscribe unsuspend update upgrade upload upsert
    use validate verify view void vote wait watch wipe withdraw write
    """
)

_NOUNS_IN_NAMES = word_set(
    """
    block boot broadcast charge comment continue dial donate email end enter estimate exchange exit fax forecast
    forward issue license like log message mount place press purchase refund remind report reserve return sample
    sign sms spend stage suppress swap switch tail train trash tweet void vote
    """
)
"""Verbs that are nouns in most names: `list_issue` is about issues."""

_VERBS = _ALL_VERBS - _NOUNS_IN_NAMES

PLAIN_VERBS = word_set(
    """
    add create delete edit fetch find get insert list read remove retrieve search set update upsert view write
    """
)
"""Verbs that are hardly ever nouns, so that `order.list` is about an order."""

_ALSO_NOUNS = frozenset({"book", "order", "record", "release", "request", "review", "schedule"})
"""Verbs that are nouns at the end of a name: `rate_book` is about a book."""

CONJUNCTIONS = frozenset({"and", "or"})
STOP_WORDS = word_set(
    """
    a all an and any api are as at batch be bulk by current for from given if in is it its many me multiple my new not
    of on or single that the this to via when which with
    """
)
WORD = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^\W\d_A-Za-z]+")


_PHRASES = frozenset(
    (
        *("bill of materials", "do not disturb", "end of life", "letter of credit", "many to many", "one to many"),
        *("one to one", "point in time", "point of sale"),
        *(
            "proof of delivery",
            "quality of service",
            "terms of service",
            "terms of use",
            "time to live",
            "work in progress",
        ),
    )
)
"""Nouns of three words of which the second would end a noun."""


@lru_cache(1 << 13)
def words_of(name: str) -> tuple[str, ...]:
    """Returns the words of a name in lower case, without numbers: `getPullRequest2` has `get`, `pull`, `request`.

    A noun such as "time to live" is one word.
    """
    words = [word.lower() for word in WORD.findall(name)]
    if len(words) > 2:
        for index in range(len(words) - 2, 0, -1):
            if " ".join(words[index - 1 : index + 2]) in _PHRASES:
                words[index - 1 : index + 2] = [" ".join(words[index - 1 : index + 2])]
    return tuple(words)


def nouns_of(name: str) -> tuple[str, ...]:
    """Returns the words that a name is about, in the singular: `list_issue_comments` has `issue` and `comment`.

    Only the first verb, and verbs joined to it by a conjunction, are verbs: `get_pull_request` is about a pull request.
    """
    words = words_of(name)
    verb = verb_of(name)
    first = words.index(verb) if verb else None
    if verb in _ALSO_NOUNS and 0 < words.index(verb) == len(words) - 1:
        first = None
    nouns: list[str] = []
    for number, word in enumerate(words):
        is_verb = number == first or (word in _VERBS and number > 0 and words[number - 1] in CONJUNCTIONS)
        if not is_verb and word not in STOP_WORDS and word not in CONJUNCTIONS and len(word) > 1:
            nouns.append(singular(word))
    return tuple(dict.fromkeys(nouns))


def verb_of(name: str) -> str:
    """Returns the verb of a name; empty without one."""
    words = words_of(name)
    verbs = [word for word in words if is_verb(word)]
    if words and words[0] in verbs and words[0] not in _VERBS:
        return words[0]
    return next((word for word in verbs if word in PLAIN_VERBS), verbs[0] if verbs else "")


def is_verb(word: str) -> bool:
    """True for a verb, also with the prefix `un` or `re`: `unapprove`, `reassign`."""
    return word in _VERBS or (word.startswith(("un", "re")) and word[2:] in _VERBS)


_IRREGULAR: dict[str, str] = {
    many: one
    for many, _, one in (
        pair.partition(":")
        for pair in word_set(
            """
            people:person children:child men:man women:woman mice:mouse geese:goose feet:foot teeth:tooth oxen:ox
            indices:index vertices:vertex matrices:matrix appendices:appendix criteria:criterion phenomena:phenomenon
            curricula:curriculum memoranda:memorandum
            analyses:analysis crises:crisis theses:thesis hypotheses:hypothesis diagnoses:diagnosis synopses:synopsis
            parentheses:parenthesis axes:axis oases:oasis synapses:synapse
            leaves:leaf shelves:shelf wolves:wolf halves:half calves:calf loaves:loaf thieves:thief
            elves:elf selves:self lives:life knives:knife wives:wife hooves:hoof scarves:scarf
            aliases:alias biases:bias atlases:atlas canvases:canvas gases:gas lenses:lens irises:iris
            pancreases:pancreas quizzes:quiz waltzes:waltz heroes:hero potatoes:potato tomatoes:tomato echoes:echo
            vetoes:veto cargoes:cargo torpedoes:torpedo mosquitoes:mosquito tornadoes:tornado
            volcanoes:volcano embargoes:embargo
            """
        )
    )
}
"""Irregular plurals."""

_PLURAL = {one: many for many, one in _IRREGULAR.items() if not many.endswith("ices")}

_SAME = word_set(
    """
    alias analytics apis atlas bias canvas chaos cors data diabetes economics equipment feedback headquarters https
    information jenkins kubernetes kudos lens logistics mathematics mechanics media metadata news pancreas physics
    politics postgres series species
    """
)
"""Words that are no plurals although they end in -s, and words without a plural."""

_WITH_E = word_set(
    """
    ache avalanche backache cache cliche creche earache headache heartache moustache niche pastiche psyche quiche
    stomachache toothache
    auntie birdie bookie boogie brownie calorie collie cookie coterie die foodie freebie genie goalie hoodie indie
    junkie lie lingerie menagerie movie necktie newbie pie pixie prairie reverie rookie selfie smoothie sortie
    tie townie underlie untie veggie walkie zombie
    abuse excuse fuse muse recluse refuse ruse use reuse disuse
    axe deluxe
    """
)
"""Words whose plural only adds an -s to an -e: from the ending alone they would lose it."""


@lru_cache(1 << 13)
def singular(word: str) -> str:
    """Returns the singular of a noun, by its ending and a table of exceptions."""
    if word in _SAME or len(word) < 4 or not (word.endswith("s") or word in _IRREGULAR):
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word[:-1] in _WITH_E:
        return word[:-1]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes")) or (word.endswith("uses") and word[-5] not in "ao"):
        return word[:-2]
    return word if word.endswith(("ss", "us", "is")) else word[:-1]


def plural(words: str) -> str:
    """Returns the plural of a noun phrase: "pull requests" for "pull request"."""
    start, space, last = words.rpartition(" ")
    if words in _PHRASES:
        return words
    if last in _PLURAL:
        return f"{start}{space}{_PLURAL[last]}"
    if last in _SAME:
        return words
    if words.endswith("y") and words[-2:-1] not in "aeiou":
        return words[:-1] + "ies"
    return words + ("es" if words.endswith(("s", "x", "sh", "ch", "z")) else "s")


_NO_WORD_CHARACTER = re.compile(r"\W")
FORMAT_IN_PATH = re.compile(r"\.(?:json|xml)\Z")


def path_segments(path: str) -> tuple[str, ...]:
    """Returns the static segments of a path, without parameters, the name of a format (`/orders.json`), and
    `#Action=Name`, which only names an action."""
    parts = (FORMAT_IN_PATH.sub("", part.partition(".{")[0]) for part in path.split("/"))
    return tuple(part for part in parts if part and "{" not in part and not part.startswith("#"))


def without_request(name: str, method: str | None, path: str | None) -> str:
    """Returns a name without its HTTP method: `ListUsers` for `GET_ListUsers`; without its path if two words remain.

    FastAPI adds both to the name of a function: `read_user_users__id__get` is `read_user` at `/users/{id}`.
    """
    if not method:
        return name
    own = name.removesuffix(f"{_NO_WORD_CHARACTER.sub('_', path)}_{method.lower()}") if path else name
    if own != name and len(words_of(own)) > 1:
        return own
    return name[len(method) + 1 :] or name if name.lower().startswith(f"{method.lower()}_") else name


_TEXT_LIMIT = 300
"""Characters of a description that are searched for compounds."""

_PARTS_LIMIT = 4
"""Parts of a compound; a longer one is a phrase."""

_PART = re.compile(r"[A-Z][a-z]+")
_WRITTEN_AS_ONE = re.compile(rf"\b{_PART.pattern}(?:{_PART.pattern}){{1,{_PARTS_LIMIT - 1}}}\b")
_PARTS_TOGETHER = re.compile(rf"{_PART.pattern}(?:{_PART.pattern})+")
_SPACED = re.compile(r"(?<!\w)\w+(?: \w+)+")
_VERSION_END = re.compile(r"_?[vV]\d+$")
_MAX_VERSIONED_SHARE = 0.5
"""If more of the names than this share end with a version, it is removed from them."""


def readable_names(tools: Sequence[Tool]) -> dict[str, str]:
    """Returns the name of each tool without method, path and version, and with compounds joined.

    Tools with paths are grouped by path and hardly ever by name, so their names are not searched for compounds.
    """
    names = {tool.name: without_request(tool.name, tool.method, tool.path) for tool in tools}
    if all(tool.path for tool in tools):
        return names
    versioned = sum(bool(_VERSION_END.search(name)) for name in names.values())
    if versioned > _MAX_VERSIONED_SHARE * len(names):
        names = {name: _VERSION_END.sub("", text) or text for name, text in names.items()}
    words = compound_words(tools, names.values())
    return {name: join_compounds(text, words) for name, text in names.items()} if words else names


def compound_words(tools: Sequence[Tool], phrases: Iterable[str]) -> dict[str, str]:
    """Returns the compounds (`WordPress`) in phrases and in the texts of tools, by their lower-case form.

    The parts of a compound occur nowhere else in the phrases; otherwise it is two words: `DriveItem` is an item of a
    drive.
    """
    texts = "\n".join(text for tool in tools for text in _texts(tool))
    counts = Counter(_WRITTEN_AS_ONE.findall(texts))
    words = {tuple(WORD.findall(word)): word for word in counts}
    surfaces = [WORD.findall(phrase) for phrase in phrases]
    apart = Counter(singular(word.lower()) for word in chain.from_iterable(surfaces))
    places = Counter(run for surface in surfaces for run in _runs(surface, with_singular=True) if run in words)
    alone = {
        tuple(part.lower() for part in parts): words[parts]
        for parts, count in places.items()
        if all(apart[singular(part.lower())] == count for part in parts)
    }
    texts = texts.lower() if alone else ""
    spaced = Counter(run for words in _SPACED.findall(texts) for run in _runs(words.split(" ")) if run in alone)
    return {word.lower(): word for parts, word in alone.items() if counts[word] >= spaced[parts]}


def join_compounds(phrase: str, words: Mapping[str, str]) -> str:
    """Returns a phrase with each of these compounds written without inner capitals, so that it is read as one word."""
    return _PARTS_TOGETHER.sub(lambda match: _joined(_PART.findall(match[0]), words), phrase) if words else phrase


def _joined(parts: Sequence[str], words: Mapping[str, str]) -> str:
    joined, at = "", 0
    while at < len(parts):
        sizes = range(min(_PARTS_LIMIT, len(parts) - at), 1, -1)
        size = next((size for size in sizes if _is_compound("".join(parts[at : at + size]).lower(), words)), 1)
        joined += "".join(parts[at : at + size]).capitalize()
        at += size
    return joined


def _is_compound(word: str, words: Mapping[str, str]) -> bool:
    return word in words or singular(word) in words


def _runs(parts: Sequence[str], with_singular: bool = False) -> Iterator[tuple[str, ...]]:
    """Yields each sequence of two or more adjacent parts; with `with_singular`, also with its last part in the
    singular."""
    for start in range(len(parts) - 1):
        for end in range(start + 2, min(start + _PARTS_LIMIT, len(parts)) + 1):
            run = tuple(parts[start:end])
            yield run
            last = singular(run[-1].lower()).capitalize()
            if with_singular and run[-1] == run[-1].capitalize() != last:
                yield (*run[:-1], last)


def _texts(tool: Tool) -> Iterable[str]:
    return (text for text in (tool.title, tool.summary, (tool.description or "")[:_TEXT_LIMIT]) if text)
