"""The management network of the switches, typed and immutable."""

from dataclasses import dataclass
from typing import Annotated

from fabricgen.inventory.part import Part, key
from fabricgen.inventory.routing import PoolSpec
from fabricgen.inventory.values import TEXT, Secret, one_or_more

_FILE = "^(/[a-zA-Z0-9_-]+)*/[a-zA-Z0-9_-]+"


@dataclass(frozen=True, kw_only=True)
class Snmp(Part):
    """SNMP read access."""

    community: Annotated[Secret | None, key()]
    location: Annotated[str | None, key()]
    contact: Annotated[str | None, key()]


@dataclass(frozen=True, kw_only=True)
class Tacacs(Part):
    """TACACS+ servers, the first choice first."""

    servers: Annotated[tuple[str, ...], key(required=True, minItems=1, maxItems=8)]
    key: Annotated[Secret | None, key(required=True)]


@dataclass(frozen=True, kw_only=True)
class Certificates(Part):
    """Files on a switch: the certificate of a server and its key, and the CA of the clients if they need one."""

    server_crt: Annotated[
        str,
        key(
            "The certificate of the switch, such as /etc/sonic/telemetry/server.cer.",
            required=True,
            pattern=_FILE + r"\.cer$",
        ),
    ]
    server_key: Annotated[
        str,
        key("Its private key, such as /etc/sonic/telemetry/server.key.", required=True, pattern=_FILE + r"\.key$"),
    ]
    ca_crt: Annotated[
        str | None, key("The CA of the clients, which then need a certificate, too.", pattern=_FILE + r"\.cer$")
    ]


@dataclass(frozen=True, kw_only=True)
class Gnmi(Part):
    """The gNMI server of a switch."""

    port: Annotated[int, key(minimum=1, maximum=65535)] = 8080
    certificates: Annotated[  # None: the server has no TLS
        Certificates | None,
        key(
            "Files on each switch. Without them the server has no TLS, and listens on 127.0.0.1 in images after 202605."
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class Management(Part, definition="management"):
    """The management network of the switches."""

    addresses: Annotated[PoolSpec, key(required=True)]
    gateways: Annotated[  # one for each family of the addresses
        tuple[str, ...],
        key(
            "An address of the pool, or one address of each family.",
            "gateway",
            required=True,
            notation=one_or_more(TEXT, minItems=1, maxItems=2),
        ),
    ]
    vrf: Annotated[bool, key("Use a separate VRF for management.")] = True
    ntp: Annotated[tuple[str, ...], key()]
    syslog: Annotated[tuple[str, ...], key()]
    dns: Annotated[tuple[str, ...], key()]
    tacacs: Annotated[Tacacs | None, key("TACACS+ login, with local accounts as a fallback.")]
    allow: Annotated[
        tuple[str, ...],
        key("Prefixes that may reach SSH, SNMP and gNMI of a switch. All other packets are dropped.", minItems=1),
    ]
    gnmi: Annotated[Gnmi | None, key("Streaming telemetry and gNMI.")]
    snmp: Annotated[Snmp | None, key()]
