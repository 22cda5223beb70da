"""Descriptions of small APIs, of which several tests need every part."""

from __future__ import annotations

from typing import Any

from rows import inputs

LIBRARY: dict[str, Any] = inputs("api_examples")["library"]
