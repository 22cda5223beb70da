"""`skillgen logout`: forgets a login."""

from __future__ import annotations

from typing import Annotated

import typer

from skillgen.cli.families import RunFamily, with_families
from skillgen.cli.running import run_command
from skillgen.cli.servers import refuse_bad_url
from skillgen.errors import ExitCode


@with_families
def logout(
    url: Annotated[str, typer.Argument(metavar="URL", help="The address of the server, as it was given to --url.")],
    *,
    how: RunFamily,
) -> None:
    """Forgets the login to a server that --login kept."""
    console = how.console()

    def run() -> ExitCode:
        from skillgen.sources.given import published_url
        from skillgen.sources.mcp.oauth.keeping import login_file

        refuse_bad_url(url, "URL")
        is_gone = login_file(url).forget()
        console.say(f"{published_url(url)}: {'the login is forgotten' if is_gone else 'no login is kept'}")
        return ExitCode.DONE

    run_command(run, console)
