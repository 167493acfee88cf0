"""The list of secrets against SONiC's YANG models: each field whose name suggests a secret is hidden or reviewed."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from fabricgen.sonic.secrets import is_secret
from tests.shared_material import shared

_SUGGESTS = re.compile(r"pass|secret|(?:^|_)key(?:_|$)|token|psk|cak|community|private|credential|auth", re.IGNORECASE)
# Fields whose names suggest a secret, and what they contain instead.
_REVIEWED = {
    "passive_mode": "true or false",
    "remove_private_as_all": "true or false",
    "remove_private_as_enabled": "true or false",
    "replace_private_as": "true or false",
    "send_community": "a kind of BGP communities",
    "community_member": "BGP communities",
    "match_community": "the name of a set",
    "match_ext_community": "the name of a set",
    "set_community_inline": "BGP communities",
    "set_community_ref": "the name of a set",
    "set_ext_community_inline": "BGP communities",
    "set_ext_community_ref": "the name of a set",
    "server_key": "the path of a file",
    "client_key": "the path of a file",
    "grpc_ssl_credential": "the path of a file",
    "client_auth": "true or false",
    "user_auth": "a kind of authentication",
    "auth_level": "a level",
    "auth_type": "a protocol",
    "auth_port": "a UDP port",
    "key_encrypt": "true or false",
    "authentication": "enabled or disabled",
    "authentication_retries": "a number",
    "password_authentication": "true or false",
    "reject_user_passw_match": "true or false",
    "key": "the number of a key of NTP",
    "gre_key": "a value of packets",
    "lacp_key": "a number of LACP",
    "SNMP_USER_AUTH_TYPE": "a protocol",
}


def _fields(node: Mapping[str, Any]) -> Iterator[str]:
    for name, inner in node.get("nodes", {}).items():
        if inner.get("kind") in ("leaf", "leaf-list"):
            yield name
        yield from _fields(inner)


def test_every_field_of_the_models_that_suggests_a_secret_is_hidden_or_reviewed() -> None:
    schema = json.loads(shared("data", "sonic", "config_db_schema.json").read_text())
    tables = schema.get("tables", schema)
    found = {
        (table, field)
        for table, node in tables.items()
        if isinstance(node, dict)
        for field in _fields(node)
        if _SUGGESTS.search(field)
    }
    assert len(found) > len(_REVIEWED)
    assert sorted(one for one in found if not is_secret(*one) and one[1] not in _REVIEWED) == []
    assert sorted(_REVIEWED.keys() - {field for _, field in found}) == []


@pytest.mark.parametrize(
    ("table", "field", "secret"),
    [
        ("BGP_NEIGHBOR", "auth_password", True),
        ("SNMP_USER", "SNMP_USER_AUTH_PASSWORD", True),
        ("SNMP_USER", "SNMP_USER_AUTH_TYPE", False),
        ("MACSEC_PROFILE", "primary_cak", True),
        ("TACPLUS_SERVER", "passkey", True),
        ("NTP_SERVER", "key", False),
        ("NTP_KEY", "value", True),
        ("LDAP", "bind_password", True),
        ("PORTCHANNEL", "lacp_key", False),
    ],
)
def test_known_fields(table: str, field: str, secret: bool) -> None:
    assert is_secret(table, field) is secret
