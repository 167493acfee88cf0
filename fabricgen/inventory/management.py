"""The management network of the switches, typed and immutable.

The defaults of `ssh` and `passwords` are those of the CIS benchmark of Debian, where SONiC has the setting.
"""

import enum
from dataclasses import dataclass
from typing import Annotated

from fabricgen.inventory.part import Part, key, list_of, part_notation
from fabricgen.inventory.routing import PoolSpec
from fabricgen.inventory.values import TEXT, Secret, one_or_more

_FILE = "^(/[a-zA-Z0-9_-]+)*/[a-zA-Z0-9_-]+"


class SnmpAuthentication(enum.StrEnum):
    """How an SNMPv3 user proves who it is."""

    SHA = "SHA"
    MD5 = "MD5"


class SnmpEncryption(enum.StrEnum):
    """How packets of an SNMPv3 user are encrypted."""

    AES = "AES"
    DES = "DES"


@dataclass(frozen=True, kw_only=True)
class SnmpUser(Part):
    """A user of SNMPv3, with authentication and encryption, who may read."""

    name: Annotated[str, key(required=True, pattern="^[^ :@,'\"\\\\]{4,32}$")]
    authentication: Annotated[SnmpAuthentication, key()] = SnmpAuthentication.SHA
    authentication_password: Annotated[Secret | None, key("A secret of at least 8 characters.", required=True)]
    encryption: Annotated[SnmpEncryption, key()] = SnmpEncryption.AES
    encryption_password: Annotated[Secret | None, key("A secret of at least 8 characters.", required=True)]


@dataclass(frozen=True, kw_only=True)
class Snmp(Part):
    """SNMP read access."""

    community: Annotated[Secret | None, key("The community of SNMPv2c.")]
    users: Annotated[
        tuple[SnmpUser, ...],
        key("Users of SNMPv3.", notation=list_of(part_notation(SnmpUser))),
    ]
    location: Annotated[str | None, key()]
    contact: Annotated[str | None, key()]


@dataclass(frozen=True, kw_only=True)
class Tacacs(Part):
    """TACACS+ servers, the first choice first."""

    servers: Annotated[tuple[str, ...], key(required=True, minItems=1, maxItems=8)]
    key: Annotated[Secret | None, key(required=True)]
    authorization: Annotated[
        bool, key("The servers also decide each command; without an answer, local permissions do.")
    ] = False
    accounting: Annotated[bool, key("The servers and the local log also get each command.")] = False
    timeout_s: Annotated[int | None, key("Seconds that a switch waits for a server.", minimum=1, maximum=60, usual="5")]


class RadiusAuthentication(enum.StrEnum):
    """How RADIUS carries a password."""

    PAP = "pap"
    CHAP = "chap"
    MSCHAPV2 = "mschapv2"


@dataclass(frozen=True, kw_only=True)
class Radius(Part):
    """RADIUS servers, the first choice first."""

    servers: Annotated[tuple[str, ...], key(required=True, minItems=1, maxItems=8)]
    key: Annotated[Secret | None, key(required=True)]
    authentication: Annotated[RadiusAuthentication, key()] = RadiusAuthentication.PAP
    timeout_s: Annotated[int | None, key("Seconds that a switch waits for a server.", minimum=1, maximum=60, usual="5")]


class SyslogProtocol(enum.StrEnum):
    """How a message travels."""

    UDP = "udp"
    TCP = "tcp"


class SyslogSeverity(enum.StrEnum):
    """The least severity that a server gets."""

    NONE = "none"
    DEBUG = "debug"
    INFO = "info"
    NOTICE = "notice"
    WARN = "warn"
    ERROR = "error"
    CRIT = "crit"


@dataclass(frozen=True, kw_only=True)
class SyslogServer(Part, short="server"):
    """A syslog server: its address, or {server, port, protocol, severity}."""

    server: Annotated[str, key(required=True)]
    port: Annotated[int | None, key(minimum=1, maximum=65535, usual="514")]
    protocol: Annotated[SyslogProtocol | None, key(usual="`udp`")]
    severity: Annotated[SyslogSeverity | None, key("The least severity that is sent.", usual="`notice`")]


class NtpKeyType(enum.StrEnum):
    """The hash of an NTP key."""

    MD5 = "md5"
    SHA1 = "sha1"
    SHA256 = "sha256"
    SHA384 = "sha384"
    SHA512 = "sha512"


