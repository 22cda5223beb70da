"""Reads icons and leaves out those that a document must not link (SEP-973, "Security considerations")."""

from __future__ import annotations

from skillgen.errors import ProblemLog
from skillgen.model.icon import Icon
from skillgen.model.value import Json
from skillgen.sources.addresses import icon_objection
from skillgen.sources.mcp.claims import Members


class IconReader:
    """Reads the icons of one service."""

    def __init__(self, trusted_host: str | None, problems: ProblemLog) -> None:
        """`trusted_host` is the server's own, or that of its homepage where it has none."""
        self._trusted = (trusted_host,) if trusted_host is not None else ()
        self._problems = problems

    def icons(self, owner: Members) -> tuple[Icon, ...]:
        """Reads the icons of a service, a tool, a resource or a prompt; members that are unknown are ignored."""
        found = (self._icon(item) for item in owner.parts("icons"))
        return tuple(icon for icon in found if icon is not None)

    def _icon(self, raw: Members) -> Icon | None:
        source = raw.text("src")
        if source is None:
            self._problems.warning("icon-left-out", raw.pointer, "the icon has no src")
            return None
        if (objection := icon_objection(source.value, self._trusted)) is not None:
            self._problems.warning("icon-left-out", source.pointer, objection)
            return None
        media_type, theme = raw.text("mimeType"), raw.text("theme")
        return Icon(
            src=source.value,
            media_type=media_type.value if media_type is not None else None,
            sizes=_sizes(raw.raw.get("sizes")),
            theme=theme.value if theme is not None else None,
        )


def _sizes(raw: Json) -> tuple[str, ...]:
    """Reads `sizes`: a list as it shipped, or one text with spaces as seed 001 has it."""
    items = raw if isinstance(raw, list) else [raw]
    return tuple(size for item in items if isinstance(item, str) for size in item.split())
