"""What a service does, as the names of its tools say it: `create, list and merge pull requests; search code`.

The description of a skill says so where the source does not, and its trigger names the same nouns.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, dropwhile, islice, takewhile

from msgspec import Struct, field
from msgspec.structs import replace

from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import is_inferred
from skillgen.render.phrases import once, phrase
from skillgen.security.injection.detection import find_injections
from skillgen.text.markdown import one_line
from skillgen.text.summary import first_sentence, is_statement, list_phrase, purpose_sentence
from skillgen.text.words import (
    CONJUNCTIONS,
    PLAIN_VERBS,
    STOP_WORDS,
    effect_of_verb,
    is_verb,
    nouns_of,
    path_segments,
    plural,
    readable_names,
    singular,
    word_set,
    words_of,
)

_MANY_TOOLS = 60
"""Tools above which the nouns alone are named: with verbs, there is room for few of them."""

_MIN_CORE_VERBS = 3
"""Verbs without a noun from which they come first: a service that scrapes, searches and extracts."""

_MAX_NOUNS = 7
"""Nouns of such a service."""

_FEW_TOOLS = 3
"""Tools up to which their own summaries say what the service does."""

_WHAT_LIMIT = 200
"""Characters of what the tools do."""

_TASK_LIMIT = 50
"""Characters of a task, after which it is cut before a clause."""

_NO_TASKS = ("allow ", "request sent", "use ")
"""Starts of sentences of which the verb is not what a user asks for."""

_CLAUSE = re.compile(
    r",? (?:that|which|where|when|using|based|including|such|if|so|as well|in order)\b|[,;:.] | \(| [-–—] "
    r"|,? (?:and|or) (?:then |optionally )?(?P<verb>[a-z]+)"
)
"""Where a task can end: before a clause, or what else a tool does."""

_VERBS_OF_TEXTS = frozenset({"crawl", "scrape"})
"""Verbs that names use as nouns."""

_PLACE = re.compile(r" (?:for|from|in|into|on|to|with|by|at|via|across|within)\b")
"""Where a long task can end."""

_ALLOWS = re.compile(r"(?:allow|enable|let)s? (?:you|users|the user|customers|clients) (?:to )?", re.IGNORECASE)

_OTHER_VERBS = re.compile(r"(?:, ?(?P<next>\w+))*,? (?:and|or|&) (?P<last>\w+) ")
"""Other verbs before what all are about: "Updates or creates one or more orders"."""

_NEEDLESS = re.compile(r"\b(?:an?|the) (?:new|existing|specific|specified|given|particular) (?!or\b)(?=\w)")
"""An article with a word that goes without saying."""

_ADJECTIVE = r"(?:[\w-]+ )?"
_AFTER = r"(?=\W*\Z|[.,;:)\n]|\s\n|\s(?:and|as|at|by|for|from|in|into|of|on|or|that|to|using|which|with)\b)"
"""What follows a complete noun: `a page of` names a page, `a page size` does not."""

_ABBREVIATION = re.compile(r"(?<![\w`{/.-])[A-Z]{3,5}(?![\w/-])")
_OF_ANY_SERVICE = word_set("api csv html http https id iso json pdf rfc url uri utc uuid xml yaml")
"""Abbreviations of any service, in lower case."""

ABBREVIATIONS = _OF_ANY_SERVICE | word_set("dns ip sms sql ssl")

_LONGEST_ABBREVIATION = 6
"""Characters: `SPARQL`."""

_GENERAL_END = re.compile(r"(?:\s(?:v\d{1,4}|apis?|controllers?|endpoints?)){1,4}\Z")
"""The end of a group's title that says nothing of what the group is about."""

_ABBREVIATED = 3
"""Times that a tool says an abbreviation that users say too."""

_MAX_ABBREVIATIONS = 2

_MAX_TEXTS = 200
"""Texts of tools in which nouns are searched."""

_MAX_SUBJECTS = 40
"""Nouns that are searched in the texts of the tools."""

_MAX_SHARED_VERBS = 4
"""Nouns with the same verbs that are named together."""

_MAX_VERBS = 5
"""Verbs of a noun."""

_MAX_GROUP_VERBS = 4
"""Verbs of what a group is about."""

_MAX_GROUP_NOUNS = 20
"""Groups of a large service whose nouns have verbs."""

_MIN_VERBS = 2
"""Verbs of such a noun that change something."""

_MIN_NOUNS = 3
"""Nouns with verbs from which these say what a large service does."""

_MAX_OBJECT_WORDS = 3
"""Words of what a text says something is done with; more are a description."""

_SUMMARY_LENGTH = 300
"""Characters of a description in which a noun is searched."""

_COMPOUND_SHARE = 0.8
"""Share of a noun's occurrences after the same word from which they are a compound: "knowledge graph"."""

_END = word_set(
    """
    about across after against and as at based before belonging between by containing corresponding during for from
    given in inside into matching of on onto or over per related starting that through to under using via when where
    which with within without
    """
)
"""Words after which a name says how or where, and no longer what."""

_EMPTY = word_set(
    """
    api async bulk controller ctrl default detail details general global id info information latest me method
    misc miscellaneous my operation other public rest root status v
    """
)
"""Nouns that fit any service, so that they describe none."""

_VAGUE = _EMPTY | word_set("action data endpoint function item json list object resource result service type version")
"""The same, with nouns that describe a service if several tools do different things with them."""

_WRAPPERS = word_set("collection detail information instance metadata object resource")
"""Nouns after the noun that says what is meant: "a customer object"."""

_PARTICIPLES = word_set(
    """
    authenticated available basic complete configured created current detailed existing following full given multiple
    new one particular previously provided requested single specific specified your
    """
)
"""Words before any noun."""

_SAME_VERB = {"patch": "update", "put": "update", "lookup": "look up"}

