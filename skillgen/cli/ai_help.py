"""The text of skillgen's own flag `--ai-help`: that of the program, or of one of its commands."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

PROJECT_FILE = next(
    file
    for folder in (Path(__file__).parent.parent, Path(__file__).parent.parent.parent)
    if (file := folder / "skillgen.yaml").is_file()
)
"""The project file of skillgen itself, with the author's texts: in the wheel, or in the repository."""


def help_text(program: object, words: Sequence[str]) -> str:
    """Returns the document of the program, of the command that the first words name, or of all commands of a group."""
    from skillgen.api import render_documents
    from skillgen.config.loader import read_project
    from skillgen.pipeline.read import Request, read_command
    from skillgen.render.pages import file_stems

    (target,) = read_project(PROJECT_FILE).targets.values()
    service = read_command(program, ("skillgen",), Request(source=target.source, texts=target.texts))
    documents = render_documents(service, emit=("ai-help", "ai-help-commands"))
    stems = file_stems((tool.name for tool in service.tools), frozenset())
    for count in range(len(words), 0, -1):
        name = " ".join(words[:count])
        if shown := [item for item in stems if item == name or item.startswith(f"{name} ")]:
            texts = "\n".join(documents[f"ai-help/{stems[item]}.md"] for item in shown)
            return texts.replace("[ai-help.md](../ai-help.md)", "`skillgen --ai-help`")
    return documents["ai-help.md"]
