"""Names for operations: the operationId, or one derived from method and path."""

from __future__ import annotations

import re
from collections.abc import Iterable


def operation_names(operations: Iterable[tuple[str, str, str | None]]) -> tuple[str, ...]:
    """Gives each operation (method, path, operationId) a name that is unique among all.

    The first operation with an operationId keeps it, so a name that others rely on never moves; an operation without
    one, or with one that is taken, is named after method and path.
    """
    operations = tuple(operations)
    taken = {operation_id for _, _, operation_id in operations if operation_id}
    kept: set[str] = set()
    names = []
    for method, path, operation_id in operations:
        if operation_id and operation_id not in kept:
            kept.add(operation_id)
            names.append(operation_id)
            continue
        name = base = derived_name(method, path)
        number = 2
        while name in taken:
            name, number = f"{base}_{number}", number + 1
        taken.add(name)
        names.append(name)
    return tuple(names)


def derived_name(method: str, path: str) -> str:
    """Gives `get_users_id` for GET /users/{id}."""
    words = re.findall(r"[A-Za-z0-9]+", path)
    return "_".join([method.lower(), *(words or ["root"])])
