"""JSON Schemas of every message, made from the Structs, so that they cannot say anything else.

They are for people who write runners in other languages; Perbyte itself validates with the Structs. What a
schema cannot say (arrays of equal length, a digest that fits the output) stands in SPEC.md. Run
`write()` after a change of `messages`; a test fails until that is done.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from perbyte import places
from perbyte.protocol import messages
from perbyte.protocol.messages import REQUESTS, Refusal, RunnerAnswer, RunnerRequest

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schemas() -> dict[str, dict[str, Any]]:
    """File name -> schema, for every request, every answer, and the refusal."""
    documents: dict[str, dict[str, Any]] = {}
    by_verb: dict[str, list[type[RunnerRequest]]] = {}
    for request in REQUESTS:
        by_verb.setdefault(str(request.__struct_config__.tag), []).append(request)
    for verb, kinds in by_verb.items():
        documents[f"{verb}.request.json"] = _either(f"{verb}: request", [_of(kind) for kind in kinds])
        answers = list(dict.fromkeys(kind.answer for kind in kinds))
        documents[f"{verb}.answer.json"] = _either(
            f"{verb}: answer", [_of(kind, ok=True) for kind in answers]
        )
    documents["refusal.json"] = _either("refusal", [_of(Refusal, ok=False)])
    return documents


def write(directory: Path | None = None) -> None:
    """Write all schemas into `directory` (default: `protocol/schema`)."""
    directory = directory or places.data_dir("protocol") / "schema"
    for name, schema in schemas().items():
        (directory / name).write_text(text(schema), encoding="utf-8")


def text(schema: dict[str, Any]) -> str:
    """A schema as its file has it."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _of(kind: type[RunnerRequest] | type[RunnerAnswer], ok: bool | None = None) -> dict[str, Any]:
    whole = msgspec.json.schema(kind)
    definitions: dict[str, Any] = whole["$defs"]
    schema: dict[str, Any] = definitions.pop(kind.__name__)
    # A default in a Struct spares the caller a word; on the line the field must stand all the same.
    optional = {field.encode_name for field in msgspec.structs.fields(kind) if field.default is msgspec.UNSET}
    schema["required"] = [name for name in schema["properties"] if name not in optional]
    if ok is not None:
        schema["properties"]["ok"] = {"const": ok}
    for name in ("round_trip", "forgery"):
        if name in schema["properties"]:
            schema["properties"][name] = {"const": True}
    for field in schema["properties"].values():
        field.pop("default", None)
    if definitions:
        schema["$defs"] = definitions
    return schema


def _either(title: str, kinds: list[dict[str, Any]]) -> dict[str, Any]:
    head = {"$schema": DIALECT, "title": f"Perbyte runner protocol {messages.PROTOCOL_VERSION}, {title}"}
    if len(kinds) == 1:
        kinds[0].pop("title", None)
        return {**head, **kinds[0]}
    definitions = {name: value for kind in kinds for name, value in kind.pop("$defs", {}).items()}
    return {**head, "anyOf": kinds, **({"$defs": definitions} if definitions else {})}
