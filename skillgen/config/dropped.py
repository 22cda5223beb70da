"""What earlier releases had and this one does not: commands, options, keys, formats and names of the Python API."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

from skillgen.errors import UsageError

_RESULTS = "declare what the tools return in the source, or with an OpenAPI Overlay"

_SOURCES = "write a target with source: for each source of the service"

_AI_HELP = "emit dashdash, whose ai_help has the result in both forms"

_BASELINE = "leave out rules with ignore:, or upload `--format sarif` where findings have a state"

_PRUNE = "delete the folders that a run names: what they document is gone"

_RULE = "leave it out: most sources break it, or hardly one does"

_RULES = (
    "ambiguous-alternatives deep-input default-contradicted icon-not-portable icon-size-invalid "
    "mixed-name-styles name-look-alike rate-limit-undeclared request-without-example result-without-example "
    "unconstrained-parameters usage-unsaid"
)

_DROPPED: Mapping[str, str] = {
    "command sample": _RESULTS,
    "command registry search": "search the `description` of each entry that `skillgen registry build` writes",
    "option --samples": _RESULTS,
    "key samples": _RESULTS,
    "key sources": _SOURCES,
    "key same-as": _SOURCES,
    "format ai-help-json": _AI_HELP,
    "format ai-help-markdown": _AI_HELP,
    "option --html": "document the services in one run with `--emit html`, which writes a page above them",
    "key levels": "write codes and patterns below select: and ignore:",
    "key ignore-in": "write codes and patterns below ignore:",
    "option --baseline": _BASELINE,
    "option --write-baseline": _BASELINE,
    "key baseline": _BASELINE,
    "option --prune": _PRUNE,
    "key prune": _PRUNE,
    "option --session": "make each call by itself, or use `scripts/call.py --session` of `--emit scripts`",
    "function lint_service": "call `skillgen.lint`",
    "function ai_help": "have the program print the ai-help.md that `skillgen build` writes",
    **{f"rule {name}": _RULE for name in _RULES.split()},
    "option --badge": "count the findings of `skillgen lint --format json`",
    "option --fault": "change the description that the mock serves, or put a proxy before it",
    "option --against": "run the command that wrote the documents with --check",
    "rule tool-undescribed": "name no-description, which is for tools of any source",
}
"""What a user wrote before release 0.2.0, to what to do instead."""


def dropped(what: str, name: str, where: str | None = None) -> UsageError | None:
    """Returns the error for a name or pattern that is gone, such as the key `samples`; `None` for any other."""
    found = next((each for each in _DROPPED if fnmatchcase(each, f"{what} {name}")), None)
    if found is None:
        return None
    return UsageError(f"the {found} was removed in skillgen 0.2.0", where=where, fix=_DROPPED[found])
