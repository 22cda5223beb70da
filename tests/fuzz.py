"""Fuzzes one target of `fuzzing.py`, guided by coverage: `python tests/fuzz.py TARGET SECONDS [OPTION]...`."""

from __future__ import annotations

import importlib
import sys

atheris = importlib.import_module("atheris")

with atheris.instrument_imports(include=["skillgen"]):
    # Only skillgen's own branches guide it: those of the libraries drown them, and take minutes to instrument.
    from fuzzing import TARGETS

if __name__ == "__main__":
    limits = (f"-max_total_time={sys.argv[2]}", "-max_len=4096", "-rss_limit_mb=2048", "-timeout=20")
    atheris.Setup([sys.argv[0], *limits, *sys.argv[3:]], TARGETS[sys.argv[1]])
    atheris.Fuzz()
