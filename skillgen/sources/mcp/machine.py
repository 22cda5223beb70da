"""Takes out of a crawled service what it says of the machine that crawled it: its folders, its user, its name.

A server that lists the folders it may use, or its own working folder, says something that is true here alone and is
nobody else's business. Only whole paths are looked at: a user may be called `node`, and a service speak of nodes.
"""

from __future__ import annotations

import getpass
import os
import re
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from skillgen.errors import ProblemLog
from skillgen.model.pointer import child
from skillgen.model.service import Service
from skillgen.model.texts import changed

HOME, WORKING_FOLDER, USER, HOST = "~", ".", "USER", "HOST"
"""What stands in the place of each."""

_COMMON_NAMES = frozenset({"root", "node", "user", "users", "admin", "app", "home", "src", "data", "ubuntu", "runner"})
"""Names of users that are parts of paths everywhere."""

_BEFORE = r"(?:(?<=file://)|(?<=[fF]ile:)|(?<![\w.:/\\~-]))"
_AFTER = r"(?![\w-])"

Safe = Callable[[str], str]


def without_machine(service: Service, folder: Path | None = None) -> Service:
    """Gives the service with placeholders for what is only true of this machine; each place is reported.

    `folder` is where the server was started; the working folder of skillgen is looked for in any case.
    """
    safe = _safe(folder)
    problems = ProblemLog()
    for problem in service.problems:
        problems.add(problem)

    def change(node: Any, field: str, text: str, pointer: str) -> str:
        if (new := safe(text)) is not text:
            name = field.partition(":")[0]
            problems.info(
                "machine-left-out",
                child(pointer or type(node).__name__.lower(), name),
                f"{name.replace('_', ' ')} names a folder, the user or the name of this machine; "
                "a placeholder stands in its place",
            )
        return new

    new: Service = changed(service, change)
    return service if new is service else replace(new, problems=tuple(problems))


def _safe(folder: Path | None) -> Safe:
    """Gives what makes one text safe, the longest path first; a text in which nothing is found is the same object."""
    paths = {**_forms(Path.home(), HOME, parts=1)}
    for place in filter(None, (folder, Path.cwd())):
        paths |= {form: sign for form, sign in _forms(place, WORKING_FOLDER, parts=2).items() if form not in paths}
    rules = [
        (path, re.compile(_BEFORE + re.escape(path) + _AFTER), paths[path])
        for path in sorted(paths, key=len, reverse=True)
    ]
    user, host = _user(), socket.gethostname()
    if len(user) > 2 and user.lower() not in _COMMON_NAMES:
        absolute = r"(?:[A-Za-z]:)?[/\\](?:[^\s/\\\"'<>|:]{1,100}[/\\]){0,20}?"
        rules.append((user, re.compile(f"({_BEFORE}{absolute}){re.escape(user)}{_AFTER}"), rf"\1{USER}"))
    if len(host) > 3 and re.search(r"[\d.-]", host):
        rules.append((host, re.compile(rf"(?<![\w.-]){re.escape(host)}(?![\w-])"), HOST))

    def safe(text: str) -> str:
        for part, pattern, sign in rules:
            if part in text:
                new = pattern.sub(sign, text)
                text = text if new == text else new
        return text

    return safe


def _forms(path: Path, sign: str, *, parts: int) -> dict[str, str]:
    """Gives the ways in which a folder is written, unless it is too short to mean this machine's."""
    found = {str(path), path.as_posix(), os.path.realpath(path)}
    return {form: sign for form in found if len(Path(form).parts) > parts}


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # the number of the user has no name here
        return ""
