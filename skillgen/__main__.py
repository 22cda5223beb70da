"""`python -m skillgen`, and the command `skillgen`."""

import gc
import signal
import sys

INTERRUPTED = 130
"""What shells give for a program that an interrupt ended."""


def main() -> None:
    """Runs the command line."""
    # The process is short, and nearly all objects stay in use until its end. With the collector, a description of
    # 10,000 operations takes 7 % more CPU time (5,000 large types: 15 %) and only 3 to 5 % less memory.
    gc.disable()
    from skillgen.cli.app import main as run

    try:
        try:
            run()
        finally:
            _ignore_interrupts()
    except KeyboardInterrupt:  # a second one, while the first was being dealt with, or one at the very end
        _ignore_interrupts()
        sys.exit(INTERRUPTED)


def _ignore_interrupts() -> None:
    """Lets what still runs come to its end: it ends a server, and soon.

    An interrupt would show where that was, and leave the server behind.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)


if __name__ == "__main__":
    main()
