"""A program that Typer builds from annotations."""

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(rich_markup_mode="rich", help="Look after [bold]notes[/bold] and [green]tags[/green].")
tags = typer.Typer(help="Tags of notes.")
app.add_typer(tags, name="tags")


class Order(str, Enum):
    newest = "newest first"
    oldest = "oldest first"


@app.command(epilog="Notes stay where they are.", rich_help_panel="Reading")
def show(
    notes: Annotated[list[Path] | None, typer.Argument(help="Files of notes.")] = None,
    order: Annotated[Order, typer.Option(help="Which note comes [italic]first[/italic].")] = Order.newest,
    limit: Annotated[int, typer.Option(min=1, max=99, envvar="NOTES_LIMIT")] = 10,
    color: bool = True,
) -> None:
    """Show notes."""


@app.command()
def add(text: str, tag: Annotated[list[str], typer.Option("--tag", "-t", help="Tag of the note.")]) -> None:
    """Add a note.

    Args:
        text: What the note says, up to a
            page of it.
    """


@tags.command()
def rename(old: str, new: str, yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False) -> None:
    """Rename a tag."""
