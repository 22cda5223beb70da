"""Programs with a parser of `argparse`: an object, a function that returns it, and one that parses arguments."""

import argparse
import pathlib

EPILOG = """\
examples:
  ship pack box.txt --level 3
  ship pack box.txt --format zip   # smaller
"""


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ship",
        description="Pack and ship boxes with %(prog)s.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version="1")
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing (default: %(default)s)")
    commands = parser.add_subparsers(dest="command", required=True)
    pack = commands.add_parser("pack", aliases=["p"], help="pack a box", description="Packs a box into an archive.")
    pack.add_argument("box", type=pathlib.Path, help="file with the contents")
    pack.add_argument("rest", nargs="*", metavar="MORE", help="more files")
    pack.add_argument("--level", type=int, choices=range(1, 10), required=True, help="how small")
    pack.add_argument("--format", choices=["tar", "zip"], default="tar", help="one of %(choices)s")
    pack.add_argument("--exclude", action="append", metavar="GLOB", help="leave these out; 100%% of them")
    pack.add_argument("--tags", nargs="+", required=True, help="words for the label")
    pack.add_argument("--seal", action=argparse.BooleanOptionalAction, default=True, help="seal it")
    pack.add_argument("-v", action="count", default=0, help="say more")
    pack.add_argument("--home", default=str(pathlib.Path.home() / "boxes"), help="where boxes are")
    pack.add_argument("--internal", help=argparse.SUPPRESS)
    one = pack.add_mutually_exclusive_group()
    one.add_argument("--fast", action="store_true", help="in a hurry")
    one.add_argument("--safe", action="store_true", help="with care")
    burn = commands.add_parser("burn", help="burn a box; this cannot be undone")
    which = burn.add_mutually_exclusive_group(required=True)
    which.add_argument("--number", type=int, help="number of the box")
    which.add_argument("--all", action="store_true", help="all of them")
    return parser


parser = build_parser()


def main() -> None:
    arguments = build_parser().parse_args()
    raise SystemExit(f"{arguments} was run")
