"""How much of a source is read, of whatever kind it is: the bounds that SECURITY.md promises.

Limits of one step alone stand in the module of that step.
"""

from __future__ import annotations

SOURCE_LIMIT_BYTES = 256 * 1024 * 1024
"""A body, decompressed; all other documents of a description; and all that a server sends in one crawl.

The largest servers known send less than a tenth of this.
"""

NESTING_LIMIT = 200
"""Levels of nesting that are read. Descriptions in use have some 40."""

PROPERTIES_LIMIT = 100_000
"""Properties of one object that are read: a hundred times what the largest in use have."""

POINTER_LIMIT = 4_000
"""Characters of a JSON pointer to a schema or an operation that is read.

Each node below repeats them, so one long key over many small nodes would take their product in memory. Descriptions in
use stay below 1,000, and few servers accept a URL of 8,000.
"""

ROW_LIMIT = 100
"""References in a row that are followed: each place in a longer row would walk the rest of it."""

PATIENCE = 10
"""A whole fetch, and a login, may take this many times what one answer may: a body can come drop by drop."""
