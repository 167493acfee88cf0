"""Which CONFIG_DB places may hold a secret. Their values never reach a report, a log or a diff."""

_SECRET_FIELDS = frozenset({
    "passkey", "password", "passwd", "auth_password", "auth_key", "priv_key", "snmp_user_auth_password",
    "snmp_user_encryption_password", "secret", "psk", "primary_cak", "fallback_cak", "community",
})  # fmt: skip
# In these tables the row key itself is the secret, or everything in the row may be.
_SECRET_TABLES = frozenset({"SNMP_COMMUNITY", "NTP_KEY"})


def is_secret(table: str, field: str) -> bool:
    """Whether a field, or the key of the table's rows, may hold a secret."""
    return table in _SECRET_TABLES or field.lower() in _SECRET_FIELDS


def is_secret_path(path: str) -> bool:
    """The same for a finding's path, TABLE|key|field."""
    parts = path.split("|")
    return is_secret(parts[0], parts[-1] if len(parts) > 1 else "")
