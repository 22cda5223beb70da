"""Prints docs/model.schema.json, the JSON Schema of what `skillgen inspect` prints: `make golden` runs it.

It is generated from the classes of the model and their docstrings.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from skillgen.model.docstrings import field_docstrings, model_classes

Json = Any


def snapshot_schema() -> dict[str, Json]:
    """Returns the JSON Schema of a snapshot."""
    classes = model_classes()
    _, definitions = msgspec.json.schema_components(
        classes, schema_hook=lambda _: {"description": "Any value."}, ref_template="#/$defs/{name}"
    )
    for cls in classes:
        for name, text in field_docstrings(cls).items():
            definitions[cls.__name__]["properties"][name]["description"] = text
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "skillgen snapshot",
        "description": "What `skillgen inspect` prints and `skillgen from-server --snapshot` reads. An absent key has "
        "its default value; without a default, it means that nothing is declared.",
        "type": "object",
        "properties": {
            "snapshot": {"description": "The version of the format.", "const": 1},
            "services": {
                "description": "The services that were read.",
                "type": "array",
                "items": {"$ref": "#/$defs/Service"},
            },
        },
        "required": ["snapshot", "services"],
        "additionalProperties": False,
        "$defs": definitions,
    }


if __name__ == "__main__":
    print(json.dumps(snapshot_schema(), ensure_ascii=False, indent=2))
