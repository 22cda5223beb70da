"""skillgen: turns an MCP server, an API or a program into documents for AI agents.

The names in `skillgen.__all__` are the public Python API, which docs/api.md explains. Everything else may change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from skillgen.api import *  # noqa: F403


def __getattr__(name: str) -> Any:
    """Imports a public name when it is first used: `import skillgen` itself loads nothing else."""
    if name == "__all__" or not name.startswith("_"):
        import skillgen.api as api

        if name == "__all__":
            return sorted(api.__all__, key=lambda public: (public.islower(), public))
        if name in api.__all__:
            return getattr(api, name)
        from skillgen.config.convert import dropped

        if (error := dropped("function", name)) is not None:
            raise AttributeError(f"{error.what}: {error.fix}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
