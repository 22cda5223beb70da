"""The folder to serve below /.well-known/: what a client fetches is what the index and the catalogue promise."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit
from urllib.request import urlopen

import pytest
import yaml
from captured import service_of_answers
from cli import ROOT, files_of, generated, run_skillgen
from descriptions import description, operation, write
from http_servers import QuietHandler, http_servers
from jsonschema import Draft202012Validator, FormatChecker
from openapi_spec_validator import OpenAPIV31SpecValidator
from test_publish import ACME, answers, published, read_json

import skillgen

SPECIFICATIONS = ROOT / "tests" / "specifications"
SOURCES = ROOT / "tests" / "golden" / "sources"
Json = Any


def validator(path: str, part: str | None = None) -> Draft202012Validator:
    schema = read_json(SPECIFICATIONS / path)
    if part is not None:
        schema = {**schema, "$ref": f"#/$defs/{part}"}
    return Draft202012Validator(schema, format_checker=FormatChecker())


INDEX = validator("dashdash/agent-skills-index-0.2.0.schema.json")
CATALOGUE = validator("ard/ai-catalog.schema.json")
CARD = validator("server-card/server-card.schema.json", "ServerCard")


def well_known(
    folder: Path, service: skillgen.Service, formats: tuple[str, ...] = ("well-known",)
) -> tuple[Path, dict[str, list[str]]]:
    """Returns the folder, whose files are valid, and the problems."""
    out, problems = published(folder, service, emit=formats, publish=ACME)
    served = out / "well-known"
    INDEX.validate(read_json(served / "agent-skills/index.json"))
    for name in ("ard.json", "ai-catalog.json"):
        CATALOGUE.validate(read_json(served / name))
    for path in served.rglob("server-card.json"):
        CARD.validate(read_json(path))
    return served, problems


def hosted() -> skillgen.Service:
    return service_of_answers(answers(title="Acme Kiosk"), url="https://mcp.acme.com/mcp")


def playwright() -> skillgen.Service:
    return skillgen.read(SOURCES / "playwright.json")


def test_a_client_gets_each_skill_that_the_index_promises(tmp_path: Path) -> None:
    """X-42: the digest of the bytes that are served, SKILL.md alone or an archive with the files at its root."""
    for service, end in ((hosted(), "/SKILL.md"), (playwright(), ".zip")):
        served, _ = well_known(tmp_path / end.strip("/."), service, ("skill", "well-known"))
        out = served.parent
        with http_servers() as start:
            index_url = start(site_of(served)) + "/.well-known/agent-skills/index.json"
            with urlopen(index_url) as answer:
                assert answer.headers["Content-Type"] == "application/json"
                (entry,) = json.load(answer)["skills"]
            assert entry["url"].endswith(end)
            with urlopen(urljoin(index_url, entry["url"])) as answer:
                content = answer.read()
                assert (
                    answer.headers["Content-Type"]
                    == {".zip": "application/zip", "/SKILL.md": "text/markdown; charset=utf-8"}[end]
                )
        assert entry["digest"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
        files = {f"skills/{entry['name']}/{path}": text for path, text in unpacked(content).items()}
        assert files == {path: text for path, text in files_of(out).items() if path.startswith("skills/")}


def site_of(served: Path) -> type[QuietHandler]:
    """Returns the handler of a site that serves the folder with the headers that it declares."""
    types = media_types(served)

    class Site(QuietHandler):
        def do_GET(self) -> None:
            content = (served / self.path.removeprefix("/.well-known/")).read_bytes()
            self.send_response(200)
            self.send_header("Content-Type", types[self.path])
            self.end_headers()
            self.wfile.write(content)

    return Site


def unpacked(content: bytes) -> dict[str, bytes]:
    if not content.startswith(b"PK"):
        return {"SKILL.md": content}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {item.filename: archive.read(item) for item in archive.infolist()}


def media_types(served: Path) -> dict[str, str]:
    """Returns the media type of each path that `_headers` declares."""
    types: dict[str, str] = {}
    path = ""
    for line in (served / "_headers").read_text("utf-8").splitlines():
        path = line if line.startswith("/") else path
        name, _, value = line.strip().partition(": ")
        types |= {path: value} if name == "Content-Type" else {}
    return types


def test_an_archive_depends_on_nothing_but_its_files(tmp_path: Path) -> None:
    """Issue 18: the same bytes every time: fixed dates, sorted entries, no directory entries."""
    served, _ = well_known(tmp_path / "one", playwright())
    again, _ = well_known(tmp_path / "two", playwright())
    assert files_of(served) == files_of(again)
    with zipfile.ZipFile(served / "agent-skills/playwright.zip") as archive:
        entries = archive.infolist()
    assert [item.filename for item in entries] == sorted(item.filename for item in entries)
    assert "SKILL.md" in [item.filename for item in entries]
    assert {(item.date_time[:3], item.compress_type, item.is_dir()) for item in entries} == {((1980, 1, 1), 0, False)}


def test_every_served_file_has_its_headers(tmp_path: Path) -> None:
    for service in (hosted(), skillgen.read(ROOT / "examples/acme-tasks/mcp.yaml")):
        served, _ = well_known(tmp_path / service.name, service, ("well-known", "server-card"))
        not_served = {"_headers", "headers.nginx.conf", "mcpx.json"}
        paths = {f"/.well-known/{path}" for path in files_of(served) if path not in not_served}
        assert set(media_types(served)) == paths
        declared = {path.rpartition("/")[2]: kind for path, kind in media_types(served).items()}
        assert declared["ard.json"] == declared["ai-catalog.json"] == "application/ai-catalog+json"
        assert declared.get("server-card.json") in (None, "application/mcp-server-card+json")
        nginx = (served / "headers.nginx.conf").read_text("utf-8")
        # RFC 9727, 2: the answer to HEAD has the link.
        for text in (nginx, (served / "_headers").read_text("utf-8")):
            assert text.count("</.well-known/api-catalog>; rel=api-catalog") == 1
        assert all(f"location = {path} {{\n" in nginx for path in paths)
        assert nginx.count("{") == nginx.count("}")


def test_the_catalogue_names_the_skill_and_the_server(tmp_path: Path) -> None:
    """X-41: an entry for the skill, and one for a server that others reach, with its card."""
    served, problems = well_known(tmp_path, hosted())
    assert problems == {}
    assert (served / "ard.json").read_bytes() == (served / "ai-catalog.json").read_bytes()
    catalogue = read_json(served / "ard.json")
    assert catalogue["host"] == {"displayName": "acme.com"}
    skill, server = catalogue["entries"]
    assert skill["identifier"] == "urn:air:acme.com:skill:kiosk"
    assert urlsplit(skill["url"]).netloc == "acme.com"
    assert (skill["displayName"], skill["capabilities"], skill["version"]) == ("Acme Kiosk", ["book"], "1.4.2")
    assert server["type"] == "application/mcp-server-card+json"
    CARD.validate(server["data"])
    (several,) = read_json(well_known(tmp_path / "playwright", playwright())[0] / "ard.json")["entries"]
    assert 2 <= len(several["representativeQueries"]) <= 5


def test_a_server_card_is_written_when_it_is_asked_for(tmp_path: Path) -> None:
    """X-41: no packages and no tools; the catalogue refers to the card instead of embedding it."""
    served, problems = well_known(tmp_path, hosted(), ("well-known", "server-card"))
    assert problems == {}
    card = read_json(served / "server-card.json")
    assert card == read_json(served.parent / "server-card.json")
    assert not {"packages", "tools", "capabilities"} & set(card)
    assert card["remotes"][0]["url"] == "https://mcp.acme.com/mcp"
    entry = read_json(served / "ard.json")["entries"][1]
    assert entry["url"] == "https://acme.com/.well-known/server-card.json"
    linked = read_json(served / "api-catalog")["linkset"][1]
    assert linked["anchor"] == "https://mcp.acme.com/mcp"
    assert linked["service-meta"] == [{"href": entry["url"], "type": "application/mcp-server-card+json"}]
    read = run_skillgen("from-server", "--config", served / "api-catalog")
    assert "choose one with --server NAME: card (https://acme.com/.well-known/server-card.json)" in read.stderr
    _, problems = published(tmp_path / "local", service_of_answers(answers()), emit=["server-card"], publish=ACME)
    assert "has no URL of it that others reach" in problems["format-left-out"][0]


def test_an_unknown_version_of_the_server_card_is_refused(tmp_path: Path) -> None:
    words = ("--snapshot", SOURCES / "slack.json", "-o", tmp_path / "out", "--publish", "server-card=v9")
    finished = run_skillgen("from-server", *words)
    assert (finished.exit_code, finished.stdout) == (2, "")
    assert "choose from v1" in finished.stderr


def test_without_a_publisher_only_the_index_is_written(tmp_path: Path) -> None:
    out, problems = published(tmp_path, playwright(), emit=["well-known"])
    names = {path.rpartition("/")[2] for path in files_of(out / "well-known")}
    assert names == {"index.json", "playwright.zip", "_headers", "headers.nginx.conf"}
    assert len(problems["published-without"]) == 1


def test_one_check_covers_digests_versions_and_archives(tmp_path: Path) -> None:
    """Issue 18: one `--check` for all digests and versions; an edit is never merged into a file with a digest."""
    snapshot = tmp_path / "a.json"
    write(snapshot, read_json(SOURCES / "playwright.json"))
    words = ("--snapshot", snapshot, "-o", tmp_path / "out", "--emit", "well-known", "--publish", "domain=acme.com")
    generated("from-server", *words)
    generated("from-server", *words, "--check")
    archive = tmp_path / "out/well-known/agent-skills/playwright.zip"
    good = archive.read_bytes()
    archive.write_bytes(good.replace(b"browser", b"BROWSER"))
    finished = run_skillgen("from-server", *words, "--check").ended(1)
    assert "Binary files a/well-known/agent-skills/playwright.zip and b/" in finished.stdout
    run_skillgen("from-server", *words).ended(4, "names its digest")
    generated("from-server", *words, "--force")
    assert archive.read_bytes() == good
    generated("from-server", *words, "--service-version", "9.9.9")
    assert archive.read_bytes() != good
    index = read_json(archive.with_name("index.json"))
    assert index["skills"][0]["digest"] == f"sha256:{hashlib.sha256(archive.read_bytes()).hexdigest()}"
    generated("from-server", *words[:-4], "--emit", "llms")
    assert not archive.exists()


def test_a_sentence_of_a_person_in_a_file_with_a_digest_is_a_conflict(tmp_path: Path) -> None:
    served, _ = well_known(tmp_path, hosted())
    skill = served / "agent-skills/kiosk/SKILL.md"
    skill.write_bytes(skill.read_bytes() + b"\nAsk us at the desk.\n")
    with pytest.raises(skillgen.EditedError, match="names its digest"):
        well_known(tmp_path, hosted())
    skill.write_bytes(skill.read_bytes().replace(b"\nAsk us at the desk.\n", b"").replace(b"\n", b"\r\n"))
    assert skillgen.check(hosted(), out=served.parent, emit=["well-known"], publish=ACME).changed == (skill,)


def test_several_services_share_the_folder_of_their_domain(tmp_path: Path) -> None:
    services = [skillgen.read(SOURCES / f"{name}.json") for name in ("github-mcp-server", "slack")]
    write(tmp_path / "snapshot.json", skillgen.snapshot(*services))
    words = ("--snapshot", tmp_path / "snapshot.json", "-o", tmp_path / "out", "--emit", "well-known")
    generated("from-server", *words, "--publish", "domain=acme.com")
    served = tmp_path / "out/well-known"
    index = read_json(served / "agent-skills/index.json")
    INDEX.validate(index)
    assert [item["name"] for item in index["skills"]] == ["github", "slack"]
    for item in index["skills"]:
        content = (served / item["url"].removeprefix("/.well-known/")).read_bytes()
        assert item["digest"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
    catalogue = read_json(served / "ard.json")
    CATALOGUE.validate(catalogue)
    assert len(catalogue["entries"]) == 2


# -- mcp.yaml ----------------------------------------------------------------------------------------------------------


def manifest(folder: Path, service: skillgen.Service) -> tuple[Json, dict[str, list[str]]]:
    """Returns mcp.yaml, which is a valid description with all that MCP (REST edition) requires, and the problems."""
    served, problems = well_known(folder, service)
    data = yaml.safe_load((served / "mcp.yaml").read_text("utf-8"))
    assert [str(error) for error in OpenAPIV31SpecValidator(data).iter_errors()] == []
    assert {"title", "version", "description"} <= set(data["info"])
    operations = [item for path in data["paths"].values() for item in path.values()]
    assert all(item[key] for item in operations for key in ("operationId", "summary", "description"))
    return data, problems


def test_mcp_yaml_describes_the_same_calls_as_its_source(tmp_path: Path) -> None:
    """S2-22: a curated, valid manifest from the model; reading it again finds the same tools."""
    source = skillgen.read(ROOT / "examples/acme-tasks/mcp.yaml")
    data, problems = manifest(tmp_path, source)
    assert problems == {}
    again = skillgen.read(tmp_path / "out/well-known/mcp.yaml")
    assert [(item.name, item.method, item.path, item.input_schema) for item in again.tools] == [
        (item.name, item.method, item.path, item.input_schema) for item in source.tools
    ]
    assert data["components"]["securitySchemes"]["oauth2"]["flows"]["authorizationCode"]["scopes"]
    assert read_json(tmp_path / "out/well-known/mcpx.json") == {
        "name": "acme-tasks",
        "manifest_url": "https://acme.com/.well-known/mcp.yaml",
        "auth": ["oauth2"],
        "categories": ["project-management"],
    }
    linked = read_json(tmp_path / "out/well-known/api-catalog")["linkset"][1]
    assert linked["service-desc"][0]["href"] == "https://acme.com/.well-known/mcp.yaml"


def test_mcp_yaml_writes_older_schemas_as_3_1_does(tmp_path: Path) -> None:
    act = operation(
        "get_a",
        parameters=[
            {
                "name": "size",
                "in": "query",
                "schema": {"type": "integer", "minimum": 1, "exclusiveMinimum": True, "nullable": True},
            },
            {"name": "kinds", "in": "query", "explode": False, "schema": {"type": "array", "items": {"type": "no"}}},
        ],
        responses={
            "200": {
                "description": "yes",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/a b"}}},
            }
        },
    )
    data = description({"/a": {"get": act}})
    data["openapi"] = "3.0.3"
    words = {"enum": ["on", "1e3"]}
    node = {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/a b"}, "no": words}}
    data["components"] = {"schemas": {"a b": node}}
    data["servers"] = [{"url": "https://api.acme.com"}]
    read, problems = manifest(tmp_path, skillgen.read(data))
    size, kinds = read["paths"]["/a"]["get"]["parameters"]
    assert size["schema"] == {"type": ["integer", "null"], "exclusiveMinimum": 1}
    assert kinds["explode"] is False
    (name,) = read["components"]["schemas"]
    properties = read["components"]["schemas"][name]["properties"]
    assert properties == {"next": {"$ref": f"#/components/schemas/{name}"}, "no": words}
    assert "requires OAuth 2.0" in problems["published-without"][0]


WRONG = [{"b": [1]}, [None], True, None, "x", 10**30, -1, {"$ref": True}]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_mcp_yaml_is_valid_whatever_the_keywords_of_a_schema_have(tmp_path: Path, wrong: Json) -> None:
    """Each keyword alone, since the validator reports only the first fault."""
    keywords = ["type", "format", "title", "description", "pattern", "minLength", "maximum", "exclusiveMinimum"]
    keywords += ["required", "enum", "properties", "items", "allOf", "xml", "discriminator", "deprecated", "$ref"]
    keywords += ["uniqueItems", "externalDocs", "examples", "additionalProperties", "nullable"]
    properties = {f"p{number}": {key: wrong} for number, key in enumerate(keywords)}
    body = {"content": {"application/json": {"schema": {"type": "object", "properties": properties}}}}
    read, _ = manifest(tmp_path, skillgen.read(description({"/a": {"post": operation("a", requestBody=body)}})))
    assert read["paths"]["/a"]["post"]["requestBody"]["content"]["application/json"]["schema"]["type"] == "object"


@pytest.mark.parametrize(
    ("login", "written"),
    [
        (
            {"type": "oauth2", "flows": {"authorizationCode": {"authorizationUrl": "https://a.example", "scopes": {}}}},
            {"type": "oauth2", "flows": {}},
        ),
        (key := {"type": "apiKey", "in": "header", "name": "Authorization", "description": "`Token token=<key>`"}, key),
        (query := {"type": "apiKey", "in": "query", "name": "a: b="}, query),
        (key | {"description": "`Token <key>`"}, {"type": "http", "scheme": "token", "description": "`Token <key>`"}),
    ],
)
def test_mcp_yaml_has_a_login_that_clients_can_read(tmp_path: Path, login: Json, written: Json) -> None:
    """No flow without the URLs that it needs, and no scheme of HTTP with more than a word."""
    data = description(components={"securitySchemes": {"login": login}}, security=[{"login": []}])
    read, _ = manifest(tmp_path, skillgen.read(data))
    assert read["components"]["securitySchemes"] == {"login": written}


def test_mcp_yaml_has_no_method_that_only_openapi_3_2_has(tmp_path: Path) -> None:
    act = {"get": operation("get_a"), "query": operation("query_a"), "additionalOperations": {"COPY": operation("b")}}
    data = description({"/a": act})
    data["openapi"] = "3.2.0"
    read, problems = manifest(tmp_path, skillgen.read(data))
    assert set(read["paths"]["/a"]) == {"get"}
    assert "no method COPY, QUERY" in problems["published-without"][0]


INVISIBLE = "\u202eabc\x7f\U000e0041"
HOSTILE = ["a: b #c\n- d\n", "@/etc/passwd", INVISIBLE, "'\"\\", "yes", "---\n", "{{ x }}"]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_values_of_mcp_yaml(text: str, tmp_path: Path) -> None:
    act = operation("get_a", summary=text, description=text, tags=[text])
    act["parameters"] = [{"name": text, "in": "query", "schema": {"type": "string", "enum": [text]}}]
    data = description({"/a": {"get": act}})
    data["info"]["description"] = text
    service = skillgen.read(data)
    read, _ = manifest(tmp_path, service)
    (parameter,) = read["paths"]["/a"]["get"]["parameters"]
    assert parameter["name"] == service.tools[0].parameters[0].name
    assert parameter["schema"]["enum"] == [text if text != INVISIBLE else "abc"]
    shown = (tmp_path / "out/well-known/mcp.yaml").read_text("utf-8")
    assert not set(shown) & set(INVISIBLE) - set("abc")
    assert "@/" not in shown
