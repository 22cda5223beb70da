"""What a mock answers, always the same: declared examples, else values that the declared output allows; and its log.

The log has a JSON object a line for each call.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct, to_builtins

from skillgen.errors import OutputError
from skillgen.model.calls import ErrorCase, Output
from skillgen.model.schema import Schema, Types
from skillgen.model.service import Service
from skillgen.model.tool import Tool
from skillgen.model.values import Json
from skillgen.sources.examples.generator import Generator, NoExample
from skillgen.sources.examples.validation import UNCHECKED, Fault, Validator

NOTHING_DECLARED = "The call is valid. A mock answers, and the service declares no result."

_MESSAGE_NAMES = ("message", "detail", "error", "error_description", "description", "title", "reason", "msg")
"""Properties of an error that hold its message, the likelier first."""


class Answers:
    """Generates the results of a service; the same call always has the same result."""

    def __init__(self, service: Service) -> None:
        self.validator = Validator(Types.of(service.schemas), is_request=False)
        self._generators = [
            Generator(self.validator, invents=True, is_complete=is_complete) for is_complete in (True, False)
        ]
        self._values: dict[tuple[int, str | None], Json] = {}

    def value(self, output: Output, media_type: str | None = None) -> Json:
        """Returns an example of an output that is valid, else a generated value; null if none was found.

        Examples for another `media_type` do not count.
        """
        key = id(output), media_type
        if key not in self._values:
            self._values[key] = self._value(output, media_type)
        return self._values[key]

    def _value(self, output: Output, media_type: str | None) -> Json:
        examples = [item for item in output.examples if media_type is None or item.media_type in (None, media_type)]
        if output.schema is None:
            return examples[0].value.json if examples else None
        for value in (item.value.json for item in examples):
            if self.validator.validation_error(value, output.schema) in (None, UNCHECKED):
                return value
        return self.generated(output.schema, "result")

    def generated(self, schema: Schema, name: str) -> Json:
        """Returns a value that a schema allows; null if none was found."""
        for generator in self._generators:  # a value with all optional properties may be too large
            try:
                return generator.generate(schema, name).value
            except NoExample:
                continue
        return None

    def of_tool(self, tool: Tool, arguments: Json) -> tuple[Json, bool]:
        """Returns the result of a call, and whether the service declares what it is like.

        The output of the example with the same arguments is the result, or that of the first example.
        """
        examples = [item for item in tool.examples if item.output is not None]
        examples.sort(key=lambda item: item.input != arguments)
        for example in examples:
            value = example.output.json if example.output is not None else None
            schema = tool.output.schema if tool.output is not None else None
            if schema is None or self.validator.validation_error(value, schema) is None:
                return value, True
        if tool.output is None:
            return NOTHING_DECLARED, False
        return self.value(tool.output), True

    def error(self, output: Output | None, message: str) -> Json:
        """Returns the body of an error: what the output allows, with the message where it has a place for one."""
        if output is None or output.schema is None:
            return {"message": message}
        value = self.value(output)
        for candidate in _with_message(value, message):
            if self.validator.validation_error(candidate, output.schema) is None:
                return candidate
        return value


def error_case(service: Service, tool: Tool, code: str) -> ErrorCase:
    """Returns what is declared of an error: by the tool, else by the service, else for a range such as `4XX`."""
    cases = {case.code: case for case in (*service.errors, *tool.errors)}
    names = (code, f"{code[:1]}XX", f"{code[:1]}xx", "default")
    return next((cases[name] for name in names if name in cases), ErrorCase(code=code))


def _with_message(value: Json, message: str) -> Iterator[Json]:
    if isinstance(value, dict):
        for name in _MESSAGE_NAMES:
            if isinstance(value.get(name), str):
                yield {**value, name: message}
            for inner in _with_message(value[name], message) if isinstance(value.get(name), (dict, list)) else ():
                yield {**value, name: inner}
    elif isinstance(value, list) and value:
        yield from ([inner, *value[1:]] for inner in _with_message(value[0], message))
    elif isinstance(value, str):
        yield message


class LoggedCall(Struct, frozen=True, kw_only=True):
    """A call as it arrived, and what came of it."""

    tool: str | None
    """The name of the tool; `None` if no tool has that name or path."""

    arguments: Json = None
    """The arguments in the form of the tool's input schema; of an unknown tool as they were sent."""

    valid: bool
    """Whether the service would accept them."""

    faults: tuple[Fault, ...] = ()
    status: str | int
    """`ok`, `invalid`, `unknown-tool`, or `error:CODE`; of an API, the HTTP status."""

    request: str | None = None
    """Of an API, the method and the path with its query, without credentials."""


class CallLog:
    """Collects calls, and appends each to a file at once."""

    def __init__(self, path: Path | None = None, *, keeps: bool = False) -> None:
        """Creates the file; with `keeps`, the calls are also in `calls`.

        Raises:
            OutputError: it cannot be written.
        """
        self.calls: list[LoggedCall] = []
        self._keeps = keeps
        try:
            self._file = open(path, "a", encoding="utf-8") if path is not None else None  # noqa: SIM115
        except OSError as error:
            raise OutputError(f"cannot be written: {error.strerror}", where=str(path)) from None

    def add(
        self, tool: str | None, arguments: Json, faults: Iterable[Fault], status: str | int, request: str | None = None
    ) -> None:
        """Records a call; without a tool or with faults it is not valid."""
        found = tuple(faults)
        valid = tool is not None and not found
        call = LoggedCall(tool=tool, arguments=arguments, valid=valid, faults=found, status=status, request=request)
        if self._keeps:
            self.calls.append(call)
        if self._file is not None:
            self._file.write(log_line(call))
            self._file.flush()

    def close(self) -> None:
        """Closes the file."""
        if self._file is not None:
            self._file.close()


def log_line(call: LoggedCall) -> str:
    """Returns a call as a line of a log."""
    members = {key: value for key, value in to_builtins(call).items() if value is not None or key == "tool"}
    return json.dumps(members) + "\n"
