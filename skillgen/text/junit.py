"""JUnit XML, which CI hosts show; and text of a source as any report may have it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from skillgen.text.inert import disarm
from skillgen.text.markdown import one_line


class TestCase(Struct, frozen=True, kw_only=True):
    """A test case."""

    name: str
    suite: str
    """What it belongs to, for hosts that group by `classname`."""

    failure: str | None = None
    """Why it fails; `None` if it passes."""

    failure_type: str | None = None
    output: str | None = None
    """What it says although it passes."""


def plain(text: str) -> str:
    """Returns a text on one line, without what a terminal, a CI host or an agent would obey."""
    return disarm(one_line(text))


def junit_xml(suites: Iterable[tuple[str, Sequence[TestCase]]]) -> str:
    """Returns JUnit XML with these suites: each a name and its cases."""
    body = "".join(_suite(name, cases) for name, cases in suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n{body}</testsuites>\n'


def _suite(name: str, cases: Sequence[TestCase]) -> str:
    failures = sum(case.failure is not None for case in cases)
    body = "".join(map(_case, cases))
    return f'  <testsuite name={_attribute(name)} tests="{len(cases)}" failures="{failures}">\n{body}  </testsuite>\n'


def _case(case: TestCase) -> str:
    start = f"    <testcase name={_attribute(case.name)} classname={_attribute(case.suite)}"
    if case.failure is not None:
        kind = f' type="{case.failure_type}"' if case.failure_type is not None else ""
        return f"{start}><failure{kind} message={_attribute(case.failure)}/></testcase>\n"
    from xml.sax.saxutils import escape

    output = f"><system-out>{escape(plain(case.output))}</system-out></testcase>" if case.output is not None else "/>"
    return f"{start}{output}\n"


def _attribute(text: str) -> str:
    from xml.sax.saxutils import quoteattr  # imports urllib.request, with much else

    return quoteattr(plain(text))
