"""Reads the front matter of an `ai_help` answer, or its `metadata`, in the words of a `dashdash` object.

Both say the same things (seed 000, 3.1.2 and 3.3.2), so that the rest of the code asks both alike.
"""

from __future__ import annotations

from skillgen.errors import ProblemLog
from skillgen.model.value import Json
from skillgen.sources.guards import as_dict
from skillgen.sources.mcp.claims import Members
from skillgen.sources.yaml_core import YamlError, parse_yaml, word_scalar

FRONT_MATTER_LIMIT = 20_000
"""Characters of front matter beyond which it is not read: deep nesting takes the YAML parser quadratic time."""

_ALIASES = {
    "abt": "spec-url",
    "ver": "spec-version",
    "sub": "subcommand-help",
    "acl": "access-level",
    "web": "web-url",
    "cli": "cli-url",
    "mcp": "mcp-url",
    "api": "api-url",
}
"""Names that the fields had in version 0.1 (CLI profile, appendix C)."""

_IDENTITY = ("name", "description", "emoji")
_ACCESS = ("cliUrl", "apiUrl", "webUrl", "mcpUrl")


def metadata_from_front_matter(front_matter: str | None, pointer: str, problems: ProblemLog) -> Members:
    """Reads YAML; what is not YAML is reported, and says nothing."""
    return metadata_from_mapping(_parsed(front_matter, pointer, problems), pointer, problems)


def metadata_from_mapping(raw: dict[str, Json], pointer: str, problems: ProblemLog) -> Members:
    """Gives front matter in the shape of a `dashdash` object; `none` is how YAML says null (seed 000, CLI profile)."""
    keys = {_camel(_ALIASES.get(key, key)): key for key in raw}
    shaped = {_camel(_ALIASES.get(key, key)): value for key, value in raw.items()}
    for part in ("requires", "invocation"):
        if isinstance(shaped.get(part), dict):
            keys.update((_camel(key), key) for key in shaped[part])
            shaped[part] = {_camel(key): value for key, value in shaped[part].items()}
    access = {key: shaped.pop(key) for key in _ACCESS if key in shaped}
    if shaped.get("apiEndpoint") == "none":
        shaped["apiEndpoint"] = None
    groups = {
        "identity": {key: shaped.pop(key) for key in _IDENTITY if key in shaped},
        "alternativeAccess": {key: None if value == "none" else value for key, value in access.items()},
    }
    for key, group in groups.items():
        if group:
            shaped[key] = {**as_dict(shaped.get(key)), **group}
    members = Members(shaped, pointer, "ai_help", problems, keys=keys)
    members.ignore("specUrl", "specVersion", "subcommandHelp")
    return members


def _parsed(front_matter: str | None, pointer: str, problems: ProblemLog) -> dict[str, Json]:
    if front_matter is None:
        return {}
    if len(front_matter) > FRONT_MATTER_LIMIT:
        problems.warning("ai-help-invalid", pointer, f"the front matter is longer than {FRONT_MATTER_LIMIT} characters")
        return {}
    try:
        data = parse_yaml(front_matter, problems, scalar=word_scalar)
    except YamlError as error:
        problems.warning("ai-help-invalid", pointer, f"the front matter is not YAML: {error}")
        return {}
    if _is_bomb(data):
        problems.warning("ai-help-invalid", pointer, "the aliases of the front matter stand for too many values")
        return {}
    if not isinstance(data, dict):
        problems.warning("ai-help-invalid", pointer, "the front matter is not a mapping")
    return as_dict(data)


def _is_bomb(data: Json) -> bool:
    """Tells whether aliases make more values than the text has characters."""
    waiting, seen = [data], 0
    while waiting and seen <= FRONT_MATTER_LIMIT:
        value = waiting.pop()
        seen += 1
        waiting.extend(value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())
    return bool(waiting)


def _camel(key: str) -> str:
    first, *rest = key.replace("_", "-").split("-")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)