@dataclass(frozen=True, kw_only=True)
class NtpKey(Part):
    """The key with which the NTP servers prove who they are."""

    id: Annotated[int, key(required=True, minimum=1, maximum=65535)]
    type: Annotated[NtpKeyType, key()] = NtpKeyType.SHA256
    key: Annotated[Secret | None, key(required=True)]


@dataclass(frozen=True, kw_only=True)
class Banner(Part):
    """Texts around a login. `login` comes before it, `motd` after it."""

    login: Annotated[str, key("A text in single quotes; \\n in it begins a new line.", required=True)]
    motd: Annotated[str, key()] = ""
    logout: Annotated[str, key()] = ""


@dataclass(frozen=True, kw_only=True)
class Ssh(Part):
    """The SSH server of a switch. Settings that the release does not have are left out unless they are given."""

    ports: Annotated[str, key("A port, or several with commas.", pattern="^[0-9]{1,5}(,[0-9]{1,5})*$")] = "22"
    authentication_retries: Annotated[int, key(minimum=1, maximum=100)] = 4
    login_timeout_s: Annotated[int, key("Seconds to log in.", minimum=1, maximum=600)] = 60
    inactivity_timeout_min: Annotated[
        int, key("Minutes without input after which a session ends; 0: never.", minimum=0, maximum=35000)
    ] = 15
    max_sessions: Annotated[int, key("Sessions at a time; 0: any number.", minimum=0, maximum=100)] = 10
    root_login: Annotated[bool, key()] = False
    password_authentication: Annotated[bool, key("Log in by password, not by key only.")] = True


@dataclass(frozen=True, kw_only=True)
class Passwords(Part):
    """The rules for passwords of local users."""

    least_length: Annotated[int, key(minimum=1, maximum=32)] = 14
    expiration_days: Annotated[int, key("Days until a password expires; -1: never.", minimum=-1, maximum=365)] = 365
    warning_days: Annotated[int, key("Days of warning before.", minimum=-1, maximum=30)] = 7
    history: Annotated[int, key("Earlier passwords that cannot be used again.", minimum=1, maximum=100)] = 24
    classes: Annotated[
        bool, key("Passwords have small and capital letters, digits and other characters, and not the user's name.")
    ] = True


@dataclass(frozen=True, kw_only=True)
class Sflow(Part):
    """Samples of packets, which every port sends to the collectors."""

    collectors: Annotated[tuple[str, ...], key("Addresses, at most two.", required=True, minItems=1, maxItems=2)]
    port: Annotated[int, key(minimum=1, maximum=65535)] = 6343
    polling_s: Annotated[int, key("Seconds between counters; 0: none.", minimum=0, maximum=300)] = 20


@dataclass(frozen=True, kw_only=True)
class Kdump(Part):
    """Memory for a dump of the kernel after a crash, and the dumps that are kept."""

    memory: Annotated[str, key("As the kernel's crashkernel=.", pattern="^[0-9MG:,-]+$")] = (
        "0M-2G:256M,2G-4G:320M,4G-8G:384M,8G-:448M"
    )
    dumps: Annotated[int, key(minimum=1, maximum=9)] = 3


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
    ntp_key: Annotated[NtpKey | None, key("Only servers with this key set the clock.")]
    syslog: Annotated[tuple[SyslogServer, ...], key(notation=list_of(part_notation(SyslogServer)))]
    dns: Annotated[tuple[str, ...], key()]
    tacacs: Annotated[Tacacs | None, key("TACACS+ login, with local accounts as a fallback.")]
    radius: Annotated[Radius | None, key("RADIUS login, with local accounts as a fallback.")]
    timezone: Annotated[
        str | None, key("For example Europe/Berlin.", pattern="^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$", usual="UTC")
    ]
    banner: Annotated[Banner | None, key("Texts before and after a login.")]
    ssh: Annotated[Ssh | None, key("The SSH server. `{}` has the defaults of a benchmark.")]
    passwords: Annotated[Passwords | None, key("Rules for passwords. `{}` has the defaults of a benchmark.")]
    sflow: Annotated[Sflow | None, key("Samples of packets of all ports.")]
    kdump: Annotated[Kdump | None, key("Kernel dumps. `{}` has the memory of the image's own default.")]
    allow: Annotated[
        tuple[str, ...],
        key("Prefixes that may reach SSH, SNMP and gNMI of a switch. All other packets are dropped.", minItems=1),
    ]
    gnmi: Annotated[Gnmi | None, key("Streaming telemetry and gNMI.")]
    snmp: Annotated[Snmp | None, key()]
