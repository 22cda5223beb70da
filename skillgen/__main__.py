"""`python -m skillgen`."""

from skillgen.cli.main import main

if __name__ == "__main__":
    main()
