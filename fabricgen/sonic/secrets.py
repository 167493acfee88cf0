"""The places of CONFIG_DB and of an inventory that may contain a secret, which no report, log or diff may show."""

import re
from difflib import get_close_matches

SECRET_FIELDS = frozenset({
    "passkey", "password", "passwd", "auth_password", "auth_key", "bind_password", "priv_key",
    "snmp_user_auth_password", "snmp_user_encryption_password", "secret", "psk", "primary_cak", "fallback_cak",
    "community", "key", "m_key",
})  # fmt: skip
# In these tables the row key is a secret, or each field may be one.
SECRET_TABLES = frozenset({"SNMP_COMMUNITY", "NTP_KEY"})

_STEP = re.compile(r"[|.\[\]]+")
_MEMBER = re.compile(r"""["']?(\w+)["']?\s*:\s*""")
_SCALAR = re.compile(r""""(?:[^"\\]|\\.)*"|'[^']*'|[^\s,}\]{\[][^,}\]]*""")
_LONGEST_WORD = 3
PLACEHOLDER = "${secret:"  # the reference to a secret in a rendered file
_REFERENCES = ("!secret ", PLACEHOLDER, f'"{PLACEHOLDER}', f"'{PLACEHOLDER}")


def is_secret_field(table: str, field: str) -> bool:
    """Whether a field is a credential."""
    return field.lower() in SECRET_FIELDS or (table, field) == ("NTP_KEY", "value")


def is_secret_key(table: str) -> bool:
    """Whether the row keys of a table are secrets."""
    return table == "SNMP_COMMUNITY"


def is_secret(table: str, field: str) -> bool:
    """Whether a field is a credential, or in a table whose content is hidden."""
    return table in SECRET_TABLES or field.lower() in SECRET_FIELDS


def shown_key(table: str, key: str) -> str:
    """A row key without a secret. Placeholders are not secrets."""
    return "***" if is_secret_key(table) and not key.startswith(PLACEHOLDER) else key


def shown_value(table: str, field: str, value: object) -> object:
    """A value without a secret. Placeholders and short words next to a secret key, such as RO, are not secrets."""
    if isinstance(value, list):
        return [shown_value(table, field, item) for item in value]
    if value is None or not is_secret(table, field):
        return value
    text = value if isinstance(value, str) else ""
    is_word = 0 < len(text) <= _LONGEST_WORD and not is_secret_field(table, field)
    return text if is_word or text.startswith(PLACEHOLDER) else "***"


def is_secret_path(path: str) -> bool:
    """Whether a path of a finding has a secret field: TABLE|key|field, or the dotted path of an inventory value."""
    return any(is_secret(step, step) for step in _STEP.split(path))


def masked(line: str) -> str:
    """A line of YAML or JSON of equal length with asterisks in place of possible secrets, also under misspelt names."""
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
