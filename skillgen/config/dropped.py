"""What earlier releases had and this one does not: commands, options, keys, formats and names of the Python API.

`dropped.json` has what a user wrote before release 0.2.0, to what to do instead.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

from skillgen.errors import UsageError
from skillgen.typed import decode


def dropped(what: str, name: str, where: str | None = None) -> UsageError | None:
    """Returns the error for a name or pattern that is gone, such as the key `samples`; `None` for any other."""
    table = decode(Path(__file__).with_name("dropped.json").read_bytes(), dict[str, str])
    found = next((each for each in table if fnmatchcase(each, f"{what} {name}")), None)
    if found is None:
        return None
    return UsageError(f"the {found} was removed in skillgen 0.2.0", where=where, fix=table[found])