_VERBS_OF_METHODS = {
    "GET": ("list", "get"),
    "POST": ("create", "update"),
    "PUT": ("update", "update"),
    "PATCH": ("update", "update"),
    "DELETE": ("delete", "delete"),
}
"""What a request does by its method, to a collection and to one thing in it."""

_METHODS = frozenset(map(str.lower, _VERBS_OF_METHODS))

_GETS = ("get", "read", "fetch", "retrieve", "describe", "show", "view")
"""Verbs that go without saying of what is listed or searched."""

_COUNTABLE = frozenset({"add", "create", "delete", "insert", "remove"})
"""Verbs with an object that is one of several."""

_LISTS = frozenset({"list", "search", "find", "query", "browse"})


class Subject(Struct):
    """What tools are about, and what they do with it."""

    words: tuple[str, ...]
    """The noun, word by word."""

    verbs: dict[str, None] = field(default_factory=dict)
    """What tools do with it."""

    count: int = 0
    """The tools that are about it or about a part of it."""

    @property
    def is_varied(self) -> bool:
        """True if several tools do different things with it."""
        return self.count > 1 and len(_shown_verbs(self.verbs)) > 1


class Subjects:
    """What the tools of a service are about, and do, by their names."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._plurals: dict[str, str] = {}

    @cached_property
    def _names(self) -> frozenset[str]:
        """The words of the service's name, which go without saying."""
        name = f"{self._service.title or ''} {self._service.name}"
        return frozenset((*words_of(name), *re.findall(r"[^\W_]+", name.lower())))

    @cached_property
    def _texts(self) -> str:
        texts = (tool.summary or (tool.description or "")[:_SUMMARY_LENGTH] for tool in self._service.tools)
        return " \n ".join(re.sub(r"\s+", " ", text) for text in islice(texts, _MAX_TEXTS))

    @cached_property
    def _lower(self) -> str:
        return self._texts.lower()

    @cached_property
    def _all(self) -> list[Subject]:
        """What the tools are about, most of them first; a part counts for its whole."""
        found: dict[tuple[str, ...], Subject] = {}
        for _, verbs, noun in self._actions:
            words = self._without_unsaid(noun)
            self._plurals.update({one: word for word in words[-1:] if (one := singular(word)) != word})
            key = (*words[:-1], singular(words[-1])) if words else ()
            subject = found.setdefault(key, Subject(key))
            subject.count += 1
            subject.verbs.update(dict.fromkeys(verbs))
        found.pop((), None)
        is_server = self._service.kind == "mcp"
        for key in [key for key in found if is_server and key[0] in self._names and key[1:]]:
            part = found.pop(key)
            rest = found.setdefault(key[1:], Subject(key[1:]))
            rest.count += part.count
            rest.verbs.update(part.verbs)
        for key in sorted(found, key=len, reverse=True):
            starts = ((*key[: size - 1], singular(key[size - 1])) for size in range(1, len(key)))
            whole = next((found[start] for start in starts if start in found), None)
            if whole is not None and whole.count >= found[key].count:
                whole.count += found.pop(key).count
        is_small = len(self._service.tools) <= _MANY_TOOLS
        named = (
            subject
            for subject in found.values()
            if not (_EMPTY if is_small and subject.is_varied else _VAGUE).issuperset(subject.words)
            and not _PARTICIPLE.search(subject.words[-1])
            and not self._is_feedback(subject.words)
            and not (self._service.kind == "cli" and is_verb(subject.words[-1]))
        )
        return sorted(named, key=lambda subject: -subject.count)[:_MAX_SUBJECTS]

    def _is_feedback(self, noun: Sequence[str]) -> bool:
        """True for what people tell the author of an MCP server about it."""
        return self._service.kind == "mcp" and "feedback" in noun

    @cached_property
    def _said(self) -> frozenset[str]:
        """The words of an API's texts and groups in the singular; empty without texts or with too many."""
        tools = self._service.tools if self._service.kind == "openapi" else ()
        is_read = 0 < len(tools) <= _MAX_TEXTS and all(tool.summary or tool.description for tool in tools)
        groups = " ".join(f"{group.title} {group.description or ''}" for group in self._service.groups)
        return frozenset(map(singular, words_of(f"{self._texts} {groups}"))) if is_read else frozenset()

    def _without_unsaid(self, noun: tuple[str, ...]) -> tuple[str, ...]:
        """Returns a noun from the first of its words that texts say; empty if they do not say its last one: `hscer` is
        only an identifier."""
        if not self._said or singular("".join(noun)) in self._said:
            return noun
        said = tuple(dropwhile(lambda word: singular(word) not in self._said, noun))
        return said if said and singular(said[-1]) in self._said else ()

    @cached_property
    def _actions(self) -> list[_Action]:
        product = self._names if self._service.kind == "mcp" else frozenset()
        return _actions(self._service.tools, product, has_products=bool(self.products))

    @cached_property
    def products(self) -> list[str]:
        """The products of which the names of a server say one each, first: `jira_create_issue`."""
        return _products(self._service.tools) if self._service.kind == "mcp" else []

    @cached_property
    def _are_nouns_enough(self) -> bool:
        """True if there are too many tools for verbs, or most names lack one."""
        tools = self._service.tools
        if self.products:
            return False
        return len(tools) > _MANY_TOOLS or 2 * sum(bool(verbs) for _, verbs, _ in self._actions) <= len(tools)

    @cached_property
    def _nouns_of_groups(self) -> dict[str, str]:
        """The noun of each group that has one, by its name; empty if there are too few, or names say enough."""
        if not self._are_nouns_enough:
            return {}
        titles = {group.name: group.title for group in self._service.groups}
        named = {name: _in_sentence(title) for name, title in titles.items() if not title[:1].isdigit()}
        named = {
            name: noun
            for name, noun in named.items()
            if not _EMPTY.issuperset(map(singular, words_of(noun))) and " to " not in noun  # a part of a large group
        }
        return named if len(set(named.values())) > 1 else {}

    @cached_property
    def _sorted_nouns(self) -> list[str]:
        """The nouns of the groups, those of most tools first."""
        named = self._nouns_of_groups
        sizes = self._sizes(dict.fromkeys(named.values()), named)
        return _distinct(sorted(dict.fromkeys(named.values()), key=lambda noun: -sizes[noun]))

    @cached_property
    def nouns(self) -> list[str]:
        """What the tools are about, in the plural, most of them first: declared groups if the names have no verbs."""
        if self._nouns_of_groups:
            return self._sorted_nouns[:_MAX_NOUNS]
        nouns = [self._phrase(subject.words, subject.verbs) for subject in self._all[:_MAX_NOUNS]]
        is_short = 1 < len(self._service.tools) <= _FEW_TOOLS
        return _without_parts(_distinct([*nouns, *(self._shared_nouns if is_short else ())]))

    @cached_property
    def _shared_nouns(self) -> list[str]:
        """What the texts of all of few tools say after their verb, and one of them in the plural."""
        texts = [words_of(first_sentence(tool.summary or tool.description or ""))[1:] for tool in self._service.tools]
        known = {*self._names, *STOP_WORDS, *_END, *_VAGUE, *(word for item in self._all for word in item.words)}
        words = {word: singular(word) for text in texts for word in text}
        shared = (word for word, one in words.items() if all(word in text or one in text for text in texts))
        return [word for word in shared if words[word] not in (word, *known) and not is_verb(words[word])]

    def _sizes(self, nouns: Iterable[str], named: Mapping[str, str]) -> Counter[str]:
        """Returns each noun with the number of tools in its groups, or with names that have it: a recording of a call
        is about calls, too. `named` has the noun of each group."""
        words = {noun: {*map(singular, words_of(noun))} for noun in nouns}
        sizes = Counter[str]()
        for tool in self._service.tools:
            name = {*map(singular, words_of(tool.name))}
            within = [noun for noun, parts in words.items() if parts <= name]
            found = {noun for noun in within if not any(words[noun] < words[longer] for longer in within)}
            own = named.get(tool.group or "", "")
            sizes.update({own, *found})
        return sizes

    @cached_property
    def what(self) -> str:
        """What the tools do, with a capital; empty if neither their names nor their texts have verbs."""
        tools = self._service.tools
        is_only_name = all(self._names.issuperset(subject.words) for subject in self._all)
        if len(tools) <= (2 * _FEW_TOOLS if is_only_name else _FEW_TOOLS):
            tasks = [task_of(tool) for tool in tools]
            known = [task for task in tasks if task]
            if known and 2 * len(known) >= len(tools) and sum(map(len, known)) <= _WHAT_LIMIT:
                return _capitalised(listed(_distinct(known)))
            if len(tools) == 1 and (text := purpose_sentence(tools[0].description or "", tools[0].name, _WHAT_LIMIT)):
                return text
        clauses = list(self._clauses_of_groups() if self._are_nouns_enough else self._clauses())
        while len(clauses) > 1 and sum(map(len, clauses)) + 2 * len(clauses) > _WHAT_LIMIT:
            clauses.pop()
        if any(", " in clause for clause in clauses):
            return _capitalised("; ".join(clauses))
        return _capitalised(listed(clauses, has_comma=any(" and " in clause for clause in clauses)))

    @cached_property
    def tasks(self) -> list[str]:
        """What the tools do that reaches people or costs money, as a user asks for it, the shortest first."""
        sending = (task_of(tool) for tool in self._service.tools if tool.semantics.sends)
        tasks = (task for task in sending if task and len(task) <= _TASK_LIMIT and not task.startswith(_NO_TASKS))
        known: dict[tuple[str, tuple[str, ...]], str] = {}
        for task in sorted(tasks, key=len):
            verb, _, rest = task.partition(" ")
            noun = _object(rest) or (rest,)
            is_known = any(noun[-len(of) :] == of and (of != noun or by == verb) for by, of in known)
            if not is_known and not self._is_feedback(noun):
                known[verb, noun] = task
        said = [task for (_, noun), task in known.items() if noun[-1] not in _WRAPPERS] or [*known.values()]
        return _distinct(map(self._without_title_case, said))

    def _without_title_case(self, task: str) -> str:
        """Returns a task without the capital of a word that most texts write without, unless it is in a longer name."""
        words = task.split(" ")
        titled = [False, *(word.istitle() for word in words), False]
        for index, word in enumerate(words):
            if index and titled[index : index + 3] == [False, True, False]:
                uses = Counter(re.findall(rf"(?<=[a-z,] ){re.escape(word)}(?!\w)", self._texts, re.IGNORECASE))
                words[index] = word if uses[word] > uses[word.lower()] else word.lower()
        return " ".join(words)

    @cached_property
    def abbreviations(self) -> list[str]:
        """The abbreviations, such as SMS, that a tool which reaches people says three times, and not most tools."""
        counts = Counter[str]()
        for tool in self._service.tools:
            if tool.semantics.sends:
                counts.update({word: count for word, count in _abbreviations(tool).items() if count >= _ABBREVIATED})
        if not counts:
            return []
        common = Counter(word for tool in self._service.tools for word in _abbreviations(tool))
        known, number = self._names | _OF_ANY_SERVICE | STOP_WORDS, len(self._service.tools)
        named = (word for word, _ in counts.most_common() if 5 * common[word] <= number or common[word] == 1)
        return [word for word in named if word.lower() not in known][:_MAX_ABBREVIATIONS]

    def _clauses(self) -> Iterator[str]:
        """Yields what the tools do with each noun; nouns with the same verbs share a clause."""
        others = {verb for _, verbs, noun in self._actions if not noun for verb in verbs} - {*_GETS, "list"}
        is_core = len(others) >= _MIN_CORE_VERBS
        if is_core:
            yield listed(_shown_verbs(others))
        by_verbs: dict[tuple[str, ...], list[str]] = {}
        for subject in self._all:
            by_verbs.setdefault(_shown_verbs(subject.verbs), []).append(self._phrase(subject.words, subject.verbs))
        for verbs, nouns in by_verbs.items():
            nouns = _without_parts(noun for noun in nouns if noun not in verbs)
            if verbs and nouns:
                yield f"{listed(verbs[:_MAX_VERBS])} {listed(nouns[:_MAX_SHARED_VERBS])}"
        if others and not is_core and len(by_verbs) < _MIN_CORE_VERBS:
            yield listed(_shown_verbs(others))

    @cached_property
    def _said_actions(self) -> list[tuple[Tool, str, tuple[str, ...]]]:
        """What each tool does, and with what: by the texts if most have a verb, else by the names."""
        actions = []
        tasks = [task_of(tool) or "" for tool, _, _ in self._actions]
        has_texts = 2 * sum(map(bool, tasks)) > len(tasks)
        for task, (tool, verbs, noun) in zip(tasks, self._actions, strict=True):
            if has_texts:
                verb, _, rest = task.partition(" ")
                noun = _object(rest)
            else:
                verb, noun = next(iter(verbs), ""), (*noun[:-1], *map(singular, noun[-1:]))
            if verb and noun and not _VAGUE.issuperset(noun):
                actions.append((tool, verb, noun))
        return actions

    @cached_property
    def _said_verbs(self) -> dict[tuple[str, ...], Counter[str]]:
        """What is done with each noun."""
        verbs_of: dict[tuple[str, ...], Counter[str]] = {}
        for _, verb, noun in self._said_actions:
            verbs_of.setdefault(noun, Counter())[_SAME_VERB.get(verb, verb)] += 1
        return verbs_of

    def _clauses_of_groups(self) -> Iterator[str]:
        """Yields what the tools do with what the groups are about; nothing if that is known of too few."""
        by_verbs: dict[tuple[str, ...], list[str]] = {}
        heads = set[str]()
        for group_noun in self._sorted_nouns[:_MAX_GROUP_NOUNS]:
            noun, verbs = self._done_with(group_noun)
            if noun and verbs and noun[-1] not in heads:
                heads.add(noun[-1])
                by_verbs.setdefault(verbs, []).append(self._plural(noun))
        if sum(map(len, by_verbs.values())) >= _MIN_NOUNS:
            for verbs, nouns in by_verbs.items():
                yield f"{listed(verbs)} {listed(nouns[:_MAX_SHARED_VERBS])}"

    def _done_with(self, group_noun: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Returns what the texts call a group's noun, and what is done with it most: `repository` for `repos`.

        Where the texts do not name it, that is what most tools of the group are about.
        """
        groups = {name for name, noun in self._nouns_of_groups.items() if noun == group_noun}
        *before, last = words_of(group_noun) or ("",)
        exact = (*before, singular(last))
        named = {
            noun: verbs.total()
            for noun, verbs in self._said_verbs.items()
            if noun[-1] == exact[-1] or (len(exact) == 1 and _is_longer(noun, exact[0]))
        }
        own = Counter(noun for tool, _, noun in self._said_actions if tool.group in groups)
        most_of_own = {noun: count for noun, count in own.items() if 2 * count >= own.total() and count > 1}
        common = named or most_of_own
        noun = max(common, key=lambda noun: (noun == exact, common[noun], -len(noun), noun), default=())
        counts = self._said_verbs.get(noun, Counter())
        most = _without_implied(sorted(counts, key=lambda verb: (-counts[verb], verb not in PLAIN_VERBS)))
        others = [verb for verb in most if verb not in _GETS]
        shown = others if len(others) >= _MAX_GROUP_VERBS - 1 else most
        return noun, tuple(sorted(shown[:_MAX_GROUP_VERBS])) if len(others) >= _MIN_VERBS else ()

    def _plural(self, noun: tuple[str, ...]) -> str:
        """Returns a noun in the plural, as the texts spell it."""
        *others, last = map(self._spelled, noun)
        many = plural(noun[-1])
        return " ".join([*others, last + many[len(last) :] if many.startswith(noun[-1]) else many])

    def _phrase(self, words: tuple[str, ...], verbs: Mapping[str, None]) -> str:
        """Returns a noun as texts write it: in the plural, after "the", or as a compound."""
        noun, lower = " ".join(words), self._lower
        one, many = re.escape(noun), re.escape(plural(noun))
        if len(words) == 1:
            before = Counter(_after_word(one, many).findall(lower))
            total = sum(before.values()) + len(re.findall(rf"(?<!\w)(?:an?|the) {one}(?!\w)", lower))
            word, count = max(before.items(), key=lambda item: (item[1], item[0]), default=("", 0))
            is_compound = count > 1 and count >= _COMPOUND_SHARE * total
            if is_compound and word not in STOP_WORDS | _END | _PARTICIPLES | self._names and not is_verb(word):
                noun = f"{word} {noun}"
        if words[-1] in self._plurals:
            noun = noun.removesuffix(words[-1]) + self._plurals[words[-1]]
        elif _countable_use(one, many).search(lower) or not _COUNTABLE.isdisjoint(verbs):
            noun = plural(noun)
        elif _use_after_the(one).search(lower):
            noun = f"the {noun}"
        elif not _is_mass(noun):
            noun = plural(noun)
        return " ".join(map(self._spelled, noun.split(" ")))

    def _spelled(self, word: str) -> str:
        """Returns a word as most texts spell it if that has capitals inside: `SMS`, and `PDFs`."""
        for form in dict.fromkeys((word, singular(word))):
            found = Counter(re.findall(rf"(?<!\w){re.escape(form)}(?!\w)", self._texts, re.IGNORECASE))
            spelling, _ = max(found.items(), key=lambda item: (item[1], item[0]), default=(form, 0))
            if spelling[1:] != spelling[1:].lower() and not _is_shouted(spelling):
                return spelling + word[len(form) :]
        return word.replace(one, one.upper()) if (one := singular(word)) in ABBREVIATIONS else word


@once
def subjects_of(service: Service) -> Subjects:
    """Returns what the tools of a service are about, without those whose names address the reader.

    Names are exact, so documents have them as code; as words, they would be a sentence of the document itself.
    """
    orders = find_injections(tool.name for tool in service.tools)
    tools = tuple(tool for tool in service.tools if tool.name not in orders)
    return Subjects(replace(service, tools=tools) if orders else service)


def without_orders(words: str) -> str:
    """Returns words that are composed of names; empty if together they address the reader."""
    return "" if find_injections([words]) else words


_PARTICIPLE = re.compile(r"\w{3}[^e]ed\Z")
"""The end of a word that is no noun: `get_supported`."""

_MASS = word_set(
    """
    access activity advice audio authentication authorization bandwidth chat code compliance config consumption content
    demand documentation email energy equipment feedback fraud geolocation health history identity information inventory
    knowledge liquidity mail maintenance media money music output performance progress quality research revenue risk
    security speech status storage stuff support text time traffic usage video weather web work
    """
)
"""Nouns that are usually said without a plural."""


def _is_mass(noun: str) -> bool:
    """True for a noun without a plural, and for one that ends like one or may be a verb or an abbreviation."""
    last = noun.rpartition(" ")[2]
    return last in _MASS or len(last) < 3 or bool(_MASS_END.search(last)) or (last == noun and is_verb(noun))


_MASS_END = re.compile(r"(?:ing|ness|ability|data|ware|(?<![aisu])s)\Z")


def _after_word(one: str, many: str) -> re.Pattern[str]:
    """Returns a pattern that finds the word before a noun, of which both forms are escaped."""
    return re.compile(rf"(?<![\w-])([a-z]{{3,}}) (?:{one}|{many})(?!\w)")


def _countable_use(one: str, many: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{many}|(?:an?|each|every) {_ADJECTIVE}{one}){_AFTER}")


def _use_after_the(one: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)the {_ADJECTIVE}{one}{_AFTER}")


def task_of(tool: Tool) -> str | None:
    """Returns what a tool does as a task, "send a message"; `None` if no text of it begins with a verb."""
    name = frozenset(words_of(tool.name))
    return next(filter(None, (_task(text, name) for text in (tool.summary, tool.description) if text)), None)


def _task(text: str, name: Collection[str]) -> str | None:
    """Returns the task that a text of a tool begins with; `name` has the words of the tool's name."""
    text = _ALLOWS.sub("", list_phrase(first_sentence(text), _TASK_LIMIT * 4))
    first, _, rest = text.partition(" ")
    verb = _verb_form(first.rstrip(",").lower(), rest, name)
    others = _OTHER_VERBS.match(text, len(first.rstrip(",")))
    if others and _is_verb_form(others["last"].lower()) and _is_verb_form((others["next"] or verb or "").lower()):
        rest = text[others.end() :]
    if not rest or verb is None:
        return None
    rest = _NEEDLESS.sub(lambda match: f"{'a' if match[0][0] == 'a' else 'the'} ", rest[: _end_of_task(rest)])
    rest = re.sub(r"\ba (?=[aeioAEIO](?!ne\b))", "an ", rest)
    verb = "get" if verb == "return" else verb
    return f"{verb} {rest.rstrip('.!')}" if len(rest) <= 2 * _TASK_LIMIT and "…" not in rest else None


def _verb_form(word: str, rest: str, name: Collection[str]) -> str | None:
    """Returns the base form of the first word of a text if it is a verb, as the name says or what follows."""
    has_article = rest.startswith(("a ", "an ", "the "))
    for form in (word, word[:-1], word[:-2]) if word.endswith("s") else (word,):
        if is_verb(form) or form in _VERBS_OF_TEXTS or (has_article and (effect_of_verb(form) or form in name)):
            return form
    return None


def _is_verb_form(word: str) -> bool:
    forms = (word, word.removesuffix("s"), word.removesuffix("es"))
    return any(is_verb(form) or effect_of_verb(form) for form in forms)


def _end_of_task(text: str) -> int:
    """Returns the length of what a text says after its verb, without clauses and what else is done."""
    end = len(text)
    for clause in _CLAUSE.finditer(text, 1):
        if clause["verb"] is None or _is_verb_form(clause["verb"]):
            end = clause.start()
            break
    if end > _TASK_LIMIT:
        end = max((place.start() for place in _PLACE.finditer(text, 1, _TASK_LIMIT)), default=end)
    return end


def _abbreviations(tool: Tool) -> Counter[str]:
    """Returns how often a tool and its parameters say each abbreviation."""
    texts = [tool.summary, tool.description, *(parameter.description for parameter in tool.parameters)]
    return Counter(word for text in texts if text for word in _ABBREVIATION.findall(text[:_SUMMARY_LENGTH]))


def _capitalised(words: str) -> str:
    return words[:1].upper() + words[1:]


def _is_shouted(word: str) -> bool:
    """True for a word in capitals that is too long for an abbreviation: a state, or the style of a title."""
    return len(word) > _LONGEST_ABBREVIATION and word.isupper()


def _in_sentence(title: str) -> str:
    """Returns a title for a sentence: in lower case, except names and abbreviations."""
    text = one_line(title).rpartition("› ")[2].partition(": ")[0]
    text = re.sub(r"(?<!\s)\s*\([^()]*\)", "", text) or text
    words = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", " ", text).split(" ") if " " not in text else text.split(" ")
    words = [part for word in words for part in word.split("_") if part]
    spelled = (word.lower() if word[1:] == word[1:].lower() or _is_shouted(word) else word for word in words)
    return _GENERAL_END.sub("", " ".join(spelled))


def _distinct(phrases: Iterable[str]) -> list[str]:
    """Returns phrases without those that are the same as a previous one, but for articles, number and spaces."""
    found: dict[str, str] = {}
    for item in phrases:
        words = (singular(word) for word in item.lower().split(" ") if word not in STOP_WORDS)
        found.setdefault("".join(words), item)
    return [*found.values()]


def _without_parts(nouns: Iterable[str]) -> list[str]:
    """Returns nouns without those that a shorter one before says too: `rollback pipelines` after `pipelines`."""
    shown: list[str] = []
    for noun in nouns:
        if not any(noun.endswith(f" {other}") for other in shown):
            shown.append(noun)
    return shown


def _shown_verbs(verbs: Iterable[str]) -> tuple[str, ...]:
    """Returns verbs in alphabetical order, without those that others imply."""
    return tuple(sorted(_without_implied(dict.fromkeys(_SAME_VERB.get(verb, verb) for verb in verbs))))


def _without_implied(verbs: Collection[str]) -> list[str]:
    """Returns verbs in their order, without those that others imply."""
    gets = [verb for verb in _GETS if verb in verbs]
    implied = gets if not _LISTS.isdisjoint(verbs) else gets[1:]
    return [verb for verb in verbs if verb not in implied]


def _is_longer(noun: tuple[str, ...], word: str) -> bool:
    """True if a noun is the long form of a word: `repository` of `repo`, `pull request` of `pull`."""
    return noun[0].startswith(word) if len(noun) == 1 and len(word) > 2 else len(noun) == 2 and noun[0] == word


_QUANTITY = re.compile(
    r"(?:(?:an?|the|all|any|each|its) )?(?:[\w-]{1,40} )?"
    r"(?:array|batch|collection|copy|details?|list|number|page|set) of "
    r"|one or (?:more|multiple|several) ",
    re.IGNORECASE,
)
"""Words before what something is about: "a list of"."""


def _object(text: str) -> tuple[str, ...]:
    """Returns the noun at the start of a text, in the singular: `repository` of "a new repository for the user"."""
    text = _QUANTITY.sub("", text.replace("(s)", "s"))
    text = re.split(r",|['’]s? ", text, maxsplit=1)[0]
    words = re.findall(r"\w[\w'-]*", text)
    noun = list(takewhile(lambda word: word.lower() not in _END | CONJUNCTIONS, words))
    noun = [word for word in noun if word.lower() not in STOP_WORDS | _PARTICIPLES]
    while len(noun) > 1 and singular(noun[-1]) in _WRAPPERS and noun[-2].islower() and not _PARTICIPLE.search(noun[-2]):
        noun.pop()
    noun = list(map(str.lower, noun))
    return (*noun[:-1], singular(noun[-1])) if 0 < len(noun) <= _MAX_OBJECT_WORDS else ()


def listed(words: Sequence[str], between: str = "and_between", *, has_comma: bool = False) -> str:
    """Returns words as an enumeration: `a, b and c`, or `a, b, and c` if it has a comma before the last."""
    last = ("," if has_comma else "") + phrase(between) if len(words) > 1 else ""
    return ", ".join(words[:-1]) + last + words[-1] if words else ""


_Action = tuple[Tool, list[str], tuple[str, ...]]
"""A tool, the verbs of its name, and the noun."""


def _actions(tools: Sequence[Tool], product: Collection[str], *, has_products: bool) -> list[_Action]:
    """Returns the verbs and the noun of each tool that is not deprecated.

    Names may end with a word of the product; they begin with one if the service `has_products`.
    """
    names = readable_names(tools)
    split = {tool.name: _parts(names[tool.name]) for tool in tools}
    if product and all(len(parts) == 1 and len(parts[0]) > 2 and parts[0][-1] in product for parts in split.values()):
        split = {name: [parts[0][:-1]] for name, parts in split.items()}
    spoken = [[word for part in parts for word in part] for parts in split.values()]
    shared = _shared_start(spoken) or int(has_products)
    actions: list[_Action] = []
    for tool in tools:
        if tool.deprecated or not split[tool.name]:
            continue
        if tool.path and (is_inferred(tool, "name") or _is_path(split[tool.name], tool)):
            actions.append((tool, *_action_of_path(tool)))
        else:
            actions.append((tool, *_action_of_name(_without_start(split[tool.name], shared), tool)))
    if not (shared and any(tool.path for tool in tools)):
        actions = [action if action[2] or not action[1] else _said_action(*action) for action in actions]
    if shared and 2 * sum(not noun for _, _, noun in actions) > len(actions):
        actions = [
            (tool, verbs, noun or _noun(spoken[0][:shared][-_MAX_OBJECT_WORDS:])) for tool, verbs, noun in actions
        ]
    methods = {(verbs[0], (tool.method or verbs[0]).lower()) for tool, verbs, _ in actions if verbs}
    by_method = {verb: method == verb for verb, method in methods if verb in _METHODS}
    is_by_method = len(by_method) > 1 and all(by_method.values()) and all(tool.method for tool, _, _ in actions)
    if "post" in by_method and (is_by_method or not by_method.keys().isdisjoint(("patch", "put"))):
        actions = [
            (tool, ["create" if verb == "post" else verb for verb in verbs], noun) for tool, verbs, noun in actions
        ]
    return actions


def _products(tools: Sequence[Tool]) -> list[str]:
    """Returns the first words of all names if there are few, of several tools each, and none is what a tool does."""
    names = [words_of(tool.name) for tool in tools]
    firsts = Counter(words[0] for words in names if words)
    is_few = 1 < len(firsts) <= _MAX_PRODUCTS and min(firsts.values()) >= _MIN_PRODUCT_TOOLS
    are_products = is_few and all(len(words) > 1 for words in names) and not any(map(is_verb, firsts))
    has_verbs = are_products and 2 * sum(is_verb(words[1]) for words in names) > len(names)
    return [word for word, _ in firsts.most_common()] if has_verbs else []


_MAX_PRODUCTS = 4
_MIN_PRODUCT_TOOLS = 5
"""Products of one server, and tools of each."""


def _said_action(tool: Tool, verbs: list[str], noun: tuple[str, ...]) -> _Action:
    """Returns what the text of a tool says with which noun, if its name is a verb alone."""
    verb, _, rest = (task_of(tool) or "").partition(" ")
    said = _object(rest)
    is_same = verb in _LIGHT or not said or _EMPTY.issuperset(said)
    return (tool, verbs, noun) if is_same else (tool, [verb], said)


_LIGHT = word_set("do execute make manage perform run use")
"""Verbs of which the object says what is done: "perform a search"."""


def _parts(name: str) -> list[list[str]]:
    """Returns the words of each part of a name; `/` and `.` separate parts, and `_` in `Points_List`."""
    parts = re.split(r"[/.]", name)
    if len(parts) == 1 and (pair := _THING_AND_ACTION.fullmatch(name)) and is_verb(words_of(pair[2])[0]):
        parts = [pair[1], pair[2]]
    return [[*words] for part in parts if (words := words_of(part))]


def _is_path(parts: Sequence[Sequence[str]], tool: Tool) -> bool:
    """True if a name is the method and the path, or the path alone."""
    words = [word for part in parts for word in part]
    path = words_of((tool.path or "").partition("#")[0])
    start = words[:1] == [(tool.method or "").lower()]
    return bool(path) and list(map(singular, words[start:])) == list(map(singular, path))


def _shared_start(names: Sequence[Sequence[str]]) -> int:
    """Returns the number of words with which all names begin, without their verb and their last word."""
    size = 0
    while len(names) > 1 and all(len(words) > size + 1 for words in names):
        if len({words[size] for words in names}) > 1 or is_verb(names[0][size]):
            break
        size += 1
    return size


def _without_start(parts: Sequence[Sequence[str]], size: int) -> list[list[str]]:
    left: list[list[str]] = []
    for part in parts:
        left.append(list(part[size:]))
        size = max(size - len(part), 0)
    return [part for part in left if part]


def _action_of_name(parts: Sequence[Sequence[str]], tool: Tool) -> tuple[list[str], tuple[str, ...]]:
    """Returns the verbs and the noun of a name: `create` and `pull request`."""
    words = list(parts[-1])
    if len(words) > 2 and words[-1] == (tool.method or "").lower():
        words.pop()  # FastAPI's names: `read_items_items_get`
    places = [0] if tool.method != "GET" and _begins_with(tool, words[0]) else _verb_places(words)
    at = next((index for index in places if places == [0] or _is_action(words, index, tool)), None)
    if at is None:
        noun, (verb, _, rest) = _noun(words), (task_of(tool) or "").partition(" ")
        is_said = set(map(singular, noun)) <= set(map(singular, words_of(rest)))
        done = _object(rest.removeprefix("for ")) if noun else ()
        return ([verb], noun if is_said else done) if done else ([], noun)
    verbs, after = [words[at]], words[at + 1 :]
    while len(after) > 1 and after[0] in CONJUNCTIONS and is_verb(after[1]):
        verbs.append(after[1])
        after = after[2:]
    if after[:1] == ["to"] and _noun(after[1:]):
        return [f"{verbs[-1]} to"], _noun(after[1:])
    noun = _noun(after)
    if not noun and (before := _noun(words[:at][-2:])):
        _, said_verbs, said = _said_action(tool, verbs, before)
        return (verbs, before) if not said or singular(before[-1]) == singular(said[-1]) else (said_verbs, said)
    return verbs, noun or (_noun(parts[-2]) if len(parts) > 1 else ())


def _is_action(words: Sequence[str], index: int, tool: Tool) -> bool:
    """True if a word of a name is a verb. In a longer name of a GET, one that changes something is so by its text."""
    word = words[index]
    if not is_verb(word) or word == "do" or tool.method != "GET" or len(words) == 1:
        return is_verb(word) and word != "do"
    verb, _, rest = (task_of(tool) or "").partition(" ")
    return effect_of_verb(word) in (None, "read") or (verb == word and bool(_object(rest)))


def _begins_with(tool: Tool, word: str) -> bool:
    """True if a tool's text begins with a word as a verb: "Hovers over an element"."""
    first, second, *_ = [*(tool.summary or tool.description or "").lower().split(maxsplit=2), "", ""]
    return first in (word, f"{word}s", f"{word}es") and (second in STOP_WORDS | _END or second in ("out", "up"))


def _verb_places(words: Sequence[str]) -> Iterator[int]:
    """Yields the places of a verb: the first word, the last, then the others."""
    yield next((index for index, word in enumerate(words) if word not in STOP_WORDS), 0)
    if words[-1] not in nouns_of(" ".join(words)):
        yield len(words) - 1
    yield from range(1, len(words) - 1)


def _noun(words: Sequence[str]) -> tuple[str, ...]:
    noun: list[str] = []
    for word in words:
        if word in _END:
            break
        is_new = singular(word) not in map(singular, noun)
        if is_new and word not in STOP_WORDS and len(word) > 1 and (word != "id" or not noun):
            noun.append(word)
    return tuple(noun)


def _action_of_path(tool: Tool) -> tuple[list[str], tuple[str, ...]]:
    """Returns what the method and the last segment of a path that is a name say."""
    path = (tool.path or "").partition("#")[0]
    segments = [segment for segment in path_segments(path) if segment[:1].isalpha()]
    words = words_of(segments[-1].partition(".")[0]) if segments else ()
    if words and is_verb(words[0]):
        return [words[0]], _noun(words[1:])
    verbs = _VERBS_OF_METHODS.get(tool.method or "", ()) if tool.method != "POST" else ()  # POST may do anything
    return list(verbs[1:]), _noun(words)


_THING_AND_ACTION = re.compile(r"([A-Z][A-Za-z0-9]*)_([A-Z][A-Za-z0-9]*)")

_UNSAID = PLAIN_VERBS - {"set"}
"""Verbs that go without saying before a noun."""

LITTLE_ROOM = 100
"""Characters of a list of what tools do, below which it leaves out verbs that go without saying."""


def tool_words(title: str, tools: Sequence[Tool]) -> tuple[str, ...]:
    """Returns what the tools of a group do, without the words of its title.

    Of a tool that gets or creates something, that is the thing alone: `bank accounts`, else the verb.
    """
    readable = readable_names(tools)
    names = {tool.name: _words_of_path(tool) or words_of(readable[tool.name]) for tool in tools}
    shared = _shared_start([*names.values()])
    known = {*map(singular, words_of(title))}
    if all(names[tool.name][:1] == ((tool.method or "").lower(),) for tool in tools):
        shared = 1  # names after HTTP methods
    verbs = {words[shared] for words in names.values() if len(words) > shared + 1}
    is_said = all(len(words) > shared + 1 for words in names.values()) and len(tools) > _FEW_TOOLS
    if is_said and len(verbs) == 1 and all(map(is_verb, verbs)):
        shared += 1  # what all of them do
    found: dict[str, str] = {}
    for tool in tools:
        action = _words_of_action(tool, names[tool.name][shared:], known)
        found[singular(action)] = max(action, found.get(singular(action), ""), key=len)
    return tuple(filter(None, found.values()))


def _words_of_path(tool: Tool) -> tuple[str, ...]:
    """Returns the words of a name that follows from method and path, without parameters; empty for other names."""
    if tool.path is None or not is_inferred(tool, "name"):
        return ()
    return ((tool.method or "").lower(), *words_of("/".join(path_segments(tool.path))))


def _words_of_action(tool: Tool, name: Sequence[str], known: Collection[str]) -> str:
    """Returns what a tool does; a verb that goes without saying is left out before a noun."""
    words, verb = _without_known(name, known), ""
    if words and is_verb(words[0]):
        verb = words.pop(0)
    elif len(words) > 1 and words[-1] in PLAIN_VERBS:
        verb = words.pop()
    elif words and effect_of_verb(words[0]):
        verb = words.pop(0)
    while len(words) > 1 and words[0] in CONJUNCTIONS and is_verb(words[1]):
        words = words[2:]
    noun = _noun(_without_known(words, known))
    if verb or noun:
        return " ".join(noun if noun and (not verb or verb in _UNSAID) else (verb, *noun))
    return _VERBS_OF_METHODS.get(tool.method or "", ("", ""))["}" in (tool.path or "").rpartition("/")[2]]


def _without_known(words: Iterable[str], known: Collection[str]) -> list[str]:
    """Returns words without those at the start that are known or say nothing."""
    return list(dropwhile(lambda word: singular(word) in known or word in STOP_WORDS - _END, words))


_GLOSS_LEAD = re.compile(
    r"(?:(?:rest )?(?:api )?(?:endpoints?|operations?|apis?|methods?|resources?) (?:for|to|about|related to|on) "
    r"|interact with (?!and\b)|(?:manage|view|managing) (?=your\b))",
    re.IGNORECASE,
)
_GLOSS_END = re.compile(r" (?:using|through|via|with) the (?:[\w-]+ ){0,2}API\Z")
_GLOSS_LIMIT = 80

_GLOSS_EMPTY = word_set(
    """
    access api endpoint feature information interact manage management managing operation related resource service use
    using your
    """
)
"""Words that say nothing more of a group."""


def gloss_of(title: str, description: str | None, product: str) -> str:
    """Returns what a short description of a group adds to its title: "organizations" for `Orgs`."""
    text = list_phrase(first_sentence(description or ""), _GLOSS_LIMIT)
    text = _GLOSS_END.sub("", _GLOSS_LEAD.sub("", text))
    known = {*map(singular, words_of(f"{title} {product}")), *_GLOSS_EMPTY, *STOP_WORDS, *_END}
    is_useful = any(singular(word) not in known for word in words_of(text))
    return text if is_useful and "…" not in text and is_statement(text) else ""


def is_said(phrase: str, tool: Tool) -> bool:
    """True if a phrase says no more than the name of a tool: `List issue comments` for `issues/list-comments`."""
    name = words_of(tool.name)
    verb, *rest = words_of(phrase) or ("",)
    words = rest if is_verb(verb) and "post" not in name else [verb, *rest]
    return all(
        word in STOP_WORDS | _END or any(part.startswith(word) or word.startswith(part) for part in name if part[1:])
        for word in words
    )


def joined_words(words: Sequence[str], limit: int) -> str:
    """Returns what tools do as a list within a number of characters; what goes without saying is left out first."""
    if limit < LITTLE_ROOM:
        words = [word for word in words if word not in _UNSAID]
    if len(text := ", ".join(words)) <= limit:
        return without_orders(text)
    words = sorted(words, key=_UNSAID.__contains__)
    lengths = accumulate(len(word) + len(", ") for word in words)
    shown = [word for word, length in zip(words, lengths, strict=True) if length <= limit]
    return without_orders(", ".join([*shown, "…"])) if shown else ""


def glossed_words(gloss: str, words: Sequence[str], limit: int) -> str:
    """Returns what the source says of a group, then what its tools do, within a number of characters."""
    if not gloss or len(gloss) > limit:
        return joined_words(words, limit)
    rest = joined_words(words, limit - len(gloss) - len("; "))
    return f"{gloss}; {rest}" if rest else gloss
