"""How the gNMI server of a switch listens, by its file.

Source: sonic-buildimage dockers/docker-sonic-gnmi/gnmi-native.sh and telemetry_vars.j2 of 202311 to 202605 and master
086b03bd70f9; sonic-gnmi telemetry/telemetry.go. Without a certificate the script starts the server with --noTLS: until
202605 in clear text on every address, later only on 127.0.0.1 (sonic-buildimage pull request 28110).
"""

from enum import StrEnum

from fabricgen.sonic.image import rows, text
from fabricgen.sonic.tables import ConfigDb

DEFAULT_PORT = "8080"
_LAST_OPEN = 202605


class GnmiTransport(StrEnum):
    """Who can talk to the server."""

    TLS = "tls"
    TEST_CERTIFICATE = "insecure"  # --insecure: a certificate that the server makes itself
    CLEAR_TEXT = "clear text"
    LOOPBACK = "loopback"


def is_configured(config: ConfigDb) -> bool:
    """Whether the file has a row of the gNMI server."""
    return any("gnmi" in rows(config, table) for table in ("GNMI", "TELEMETRY"))


def port(config: ConfigDb) -> str:
    """Its TCP port."""
    own = (text(rows(config, table).get("gnmi", {}), "port") for table in ("GNMI", "TELEMETRY"))
    return next(filter(None, own), DEFAULT_PORT)


def transport(config: ConfigDb, release: int | None) -> GnmiTransport:
    """How it listens in a release; None is the latest."""
    certs = (rows(config, "GNMI").get("certs"), rows(config, "TELEMETRY").get("certs"))
    found = next(filter(None, (*certs, rows(config, "DEVICE_METADATA").get("x509"))), None)
    if found is None:
        return GnmiTransport.CLEAR_TEXT if release is not None and release <= _LAST_OPEN else GnmiTransport.LOOPBACK
    has_both = text(found, "server_crt") and text(found, "server_key")
    return GnmiTransport.TLS if has_both else GnmiTransport.TEST_CERTIFICATE
