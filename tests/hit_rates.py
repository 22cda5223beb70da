"""How many real sources each rule of `skillgen lint` hits: writes skillgen/rules/hit_rates.json.

A person runs it when a rule changes; it needs the servers and the descriptions that `make test` installs. A rule that
hits more than half of the sources of its kind is optional (`ProblemCode.is_optional`). The part `reviewed` is written
by hand: how many findings of a rule were right, and how many were read, each of another public source.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cli import ROOT, run_python
from corpus import descriptions, sample
from real_servers import OTHERS, clock, everything, filesystem, git, memory

MEASURED = ROOT / "skillgen" / "rules" / "hit_rates.json"
SAMPLE = 150
WORKERS = 2


def codes_of(arguments: Sequence[str]) -> frozenset[str]:
    """Returns the rules that a source breaks."""
    finished = run_python("-m", "skillgen", "lint", "--format", "json", "--select", "*", *arguments)
    if not finished.stdout:
        print(arguments, finished.stderr, file=sys.stderr)
        return frozenset()
    return frozenset(finding["code"] for finding in json.loads(finished.stdout)["findings"])


def rates(sources: Iterable[Sequence[str]]) -> dict[str, int]:
    """Returns the percentage of the sources that each rule hits."""
    with ThreadPoolExecutor(WORKERS) as pool:
        found = list(pool.map(codes_of, sources))
    hits = Counter(code for codes in found for code in codes)
    return {code: max(round(100 * hits[code] / len(found)), 1) for code in sorted(hits)}


def server_arguments(folder: Path) -> list[list[str]]:
    """Returns the arguments that read each server."""
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    plain = [clock(), everything(), filesystem(folder), git(folder), memory()]
    others = [
        [*(f"--env={key}={value}" for key, value in env.items()), "--", *command] for command, env, _ in OTHERS.values()
    ]
    return [*(["--", *command] for command in plain), *others]


def main() -> None:
    """Measures the sample of the descriptions, and the servers."""
    with tempfile.TemporaryDirectory() as folder:
        servers = server_arguments(Path(folder))
        chosen = [[str(path)] for path in sample(descriptions(), SAMPLE)]
        measured = {
            "reviewed": json.loads(MEASURED.read_text("utf-8"))["reviewed"],
            "descriptions": {"count": len(chosen), "rates": rates(chosen)},
            "servers": {"count": len(servers), "rates": rates(servers)},
        }
    text = re.sub(r"\[\s+(\d+),\s+(\d+)\s+\]", r"[\1, \2]", json.dumps(measured, indent=2))
    MEASURED.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
