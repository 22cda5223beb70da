"""The entry for a server in a client's server file (`mcpServers`), and what is known where none can be given."""

from __future__ import annotations

from typing import Any

from skillgen.model.service import Service


def client_configuration(service: Service) -> dict[str, Any] | None:
    """Gives the JSON object to add; `None` where neither an address nor a command that others can run is known.

    A variable has its own name for a value, as clients expand it: `"TOKEN": "${TOKEN}"`.
    """
    entry = service.client_entry
    if service.kind != "mcp" or entry is None:
        return None
    if entry.transport != "stdio" and service.endpoints:
        found: dict[str, Any] = {"type": entry.transport, "url": service.endpoints[0].url}
    elif entry.transport == "stdio" and entry.command:
        program, *arguments = entry.command
        found = {"command": program, "args": arguments}
        if names := client_variables(service):
            found["env"] = {name: f"${{{name}}}" for name in names}
    else:
        return None
    return {"mcpServers": {service.server_name or service.name: found}}


def client_variables(service: Service) -> list[str]:
    """Gives the environment variables of a server that is started: those declared, then those that were passed on."""
    passed = service.client_entry.env if service.client_entry is not None else ()
    return list(dict.fromkeys([*service.requirements.env, *passed]))


def has_client_notes(service: Service) -> bool:
    """Tells whether there is anything to say of how a client starts or reaches the server."""
    entry = service.client_entry
    if service.kind != "mcp" or entry is None:
        return False
    return client_configuration(service) is not None or bool(service.install or client_variables(service))
