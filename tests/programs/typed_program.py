"""A program with a parameter of every type that Typer reads from annotations."""

from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Annotated, Literal, Optional
from uuid import UUID

import typer

app = typer.Typer()


class Color(Enum):
    red = "dark red"
    blue = "blue"


@app.command()
def paint(
    coats: int,
    wall: Path,
    color: Color = Color.red,
    colors: Optional[list[Color]] = None,  # noqa: UP045
    gloss: Literal["matt", "silk"] = "matt",
    rate: Annotated[float, typer.Option(min=0, max=1)] = 0.5,
    ids: Optional[list[int]] = None,  # noqa: UP045
    job: Optional[UUID] = None,  # noqa: UP045
    due: Optional[datetime] = None,  # noqa: UP045
    day: Annotated[Optional[datetime], typer.Option(formats=["%Y-%m"])] = None,  # noqa: UP045
    pair: tuple[int, str] = (1, "a"),
    plan: Optional[typer.FileText] = None,  # noqa: UP045
    size: Annotated[int, typer.Option(min=1, clamp=True)] = 2,
    verbose: Annotated[int, typer.Option("--verbose", "-v", count=True)] = 0,
    dry: bool = True,
) -> None:
    """Paint a wall."""
