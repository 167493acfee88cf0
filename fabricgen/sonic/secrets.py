"""Which places of CONFIG_DB and of an inventory may hold a secret: values that no report, log or diff may show."""

import re
from difflib import get_close_matches

SECRET_FIELDS = frozenset({
    "passkey", "password", "passwd", "auth_password", "auth_key", "bind_password", "priv_key",
    "snmp_user_auth_password", "snmp_user_encryption_password", "secret", "psk", "primary_cak", "fallback_cak",
    "community", "key", "m_key",
})  # fmt: skip
# In these tables the row key itself is the secret, or everything in the row may be.
SECRET_TABLES = frozenset({"SNMP_COMMUNITY", "NTP_KEY"})

_STEP = re.compile(r"[|.\[\]]+")
_MEMBER = re.compile(r"""["']?(\w+)["']?\s*:\s*""")
_SCALAR = re.compile(r""""(?:[^"\\]|\\.)*"|'[^']*'|[^\s,}\]{\[][^,}\]]*""")
_LONGEST_WORD = 3
PLACEHOLDER = "${secret:"  # how a rendered file refers to a secret
_REFERENCES = ("!secret ", PLACEHOLDER, f'"{PLACEHOLDER}', f"'{PLACEHOLDER}")


def is_secret_field(table: str, field: str) -> bool:
    """Whether a field gives access to something."""
    return field.lower() in SECRET_FIELDS or (table, field) == ("NTP_KEY", "value")


def is_secret_key(table: str) -> bool:
    """Whether the key of a table's rows is itself the secret."""
    return table == "SNMP_COMMUNITY"


def is_secret(table: str, field: str) -> bool:
    """Whether a field, or anything else in the table, had better not be shown."""
    return table in SECRET_TABLES or field.lower() in SECRET_FIELDS


def shown_key(table: str, key: str) -> str:
    """A row's key as it may be shown; placeholders are no secrets."""
    return "***" if is_secret_key(table) and not key.startswith(PLACEHOLDER) else key


def shown_value(table: str, field: str, value: object) -> object:
    """A field's value as it may be shown; placeholders are no secrets, nor are words such as RO beside a secret key."""
    if isinstance(value, list):
        return [shown_value(table, field, item) for item in value]
    if value is None or not is_secret(table, field):
        return value
    text = value if isinstance(value, str) else ""
    is_word = 0 < len(text) <= _LONGEST_WORD and not is_secret_field(table, field)
    return text if is_word or text.startswith(PLACEHOLDER) else "***"


def is_secret_path(path: str) -> bool:
    """The same for a finding's path: TABLE|key|field, or the dotted path of an inventory value."""
    return any(is_secret(step, step) for step in _STEP.split(path))


def masked(line: str) -> str:
    """A line of YAML or JSON with asterisks for what may be a secret, also under a mistyped name; as long as before."""
    member = _MEMBER.search(line)
    while member:
        start = end = member.end()
        if member[1] in SECRET_TABLES:
            return line[:start] + re.sub(r"\w", "*", line[start:])
        if value := _SCALAR.match(line, start):
            end = value.end()
            if _may_be_secret(member[1]) and not value[0].startswith(_REFERENCES):
                line = line[:start] + "*" * len(value[0]) + line[end:]
        member = _MEMBER.search(line, end)
    return line


def _may_be_secret(name: str) -> bool:
    return bool(get_close_matches(name.lower(), SECRET_FIELDS, n=1, cutoff=0.8))
