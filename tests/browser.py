"""A headless browser, for the tests of the site: `browser.cjs` says what a task is, and what is seen."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def seen_in_browser(tasks: Sequence[dict[str, Any]], node_modules: Path) -> list[dict[str, Any]]:
    """Returns what a browser saw for each task."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    assert browser, f"the site is tried in {' or '.join(BROWSERS)}: run `make parsers`"
    program = Path(__file__).with_name("browser.cjs")
    command: list[str | Path] = ["node", program, node_modules, browser]
    result = subprocess.run(command, input=json.dumps(tasks), capture_output=True, text=True, timeout=300, check=False)
    assert not result.returncode, result.stderr
    return list(json.loads(result.stdout))
