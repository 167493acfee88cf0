"""Texts that do harm where they are not escaped, and secrets that no output may show."""

import json
from pathlib import Path
from typing import Any

CANARY = "pwned-file"
PAYLOAD = (
    "{{ lookup('pipe', 'touch pwned-file') }}$(touch pwned-file)`touch pwned-file`';touch pwned-file;'"
    "\n::error::pwned\n##[error]pwned\r\x1b]0;pwned\x07\x1b[31m\u009b31m\u202epwned\u2028<img src=x onerror=pwned()>]]>"
    '&"```@pwned\x00'
)
FORMULA = "=cmd|' /C touch pwned-file'!A0"
PRIVATE_KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nk3y-canary-b3BlbnNzaC1rZXk\n-----END OPENSSH PRIVATE KEY-----\n"
SECRETS = {
    "SNMP_COMMUNITY": {"canary-community": {"TYPE": "RO"}},
    "SNMP_USER": {
        "monitor": {
            "SNMP_USER_TYPE": "AuthPriv",
            "SNMP_USER_PERMISSION": "RO",
            "SNMP_USER_AUTH_TYPE": "SHA",
            "SNMP_USER_AUTH_PASSWORD": "canary-snmp-auth",
            "SNMP_USER_ENCRYPTION_TYPE": "AES",
            "SNMP_USER_ENCRYPTION_PASSWORD": "canary-snmp-priv",
        }
    },
    "TACPLUS": {"global": {"passkey": "canary-tacacs"}},
    "TACPLUS_SERVER": {"10.255.0.9": {"passkey": "canary-tacacs-server", "priority": "1"}},
    "RADIUS": {"global": {"passkey": "canary-radius"}},
    "LDAP": {"global": {"bind_password": "canary-ldap"}},
    "MACSEC_PROFILE": {"m": {"primary_cak": "canary" * 11, "primary_ckn": "01", "cipher_suite": "GCM-AES-128"}},
    "NTP_KEY": {"7": {"type": "md5", "value": "canary-ntp"}},
    "KUBERNETES_MASTER": {"SERVER": {"ip": "10.0.0.1", "token": "canary-token"}},
    "LOCAL_USER": {"admin": {"password-hash": "canary-hash", "note": "$6$canarysalt$canaryhash/canaryhash."}},
    "X509": {"server": {"material": PRIVATE_KEY}},
    "PROXY": {"web": {"url": "https://user:canary-url@proxy.example/"}},
}  # fmt: skip
SECRET_TEXTS = ("canary-", "canarysalt", "canarycanary", "k3y")


def shows_secret(text: str) -> bool:
    """Whether a text has one of the secrets."""
    return any(secret in text for secret in SECRET_TEXTS)


def add_secrets(tables: dict[str, Any]) -> None:
    """Put every kind of secret into the tables of a switch."""
    tables |= json.loads(json.dumps(SECRETS))
    for row in list(tables["BGP_NEIGHBOR"].values())[:1]:
        row["auth_password"] = "canary-bgp"


def poison_texts(tables: dict[str, Any]) -> None:
    """Put the payload where a switch accepts any text: descriptions, names, locations and tables without a model."""
    for row in tables["PORT"].values():
        row["description"] = PAYLOAD
    for row in tables["BGP_NEIGHBOR"].values():
        row["name"] = PAYLOAD
    next(iter(tables["PORT"].values()))["alias"] = PAYLOAD
    tables["SNMP"] = {"LOCATION": {"Location": PAYLOAD}, "CONTACT": {PAYLOAD: PAYLOAD}}
    tables["NTP_SERVER"] = {PAYLOAD: {"association_type": PAYLOAD}}
    tables["SYSLOG_SERVER"] = {PAYLOAD: {"source": PAYLOAD}}
    tables["BANNER_MESSAGE"] = {"global": {"login": PAYLOAD, "motd": PAYLOAD}}
    tables[PAYLOAD] = {PAYLOAD: {PAYLOAD: PAYLOAD}}
    for name in ("DEVICE_NEIGHBOR", "DEVICE_NEIGHBOR_METADATA"):
        tables.setdefault(name, {})[PAYLOAD] = {"name": PAYLOAD, "port": PAYLOAD, "type": PAYLOAD}
    tables["PORT"][PAYLOAD] = {"lanes": "600", "speed": "400000", "alias": PAYLOAD}


def poison_all(value: Any) -> Any:
    """Every text and key of a file with the payload behind it."""
    if isinstance(value, dict):
        return {key + PAYLOAD: poison_all(item) for key, item in value.items()}
    if isinstance(value, list):
        return [poison_all(item) for item in value]
    return value + PAYLOAD if isinstance(value, str) else value


def edit(file: Path, *changes: Any) -> None:
    """Change the tables of a file."""
    tables = json.loads(file.read_text())
    for change in changes:
        tables = change(tables) or tables
    file.write_text(json.dumps(tables, indent=4))
