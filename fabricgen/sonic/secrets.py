"""The places of CONFIG_DB and of an inventory that may contain a secret, which no report, log or diff may show.

This is the only list. A secret is found by its field, by its table, or by its own form.

The Ansible role contains this module: only the standard library and relative imports.
"""

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any

from .tables import loadable_rows

# Secret field, in lower case -> its source. YANG models: sonic-buildimage, src/sonic-yang-models/yang-models.
_SOURCES = {
    "auth_password": "sonic-bgp-common.yang: MD5 key of BGP_NEIGHBOR and BGP_PEER_GROUP",
    "passkey": "sonic-system-tacacs.yang, sonic-system-radius.yang",
    "bind_password": "sonic-system-ldap.yang",
    "primary_cak": "sonic-macsec.yang",
    "fallback_cak": "sonic-macsec.yang",
    "snmp_user_auth_password": "sonic-snmp.yang: SNMP_USER",
    "snmp_user_encryption_password": "sonic-snmp.yang: SNMP_USER",
    "community": "sonic-utilities config/main.py: SNMP_TRAP_CONFIG; management.snmp of an inventory",
    "key": "management.tacacs of an inventory",
    "m_key": "opensm.conf; infiniband of an inventory",
    "password": "tables without a model: bgpcfgd's BGP_NEIGHBOR of old releases, users, BMC",
    "passwd": "tables without a model",
    "password_hash": "tables without a model: local users",
    "auth_key": "tables without a model",
    "priv_key": "tables without a model",
    "private_key": "tables without a model: certificates, SSH",
    "secret": "tables without a model",
    "psk": "tables without a model: IPsec",
    "token": "tables without a model: join token of KUBERNETES_MASTER, REST clients",
}  # fmt: skip
SECRET_FIELDS = frozenset(_SOURCES)
# In these tables the row key is a secret, or each field may be one: sonic-snmp.yang, sonic-ntp.yang.
SECRET_TABLES = frozenset({"SNMP_COMMUNITY", "NTP_KEY"})
_NUMBERS = {("NTP_SERVER", "key")}  # the number of a row of NTP_KEY, not its value (sonic-ntp.yang)
# Names of secrets in tables that have no model.
_NAME = re.compile(
    r"(?:.*_)?(?:passwords?|passwd|passphrase|passkey|pwd|secrets?|psk|cak|token|(?:private|priv|api|auth|encryption)_key)"
    r"(?:_?(?:hash|hashed|enc|encrypted|old|new|\d+))?|hashed_password|(?:hash|crypt)ed_passw\w+"
)
# Forms of secrets: a private key (RFC 7468), a hash of crypt(5), a file of Ansible Vault, a URL with a password.
_FORM = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?:(?:\\n|[^\"'\\])*?-----END [A-Z0-9 ]*PRIVATE KEY-----|(?:\\n|[^\"'\\])*)"
    r"|\$(?:1|2[abxy]?|5|6|7|y|gy|sha1|md5)\$[^\s\"',:]{8,}"
    r"|\$ANSIBLE_VAULT;[^\"']*"
    r"|(?<=://)[^/\s:@\"']+:[^/\s@\"']+(?=@)"
)
_HASH_IN_FILE = re.compile(rb'"\$(?!\{)')

_STEP = re.compile(r"[|.\[\]]+")
_MEMBER = re.compile(r"""["']?([\w-]+)["']?\s*:\s*""")
_SCALAR = re.compile(r""""(?:[^"\\]|\\.)*"|'[^']*'|[^\s,}\]{\[][^,}\]]*""")
_LONGEST_WORD = 3
PLACEHOLDER = "${secret:"  # the reference to a secret in a rendered file
_REFERENCES = ("!secret ", PLACEHOLDER, f'"{PLACEHOLDER}', f"'{PLACEHOLDER}")
HIDDEN = "***"


@cache
def is_secret_field(table: str, field: str) -> bool:
    """Whether a field is a credential."""
    name = field.lower().replace("-", "_")
    known = name in SECRET_FIELDS or _NAME.fullmatch(name) or (table, field) == ("NTP_KEY", "value")
    return bool(known) and (table, field) not in _NUMBERS


def is_secret_key(table: str) -> bool:
    """Whether the row keys of a table are secrets."""
    return table == "SNMP_COMMUNITY"


def is_secret(table: str, field: str) -> bool:
    """Whether a field is a credential, or in a table whose content is hidden."""
    return table in SECRET_TABLES or is_secret_field(table, field)


def is_secret_text(text: str) -> bool:
    """Whether a text of any field is or contains a secret, by its form: a private key, or the hash of a password."""
    return bool(_FORM.search(text))


def without_forms(text: str) -> str:
    """A text with asterisks in place of what is a secret by its form."""
    return _FORM.sub(HIDDEN, text)


def literal_secrets(table: str, key: str, row: Mapping[str, object]) -> Iterator[str]:
    """The fields of a row that contain a secret instead of a reference to one; "*" for the key."""
    if is_secret_key(table) and not key.startswith(PLACEHOLDER):
        yield "*"
    for name, value in row.items():
        texts = [text for text in _items(value) if isinstance(text, str)]
        named = is_secret_field(table, name)
        if any(is_secret_text(text) or (named and text and not text.startswith(PLACEHOLDER)) for text in texts):
            yield name


def may_have_forms(text: bytes) -> bool:
    """Whether the bytes of a config_db.json may contain what is a secret by its form. A search for each literal is a
    hundred times faster than one for all, and a search for one byte ten times faster still."""
    if b"PRIVATE KEY" in text or b"://" in text:
        return True
    return b"$" in text and b'"$' in text and _HASH_IN_FILE.search(text) is not None


def literals(config: Mapping[str, object], *, has_forms: bool) -> Iterator[tuple[str, str, str]]:
    """(table, key, field) of the secrets in a config_db.json, "*" for a key that is one. Without `has_forms` its bytes
    contain no secret by its form."""
    for table, rows in config.items():
        if not isinstance(rows, dict):
            continue
        is_whole = {*map(type, rows.values())} <= {dict}
        names: set[str] = set().union(
            *rows.values() if is_whole else (one for one in rows.values() if type(one) is dict)
        )
        if has_forms or is_secret_key(table) or any(is_secret_field(table, name) for name in names):
            for key, row in rows.items():
                if isinstance(row, dict):
                    yield from ((table, key, name) for name in literal_secrets(table, key, row))


def without_secrets(config: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The rows and fields that SONiC loads, without secrets and references to them, and without the rows that are
    empty then."""
    found: dict[str, dict[str, Any]] = {}
    for table, rows in config.items():
        kept: dict[str, Any] = {}
        loadable = loadable_rows(rows)
        if _has_no_secrets(table, loadable):
            kept, loadable = loadable, {}
        for key, row in loadable.items():
            secret = set(literal_secrets(table, key, row))
            if secret & {"*"} or PLACEHOLDER in key:
                continue
            fields = {name: value for name, value in row.items() if name not in secret and not _refers(value)}
            if fields or not row:
                kept[key] = fields
        if kept:
            found[table] = kept
    return found


def _has_no_secrets(table: str, rows: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether a table certainly has neither a secret nor a reference to one: its texts and names."""
    text = str(rows)
    names: set[str] = set().union(*rows.values())
    is_plain = not any(sign in text for sign in ("$", "PRIVATE KEY", "://"))  # of _FORM and PLACEHOLDER
    return is_plain and not is_secret_key(table) and not any(is_secret_field(table, name) for name in names)


def _items(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _refers(value: object) -> bool:
    return any(isinstance(item, str) and PLACEHOLDER in item for item in _items(value))


def shown_key(table: str, key: str) -> str:
    """A row key without a secret. Placeholders are not secrets."""
    return HIDDEN if is_secret_key(table) and not key.startswith(PLACEHOLDER) else key


def shown_value(table: str, field: str, value: object) -> object:
    """A value without a secret. Placeholders and short words next to a secret key, such as RO, are not secrets."""
    if isinstance(value, list):
        return [shown_value(table, field, item) for item in value]
    if value is None or not is_secret(table, field):
        return without_forms(value) if isinstance(value, str) else value
    text = value if isinstance(value, str) else ""
    is_word = 0 < len(text) <= _LONGEST_WORD and not is_secret_field(table, field)
    return text if is_word or text.startswith(PLACEHOLDER) else HIDDEN


def is_secret_path(path: str) -> bool:
    """Whether a path of a finding has a secret field: TABLE|key|field, or the dotted path of an inventory value."""
    return any(is_secret(step, step) for step in _STEP.split(path))


def masked(line: str) -> str:
    """A line of YAML or JSON of equal length with asterisks in place of possible secrets, also under misspelt names."""
    line = _FORM.sub(lambda found: "*" * len(found[0]), line)
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
    close = get_close_matches(name.lower(), SECRET_FIELDS, n=1, cutoff=0.8)
    return bool(close) or is_secret_field("", name)
