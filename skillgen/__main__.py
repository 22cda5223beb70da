"""`python -m skillgen`, and the command `skillgen`."""

import gc


def main() -> None:
    """Runs the command line, without a search for garbage: the process is short, and what it makes stays in use.

    A large description is a million objects that would be looked through again and again, and so are the modules.
    """
    gc.disable()
    from skillgen.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
