"""Programs with types of their own: enumerations in a parser of `argparse`, and a type of Click."""

import argparse
import enum

import click

LOGIN = """
    How to log in:

        tool --login me

    Nobody is asked.
"""


class Level(enum.Enum):
    LOW = "low"
    HIGH = "high"


class Form(enum.Enum):
    PLAIN = 1

    def __str__(self) -> str:
        return self.name.lower()


class Words(click.ParamType[list[str]]):
    name = "comma separated list"


parser = argparse.ArgumentParser("tool", formatter_class=argparse.RawTextHelpFormatter)
parser.add_argument("--level", type=Level, choices=list(Level))
parser.add_argument("--form", type=Form, choices=list(Form))
parser.add_argument("--login", metavar="USER[:PASS] | TOKEN", action="append", default=[], help=LOGIN)

command = click.Command("tool", params=[click.Option(["--words"], type=Words(), help="All of them.")])
