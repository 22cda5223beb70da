"""Calls chosen tools that only read, and keeps the shapes of what they return in a file of samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from skillgen.config.project import Target
from skillgen.enrich.effects import mentions_sending
from skillgen.errors import OutputError, SkillgenError, SourceError, UsageError
from skillgen.model.calls import ContentKind, Example
from skillgen.model.serialization import is_json
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Json
from skillgen.pipeline.call import Answer, Calls
from skillgen.sources.examples.strings import is_placeholder, singular
from skillgen.sources.json_access import as_dict, as_list, json_or_none, text_of
from skillgen.sources.samples import Samples, read_samples, samples_text
from skillgen.sources.shapes import ShapeBuilder
from skillgen.text.markdown import one_line
from skillgen.text.summary import clip
from skillgen.write.files import replace_file

DEFAULT_FILE = "samples.json"
"""Name of the file of samples, if no option names another."""

_EXAMPLES_LIMIT = 3
"""Examples of a tool that are sent."""

_ERROR_LENGTH = 300


class Sampling(Struct, frozen=True, kw_only=True):
    """The result of sampling one tool."""

    tool: str
    """Its name."""

    calls: int
    """The number of calls that returned a result."""

    content: tuple[ContentKind, ...]
    """What kinds of content they returned."""

    failure: SkillgenError | None = None
    """Why a call has no result."""


def file_of(target: str | None, given: str | None) -> Path:
    """Returns the file of samples: the given one, that of the target, or the default next to skillgen.yaml or here.

    Raises:
        UsageError: there is no such target.
    """
    if given is not None:
        return Path(given)
    if target is None:
        return Path(DEFAULT_FILE)
    from skillgen.config.loader import project_file, read_project

    file = project_file(None)
    declared: Target | None = read_project(file).targets.get(target)
    if declared is not None and declared.samples is not None:
        return file.parent / declared.samples
    return file.parent / DEFAULT_FILE


def sample_tools(calls: Calls, words: Sequence[str], file: Path, date: str) -> tuple[Sampling, ...]:
    """Calls the tools of a command line, and writes the shapes of their results; entries of other tools stay.

    `words` are names of tools, each followed by the arguments of one call, or by none: then examples are sent.

    Raises:
        OutputError: the file cannot be written.
        UsageError: a tool may change something, has no arguments, or the file has samples of another service.
    """
    requests = _requests(calls, words)
    name, entries = calls.service.name, dict[str, Json]()
    if file.exists():
        known = read_samples(file)
        if known.service != name:
            what = f"has samples of {known.service!r}, not of {name!r}"
            raise UsageError(what, where=file.as_posix(), fix="name another file with --samples FILE")
        entries = dict(known.tools)
    samplings = []
    for tool, arguments in requests.items():
        sampling, shape = _sample(calls, calls.tool(tool), arguments)
        samplings.append(sampling)
        if sampling.calls:
            entry = {"calls": sampling.calls, "content": list(sampling.content), "date": date}
            entries[tool] = {**entry, "shape": shape} if shape is not None else entry
    if any(sampling.calls for sampling in samplings):
        text = samples_text(Samples(service=name, tools=entries, name=file.name))
        try:
            replace_file(file, lambda temporary: temporary.write_text(text, "utf-8", newline="\n"))
        except OSError as error:
            raise OutputError(f"cannot be written: {error.strerror}", where=file.as_posix()) from None
    return tuple(samplings)


# -- what is called ---------------------------------------------------------------------------------------------------


def _requests(calls: Calls, words: Sequence[str]) -> dict[str, list[Mapping[str, Json]]]:
    """Returns the arguments of the calls of each tool; every one is checked before anything is sent."""
    names = {tool.name for tool in calls.service.tools}
    groups: list[tuple[str, list[str]]] = []
    for word in words:
        if groups and word not in names and ("=" in word or word.lstrip()[:1] == "{"):
            groups[-1][1].append(word)
        else:
            groups.append((word, []))
    for name, _ in groups:
        _refuse_effects(calls.tool(name))
    requests: dict[str, list[Mapping[str, Json]]] = {}
    for name, given in groups:
        tool = calls.tool(name)
        arguments = [calls.arguments(tool, given)] if given else _example_arguments(tool)
        requests.setdefault(name, []).extend(item for item in arguments if item not in requests[name])
    return requests


def _refuse_effects(tool: Tool) -> None:
    """Refuses a tool that is not marked as one that only reads.

    Raises:
        UsageError: it may do something else.
    """
    semantics = tool.semantics
    is_unsafe = semantics.effect != "read" or (semantics.is_judged("read_only") and mentions_sending(tool))
    if not is_unsafe and not semantics.requires_confirmation and semantics.risk != "destructive":
        return
    what = "may change, send or delete something" if is_unsafe else "needs a person's confirmation"
    fix = "sample only tools that are marked [read]; nothing was sent"
    raise UsageError(f"{what}, so it is not called for a sample", where=tool.name, fix=fix)


def _example_arguments(tool: Tool) -> list[Mapping[str, Json]]:
    """Returns the arguments of the examples that can be sent: the declared ones, else a generated one.

    Raises:
        UsageError: there is no such example, and the tool has required parameters.
    """
    usable = [item for item in tool.examples if item.flaw is None and isinstance(item.input, dict)]
    declared = [item.input for item in usable if item.is_declared]
    generated = [item.input for item in usable if not item.is_declared and not _needs_value(item)]
    if found := declared[:_EXAMPLES_LIMIT] or generated[:1]:
        return found
    body = tool.input if tool.method is not None else None
    if any(item.required for item in tool.parameters) or (body is not None and body.required):
        fix = f"give the arguments of a call: {tool.name} NAME=VALUE"
        raise UsageError("has no example that can be sent", where=tool.name, fix=fix)
    return [{}]


def _needs_value(example: Example) -> bool:
    """True if a generated example has a placeholder, which a person must replace."""
    origin = (example.origins or {})["input"]
    return origin.source == "input_schema" and _has_placeholder(example.input, "")


def _has_placeholder(value: Json, name: str) -> bool:
    if isinstance(value, dict):
        return any(_has_placeholder(item, key) for key, item in value.items())
    if isinstance(value, list):
        return any(_has_placeholder(item, singular(name)) for item in value)
    return isinstance(value, str) and is_placeholder(value, name)


# -- what is returned -------------------------------------------------------------------------------------------------


def _sample(
    calls: Calls, tool: Tool, requests: Iterable[Mapping[str, Json]]
) -> tuple[Sampling, dict[str, Json] | None]:
    """Calls a tool; returns how it went, and the shape of the JSON that was returned."""
    builder, kinds, count = ShapeBuilder(list(requests), _texts_of(calls.service)), set[ContentKind](), 0
    failure: SkillgenError | None = None
    for arguments in requests:
        try:
            contents = list(_contents(calls.answer(tool, arguments)))
        except SkillgenError as error:
            failure = failure or error
            error.where = error.where or tool.name
            continue
        count += 1
        for kind, value in contents or [("nothing", None)]:
            kinds.add(kind)
            if kind in ("json", "json-text"):
                builder.add(value)
    has_shape = not kinds.isdisjoint(("json", "json-text"))
    sampling = Sampling(tool=tool.name, calls=count, content=tuple(sorted(kinds)), failure=failure)
    return sampling, builder.shape() if has_shape else None


def _texts_of(service: Service) -> Iterator[str]:
    """Yields the texts in which a service may have the words of its names."""
    for tool in service.tools:
        texts = (tool.title, tool.summary, tool.description)
        yield from (tool.name, *filter(None, texts), *(item.name for item in tool.parameters))


def _contents(answer: Answer) -> Iterator[tuple[ContentKind, Json]]:
    """Yields the kinds of content of an answer, with the value of JSON.

    Raises:
        SourceError: it is an error.
    """
    if answer.error is not None:
        raise _failure(answer.error.text)
    if answer.response is None:
        yield from _contents_of_result(as_dict(answer.result))
        return
    response = answer.response
    text = response.content.decode("utf-8", "replace")
    if not 200 <= response.status < 300:
        raise _failure(f"HTTP {response.status} {text[:_ERROR_LENGTH]}")
    kind = response.content_type.partition(";")[0].strip().lower()
    if not response.content:
        return
    if is_json(kind):
        yield "json", json_or_none(text)
    elif kind.startswith("text/") or kind.endswith(("xml", "yaml", "javascript")):
        yield _content_of_text(text)
    else:
        yield "image" if kind.startswith("image/") else "audio" if kind.startswith("audio/") else "file", None


def _contents_of_result(result: Mapping[str, Json]) -> Iterator[tuple[ContentKind, Json]]:
    content = [as_dict(item) for item in as_list(result.get("content"))]
    if result.get("isError") is True:
        raise _failure(" ".join(text_of(item, "text") or "" for item in content))
    if result.get("resultType", "complete") != "complete":
        raise _failure("the server wants more first")
    if (structured := result.get("structuredContent")) is not None:
        yield "json", structured
    for item in content:
        resource = as_dict(item.get("resource"))
        text = item.get("text", resource.get("text"))
        if isinstance(text, str):
            if structured is None:
                yield _content_of_text(text)
        elif item.get("type") in ("image", "audio"):
            yield "image" if item["type"] == "image" else "audio", None
        else:
            yield "resource" if item.get("type") == "resource_link" else "file", None


def _content_of_text(text: str) -> tuple[ContentKind, Json]:
    """Returns an object or a list in a text; of any other text, only that it is one."""
    value = json_or_none(text) if text.lstrip()[:1] in ("{", "[") else None
    return ("json-text", value) if value is not None else ("text", None)


def _failure(text: str) -> SourceError:
    what = f"the tool answered with an error, which is not a sample: {clip(one_line(text), _ERROR_LENGTH)}"
    return SourceError(what, fix="give the arguments of a call that succeeds")
