"""A small part of `make eval`: the calls in the documents of the examples are accepted by what they document."""

from __future__ import annotations

import json
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import eval as evaluation
import pytest
import real_servers
from request_checker import checking

pytestmark = pytest.mark.slow


def test_the_example_server_accepts_every_call_that_its_documents_show(tmp_path: Path) -> None:
    """Issue 5, proof beyond validators."""
    result = evaluation.evaluate_server("Acme MCP", evaluation.ACME_MCP, tmp_path)
    assert (result.accepted, result.refused) == (9, {})


def test_a_real_server_accepts_every_call_that_its_documents_show(tmp_path: Path) -> None:
    """Issue 5, proof beyond validators."""
    repository = tmp_path / "repository"
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    git, everything = tmp_path / "git", tmp_path / "everything"
    for folder in (git, everything):
        folder.mkdir()
    result = evaluation.evaluate_server("mcp-server-git", real_servers.git(repository), git)
    assert (result.tools, result.accepted, result.refused) == (12, 0, {}), "it declares no value that a call could have"
    result = evaluation.evaluate_server("server-everything", real_servers.everything(), everything)
    assert (result.accepted, result.refused) == (2, {})


@pytest.mark.parametrize("arguments", [{}, {"project_id": 7}])
def test_a_call_with_wrong_arguments_would_be_noticed(arguments: dict[str, object], tmp_path: Path) -> None:
    with evaluation.session(real_servers.filesystem(tmp_path), tmp_path) as server:
        answer = server.ask("tools/call", {"name": "read_text_file", "arguments": arguments})
        assert evaluation.refusal(answer) is not None
        answer = server.ask("tools/call", {"name": "read_text_file", "arguments": {"path": "none"}})
        assert evaluation.refusal(answer) is None


def test_every_command_of_an_api_makes_a_valid_request(tmp_path: Path) -> None:
    """Issue 4, examples that can be sent; issue 5, proof beyond validators."""
    acme, petstore = tmp_path / "acme", tmp_path / "petstore"
    for folder in (acme, petstore):
        folder.mkdir()
    result = evaluation.evaluate_description("Acme Tasks", evaluation.ACME_TASKS, acme)
    assert (result.tools, result.accepted, result.refused) == (3, 2, {}), "one body would need two placeholders"
    result = evaluation.evaluate_description("Petstore", evaluation.PETSTORE, petstore)
    assert (result.accepted, result.refused) == (13, {})


@pytest.mark.parametrize("body", [{}, {"query": 7}, {"query": "x", "limit": "many"}])
def test_a_request_that_is_not_valid_would_be_noticed(body: dict[str, object]) -> None:
    with checking(evaluation.ACME_TASKS) as base_url:
        request = urllib.request.Request(
            f"{base_url}/v1/tasks/search",
            json.dumps(body).encode(),
            {"Content-Type": "application/json", "Authorization": "Bearer x"},
        )
        with pytest.raises(urllib.error.HTTPError, match="422") as error:
            urllib.request.urlopen(request)
        error.value.close()
