"""Reads resources, resource templates and prompts."""

from __future__ import annotations

from dataclasses import dataclass

from skillgen.errors import ProblemLog
from skillgen.model.resource import Prompt, Resource
from skillgen.model.schema import Parameter, Schema
from skillgen.model.value import Json, Origin
from skillgen.sources.mcp import dashdash
from skillgen.sources.mcp.claims import Claim, Members
from skillgen.sources.mcp.icons import IconReader


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceReader:
    """Reads what one server offers beside tools."""

    icons: IconReader
    problems: ProblemLog

    def resource(self, uri: str, members: Members) -> Resource:
        """Reads a resource, or a template of resources, that has a URI."""
        own = dashdash.find_in_entry(members) or Members({}, members.pointer, "dashdash", self.problems)
        annotations = members.part("annotations", "annotations")
        return Resource(
            uri=uri,
            name=self._name(members) or uri,
            title=_value(members.text("title")),
            description=_value(members.text("description")),
            media_type=_value(members.text("mimeType")),
            size=_value(members.integer("size")),
            audience=_value(annotations.texts("audience")) or (),
            priority=_value(annotations.number("priority")),
            last_modified=_value(annotations.text("lastModified")),
            resource_type=_value(own.text("resourceType")),
            refreshable=_value(own.flag("refreshable")),
            cache_duration_s=_value(own.integer("cacheDuration")),
            web_equivalent=_value(own.text("webEquivalent")),
            api_equivalent=_value(own.text("apiEquivalent")),
            icons=self.icons.icons(members),
            extras=_extras(members, own),
            pointer=members.pointer,
        )

    def prompt(self, name: str, members: Members) -> Prompt:
        """Reads a prompt that has a name."""
        return Prompt(
            name=name,
            title=_value(members.text("title")),
            description=_value(members.text("description")),
            parameters=tuple(
                self._argument(claim.value, item)
                for item in members.parts("arguments")
                if (claim := self._required_name(item)) is not None
            ),
            icons=self.icons.icons(members),
            extras=_extras(members, dashdash.find_in_entry(members)),
            pointer=members.pointer,
        )

    def _argument(self, name: str, members: Members) -> Parameter:
        """Reads an argument of a prompt; by the protocol its value is always a text."""
        return Parameter(
            name=name,
            location="argument",
            required=_value(members.flag("required")) is True,
            schema=Schema(types=("string",), title=_value(members.text("title"))),
            description=_value(members.text("description")),
            pointer=members.pointer,
            origins={"schema": Origin("defaulted", "prompts/get")},
        )

    def _name(self, members: Members) -> str | None:
        claim = members.text("name")
        if claim is None:
            self.problems.warning("name-missing", members.pointer, "the resource has no name; its URI is shown instead")
            return None
        return str(claim.value)

    def _required_name(self, members: Members) -> Claim | None:
        claim = members.text("name")
        if claim is None:
            self.problems.warning("name-missing", members.pointer, "the argument has no name; left out")
        return claim


def _value(claim: Claim | None) -> Json:
    return claim.value if claim is not None else None


def _extras(members: Members, own: Members | None) -> dict[str, Json] | None:
    extras = members.unread()
    if own is not None and (unknown := own.unread()):
        extras["dashdash"] = unknown
    return extras or None
