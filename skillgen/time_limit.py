"""Stops what takes too long where its input does not bound it: templates and expressions that others wrote."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def time_limit(limit_s: float | None, error: Exception) -> Iterator[None]:
    """Raises an error in what takes more processor seconds.

    It works in the main thread only, and not on Windows: what needs a limit must run in the main thread.
    """
    if limit_s is None or sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(signal_number: int, frame: object) -> None:
        raise error

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
