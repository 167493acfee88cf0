"""Custom resource definitions as JSON Schema, strict: an unknown field, which the API server drops, is a mistake.

Beyond the schemas: kinds of the whole cluster have no namespace, and JSON in a string is JSON.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import yaml

Definitions = dict[tuple[str, str], tuple[dict[str, Any], str]]
# Strings that hold JSON, and those that hold it without the brackets of a list.
JSON_FIELDS = {"NetworkAttachmentDefinition": ("config",)}
JSON_ANNOTATION = "k8s.v1.cni.cncf.io/networks"


@cache
def definitions(folder: Path) -> Definitions:
    """(apiVersion, kind) -> strict schema and scope, of every definition in the folder."""
    found: Definitions = {}
    for file in sorted(folder.glob("crd_*.yaml")):
        for one in yaml.safe_load_all(file.read_text()):
            for version in one["spec"]["versions"] if one else ():
                schema = strict(version["schema"]["openAPIV3Schema"])
                schema["properties"] |= {
                    "apiVersion": {"type": "string"},
                    "kind": {"type": "string"},
                    "metadata": {"type": "object"},
                }
                key = f"{one['spec']['group']}/{version['name']}", one["spec"]["names"]["kind"]
                found[key] = schema, one["spec"]["scope"]
    return found


def strict(schema: Any) -> Any:
    """An openAPIV3Schema as JSON Schema that knows no other fields."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: strict(value) for key, value in schema.items() if key != "format"}
    if made.pop("x-kubernetes-int-or-string", False):
        made.pop("type", None)
        made["anyOf"] = [{"type": "integer"}, {"type": "string"}]
    if made.pop("nullable", False) is True:
        made["type"] = [made["type"], "null"]
    free = made.get("x-kubernetes-preserve-unknown-fields") or made.get("x-kubernetes-embedded-resource")
    if made.get("type") == "object" and isinstance(made.get("properties"), dict) and not free:
        made.setdefault("additionalProperties", False)
    return made


def problems(document: dict[str, Any], known: Definitions) -> list[str]:
    """The mistakes in a manifest; a kind without a definition gets only the checks that no schema can make."""
    kind = document["kind"]
    schema, scope = known.get((document["apiVersion"], kind), ({}, "Namespaced"))
    errors = jsonschema.Draft202012Validator(schema).iter_errors(document)
    found = ["/".join(map(str, error.absolute_path)) + f": {error.message}" for error in errors]
    if scope == "Cluster" and "namespace" in document["metadata"]:
        found.append("metadata/namespace: the kind is the cluster's")
    texts = {f"spec/{name}": document["spec"][name] for name in JSON_FIELDS.get(kind, ()) if name in document["spec"]}
    annotations = document["metadata"].get("annotations", {})
    texts |= {JSON_ANNOTATION: annotations[JSON_ANNOTATION]} if JSON_ANNOTATION in annotations else {}
    for name, text in texts.items():
        try:
            json.loads(text)
        except (ValueError, TypeError) as error:
            found.append(f"{name} is not JSON: {error}")
    return found
