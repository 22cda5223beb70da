"""Splits names and paths into words, and forms singulars and plurals."""

from __future__ import annotations

from functools import lru_cache

from skillgen.text import lazy_re as re


def word_set(words: str) -> frozenset[str]:
    """Returns the words of a multi-line string."""
    return frozenset(words.split())


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
