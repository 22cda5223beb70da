"""A program with everything that Click lets a command declare; running a command would create the file `ran`."""

import uuid
from pathlib import Path

import click

CONTEXT = {"auto_envvar_prefix": "DEPOT", "help_option_names": ["-h", "--help"]}


def computed() -> str:
    Path("ran").touch()
    return "computed"


@click.group(context_settings=CONTEXT, epilog="Report what is wrong to your depot.")
@click.option("-v", "--verbose", count=True, help="Print more.")
@click.option("--account", required=True, metavar="NAME", help="Account to work in.")
@click.version_option("4.2")
def cli(verbose: int, account: str) -> None:
    """Manage the parcels of a depot.

    Exit codes:
      0: done
      1: the depot refuses
      75: the depot is busy;
          try again later
    """
    Path("ran").touch()


@cli.command()
@click.argument("parcels", nargs=-1, required=True)
@click.option("-t", "--to", type=click.Choice(["north", "south"], case_sensitive=False), required=True)
@click.option("--weight", type=click.FloatRange(0, 30, min_open=True), default=1.5, show_default=True, help="In kg.")
@click.option("--count", type=click.IntRange(1, 9), required=True, help="Parcels of this kind.")
@click.option("--size", nargs=2, type=int, help="Width and height in cm.")
@click.option("--label", "labels", multiple=True, help="A word for the label.")
@click.option("--pair", type=(str, int), multiple=True, help="A name and a number.")
@click.option("--insured/--uninsured", "-i/-u", default=True, help="Whether it is insured.")
@click.option("--express", "speed", flag_value="express", help="Send it at once.")
@click.option("--token", envvar=["DEPOT_TOKEN", "TOKEN"], prompt="Token of the depot", hide_input=True)
@click.option("--batch", type=click.UUID, default=uuid.UUID(int=0))
@click.option("--on", type=click.DateTime(["%Y-%m-%d"]), help="Day of the delivery.")
@click.option("--note", is_flag=False, flag_value="fragile", help="A note for the driver.")
@click.option("--list", "list_file", type=click.Path(dir_okay=False), default=lambda: computed())
@click.option("--colour", hidden=True, help="Nobody uses it.")
@click.option("--speed", deprecated=True, help="Use --express.")
def send(**values: object) -> None:
    """Send parcels to an address.

    \b
    north  the northern depot
    south  the southern depot

    Example:
        depot --account me send A1 --to north --count 1
    """
    Path("ran").touch()


@cli.group(invoke_without_command=True)
@click.option("--shelf", help="Only this shelf.")
def stock(shelf: str) -> None:
    """Show the stock."""
    Path("ran").touch()


@stock.command("drop-all")
@click.confirmation_option(prompt="Drop everything?")
def drop_all() -> None:
    Path("ran").touch()


@stock.command(name="import", deprecated="Use `send`.")
@click.argument("source", type=click.File())
@click.option("--force", is_flag=True, help="Replace what is there.")
def import_(source: object, force: bool) -> None:
    """Import a list."""
    Path("ran").touch()


@cli.group(chain=True)
@click.option("--account", required=True, help="Account of the van.")
def load(account: str) -> None:
    """Load a van."""


@load.command("put")
@click.option("--account", required=True, help="Account of the parcel.")
def put(account: str) -> None:
    """Put a parcel into the van."""


@cli.command(hidden=True)
def secret() -> None:
    """Nobody calls it."""


@cli.command(context_settings={"ignore_unknown_options": True})
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def run(command: object) -> None:
    """Run a command in the depot."""


def main() -> None:
    cli()


if __name__ == "__main__":
    cli()
