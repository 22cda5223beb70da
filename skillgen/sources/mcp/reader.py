"""Reads what a server says after its first answer: its lists, its extensions, its own documentation.

No tool is called but `get_manifest`, and that one only where the user asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import wait

from skillgen.errors import ProblemLog
from skillgen.model.value import Json
from skillgen.sources.guards import as_dict, as_list, text_of
from skillgen.sources.mcp import progressive
from skillgen.sources.mcp.connection import RpcError
from skillgen.sources.mcp.dead_ends import dead_end
from skillgen.sources.mcp.extensions import GROUPING, GROUPS, SKILLS, read_groups, read_skill_files
from skillgen.sources.mcp.lists import ListReading, read_lists
from skillgen.sources.mcp.manifest_tool import MANIFEST_TOOL, read_manifest
from skillgen.sources.mcp.negotiation import NoAnswer
from skillgen.sources.mcp.session import Session
from skillgen.sources.mcp.target import ServerTarget
from skillgen.sources.secrets import Secrets

_UNPROMISED_S = 3.0
"""How long an answer is waited for that the server did not promise."""

_LISTS = {
    "tools/list": ("tools", "tools"),
    "resources/list": ("resources", "resources"),
    "resources/templates/list": ("resources", "resourceTemplates"),
    "prompts/list": ("prompts", "prompts"),
    "skills/list": (SKILLS, "skills"),
    "groups/list": (GROUPS, "groups"),
}
"""Method to the capability or extension that promises it, and to the key of its items."""

_NOT_FOUND = (-32601, -32602)
"""What servers answer to a method that they do not know."""

_INVALID_REQUEST = -32600
"""What some answer to a method that is not of the protocol."""


class CrawlReader:
    """Reads one server."""

    def __init__(self, target: ServerTarget, session: Session, secrets: Secrets) -> None:
        self.log = ProblemLog()
        self._target = target
        self._session = session
        self._secrets = secrets

    def read(self, progress: Callable[[str], None]) -> dict[str, Json]:
        """Reads everything: method to raw result, for a list method the list of its pages."""
        opening = self._session.opening
        results: dict[str, Json] = {opening.method: opening.result}
        progress("reading tools, resources and prompts")
        for reading in self._read_lists():
            if reading.pages:
                results[reading.method] = reading.pages
        self._read_extensions(results, progress)
        progress("asking for ai_help")
        results |= self._read_ai_help()
        return results

    def _read_extensions(self, results: dict[str, Json], progress: Callable[[str], None]) -> None:
        scope, session = self._target.scope, self._session
        if "groups/list" in results and session.opening.declares(GROUPS):
            results["groups/get"] = read_groups(session, results["groups/list"], self.log, self._secrets)
        if scope.skill_files and "skills/list" in results:
            progress("reading skills")
            results["skills/files"] = read_skill_files(session, results["skills/list"], self.log, self._secrets)
        if not scope.no_tool_descriptions and (uri := progressive.descriptions_uri(results)) is not None:
            progress("reading the descriptions of the tools")
            names = _names(results)
            described = progressive.read_descriptions(session, uri, names, self.log, self._secrets)
            results[progressive.READ] = {"uri": uri, "tools": described}
            self.log.info(
                "tools-authorised",
                uri,
                "Reading the descriptions of the tools authorises the tools in that session.",
                fix="Leave them unread with --no-tool-descriptions, or `no-tool-descriptions: true` in skillgen.yaml.",
            )
        if scope.call_get_manifest and MANIFEST_TOOL not in _names(results):
            self.log.warning(
                "manifest-tool-missing",
                "tools/list",
                f"The server has no tool {MANIFEST_TOOL}, so no service manifest was read.",
                "leave out --call-get-manifest",
            )
        elif scope.call_get_manifest:
            progress(f"calling {MANIFEST_TOOL}")
            if (manifest := read_manifest(session, self.log, self._secrets)) is not None:
                results["manifest"] = manifest

    def _read_lists(self) -> list[ListReading]:
        opening = self._session.opening
        readings = [
            ListReading(method, items_key=items_key, timeout_s=self._timeout_s(is_promised=opening.declares(name)))
            for method, (name, items_key) in _LISTS.items()
            if opening.declares(name) or method == "tools/list" or (name == GROUPS and opening.declares(GROUPING))
        ]
        # Over HTTP, one request that breaks off ends the transport for all that are under way: tools come first there.
        tools_alone = 1 if self._target.url is not None else 0
        for together in (readings[:tools_alone], readings[tools_alone:]):
            read_lists(self._session, together, self.log)
            for reading in together:
                if reading.failure is not None and opening.declares(_LISTS[reading.method][0]):
                    self._report(reading, reading.failure)
        return readings

    def _report(self, reading: ListReading, error: BaseException) -> None:
        if reading.method == "tools/list":
            symptoms = self._session.connection.symptoms()
            raise dead_end(error, reading.method, where=self._target.where, symptoms=symptoms, secrets=self._secrets)
        if isinstance(error, RpcError) and _is_unknown(error) and not reading.pages:
            self.log.info("list-not-offered", reading.method, "The server declares this list, but does not know it.")
        else:
            reason = self._secrets.excerpt(str(error))
            self.log.warning("list-failed", reading.method, f"The list could not be read to its end: {reason}")

    def _read_ai_help(self) -> dict[str, Json]:
        """Asks for the server's own documentation (dashdash, "AI Help Method"); most servers have none.

        It is the last request of all: some servers do not survive a method that they do not know.
        """
        is_announced = self._session.opening.mentions_dashdash
        future = self._session.send("ai_help", {"format": "markdown", "section": None})
        wait([future], self._session.seconds_left(self._timeout_s(is_promised=is_announced)))
        error = future.exception() if future.done() else NoAnswer("ai_help", self._target.timeout_s)
        if error is None:
            return {"ai_help": future.result()}
        if is_announced or not (isinstance(error, RpcError) and (_is_unknown(error) or error.code == _INVALID_REQUEST)):
            reason = self._secrets.excerpt(str(error))
            self.log.info("ai-help-missing", "ai_help", f"The server's own documentation could not be read: {reason}")
        return {}

    def _timeout_s(self, *, is_promised: bool) -> float:
        return self._target.timeout_s if is_promised else min(self._target.timeout_s, _UNPROMISED_S)


def _is_unknown(error: RpcError) -> bool:
    return error.code in _NOT_FOUND or error.http_status == 404


def _names(results: dict[str, Json]) -> list[str]:
    """Gives the names of the tools, each once, in order."""
    pages = as_list(results.get("tools/list"))
    entries = (entry for page in pages for entry in as_list(as_dict(page).get("tools")))
    return list(dict.fromkeys(name for entry in entries if (name := text_of(entry, "name")) is not None))
