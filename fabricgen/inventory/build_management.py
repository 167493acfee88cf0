"""The management network of a valid tree, as the typed model. Secrets are references only."""

from fabricgen.findings import Finding, Severity
from fabricgen.inventory.build_parts import build_pool
from fabricgen.inventory.model import Certificates, Gnmi, Management, Snmp, Tacacs
from fabricgen.inventory.nodes import Node, SecretReference

DEFAULT_GNMI_PORT = 8080


def build_management(node: Node, findings: list[Finding]) -> Management:
    snmp = node.mapping.get("snmp")
    return Management(
        node=node,
        path="management",
        addresses=build_pool(node.mapping["addresses"], "management.addresses"),
        gateways=node.texts("gateway") or (str(node.scalar("gateway")),),
        vrf=node.scalar("vrf", True),
        **{key: node.texts(key) for key in ("ntp", "syslog", "dns", "allow")},
        snmp=_snmp(snmp, findings) if snmp else None,
        tacacs=_tacacs(node.mapping["tacacs"], findings) if "tacacs" in node.mapping else None,
        gnmi=_gnmi(node.mapping["gnmi"]) if "gnmi" in node.mapping else None,
    )


def _tacacs(node: Node, findings: list[Finding]) -> Tacacs:
    key = _secret(node, "key", "management.tacacs", findings)
    return Tacacs(node=node, path="management.tacacs", servers=node.texts("servers"), key=key)


def _gnmi(node: Node) -> Gnmi:
    files = node.mapping.get("certificates")
    return Gnmi(
        node=node,
        path="management.gnmi",
        port=node.scalar("port", DEFAULT_GNMI_PORT),
        certificates=_certificates(files) if files else None,
    )


def _certificates(node: Node) -> Certificates:
    paths = {name: node.scalar(name) for name in ("server_crt", "server_key", "ca_crt")}
    return Certificates(node=node, path="management.gnmi.certificates", **paths)


def _secret(node: Node, key: str, path: str, findings: list[Finding]) -> SecretReference | None:
    """A member that must be a secret reference. A literal secret is reported and dropped."""
    secret = node.scalar(key)
    if secret is None or isinstance(secret, SecretReference):
        return secret
    findings.append(literal_secret(f"{path}.{key}", node.mapping[key]))
    return None


def _snmp(node: Node, findings: list[Finding]) -> Snmp:
    community = _secret(node, "community", "management.snmp", findings)
    location, contact = (node.scalar(key) for key in ("location", "contact"))
    return Snmp(node=node, path="management.snmp", community=community, location=location, contact=contact)


def literal_secret(path: str, node: Node) -> Finding:
    """The finding about a literal secret, without the secret."""
    return Finding(
        "FG108", Severity.ERROR, f"{path} contains a literal secret", path=path, location=node.location,
        hint=f"write `{path.rsplit('.', 1)[-1]}: !secret path/of/the/secret`, and change the secret",
    )  # fmt: skip
