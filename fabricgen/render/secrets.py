"""Secrets stay where they are kept: a bundle holds placeholders, which the deployment fills in."""

from collections.abc import Iterator, Mapping

from fabricgen.inventory.nodes import SecretReference

# Fields whose text gives access to something, by table; "*" is the row's key itself.
SECRET_FIELDS: Mapping[str, frozenset[str]] = {
    "BGP_NEIGHBOR": frozenset({"auth_password"}),
    "BGP_PEER_GROUP": frozenset({"auth_password"}),
    "LDAP": frozenset({"bind_password"}),
    "MACSEC_PROFILE": frozenset({"primary_cak", "fallback_cak"}),
    "NTP_KEY": frozenset({"value"}),
    "RADIUS": frozenset({"passkey"}),
    "RADIUS_SERVER": frozenset({"passkey"}),
    "SNMP_COMMUNITY": frozenset({"*"}),
    "SNMP_USER": frozenset({"SNMP_USER_AUTH_PASSWORD", "SNMP_USER_ENCRYPTION_PASSWORD"}),
    "TACPLUS": frozenset({"passkey"}),
    "TACPLUS_SERVER": frozenset({"passkey"}),
}


def placeholder(reference: SecretReference) -> str:
    """What stands in a rendered file in a secret's place."""
    return f"${{secret:{reference}}}"


def literal_secrets(table: str, key: str, row: Mapping[str, object]) -> Iterator[str]:
    """The secret fields of a row that hold a text of their own instead of a reference; "*" for the key."""
    for name in SECRET_FIELDS.get(table, ()):
        text = key if name == "*" else row.get(name, SecretReference())
        if isinstance(text, str) and not isinstance(text, SecretReference) and not text.startswith("${secret:"):
            yield name
