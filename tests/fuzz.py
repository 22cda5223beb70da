"""Fuzzes one target of `fuzzing.py`, guided by coverage: `python tests/fuzz.py TARGET SECONDS [OPTION]...`.

It starts from `seeds/TARGET`, and keeps what leads further in `build/fuzz/TARGET` for the next time.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import sys
from pathlib import Path

atheris = importlib.import_module("atheris")

with contextlib.redirect_stderr(io.StringIO()), atheris.instrument_imports(include=["skillgen"]):
    # Only skillgen's own branches guide it: those of the libraries drown them, and take minutes to instrument.
    from fuzzing import TARGETS

SEEDS = Path(__file__).parent / "seeds"
FOUND = Path(__file__).parent.parent / "build" / "fuzz"

if __name__ == "__main__":
    target, seconds, *options = sys.argv[1:]
    found = FOUND / target
    found.mkdir(parents=True, exist_ok=True)
    limits = (f"-max_total_time={seconds}", "-max_len=4096", "-rss_limit_mb=2048", "-timeout=20")
    given = (f"-dict={SEEDS / 'dictionary.txt'}", f"-artifact_prefix={found.parent}/{target}-", "-print_final_stats=1")
    atheris.Setup([sys.argv[0], *limits, *given, *options, str(found), str(SEEDS / target)], TARGETS[target])
    atheris.Fuzz()
