"""The context of the management network: servers, logins and policies of a switch."""

from collections.abc import Iterable, Iterator, Mapping
from ipaddress import ip_interface

from fabricgen.findings import Finding
from fabricgen.inventory.management import Certificates, Management, Radius, SnmpUser, Ssh, SyslogServer
from fabricgen.inventory.mistakes import error
from fabricgen.inventory.nodes import SecretReference
from fabricgen.inventory.part import Part, declared
from fabricgen.origin import Value, value
from fabricgen.render.contexts import (
    AllowedSource,
    CertificateFiles,
    ManagementContext,
    NtpKeyContext,
    SnmpUserContext,
    SyslogContext,
)
from fabricgen.render.secrets import placeholder
from fabricgen.sonic.release_models import absence
from fabricgen.sonic.releases import release_name

# Key of `ssh` -> field of SSH_SERVER|POLICIES. sonic-buildimage, sonic-ssh-server.yang; hostcfgd SshServer.
_SSH_FIELDS = {
    "ports": "ports",
    "authentication_retries": "authentication_retries",
    "login_timeout_s": "login_timeout",
    "inactivity_timeout_min": "inactivity_timeout",
    "max_sessions": "max_sessions",
    "root_login": "permit_root_login",
    "password_authentication": "password_authentication",
}
_SSH = "SSH_SERVER", "POLICIES"


def management_context(management: Management, release: int) -> ManagementContext:
    """The management network as the templates see it, for switches of a release."""
    snmp, tacacs, gnmi, sflow = management.snmp, management.tacacs, management.gnmi, management.sflow
    key = management.ntp_key
    return ManagementContext(
        vrf=management.vrf,
        ntp=_texts(management, "ntp", management.ntp),
        ntp_key=NtpKeyContext(
            value(key.id, inventory=key.source("id")),
            value(key.type, inventory=key.source("type")),
            value(_hidden(key.key), inventory=key.source("key")),
        )
        if key
        else None,
        syslog=tuple(map(_syslog, management.syslog)),
        dns=_texts(management, "dns", management.dns),
        community=_secret(snmp, "community", snmp.community) if snmp else None,
        location=_optional(snmp, "location", snmp.location) if snmp else None,
        contact=_optional(snmp, "contact", snmp.contact) if snmp else None,
        snmp_users=tuple(map(_snmp_user, snmp.users)) if snmp else (),
        allow=tuple(
            AllowedSource(source, f"SRC_IP{'V6' if ip_interface(source).version == 6 else ''}")
            for source in _texts(management, "allow", management.allow)
        ),
        tacacs=_texts(tacacs, "servers", tacacs.servers) if tacacs else (),
        tacacs_key=_secret(tacacs, "key", tacacs.key) if tacacs else None,
        tacacs_timeout=_optional(tacacs, "timeout_s", tacacs.timeout_s) if tacacs else None,
        authorization=value("tacacs+,local", inventory=tacacs.source("authorization"))
        if tacacs and tacacs.authorization
        else None,
        accounting=value("tacacs+,local", inventory=tacacs.source("accounting"))
        if tacacs and tacacs.accounting
        else None,
        radius=_texts(management.radius, "servers", management.radius.servers) if management.radius else (),
        radius_fields=_radius(management.radius) if management.radius else {},
        timezone=_optional(management, "timezone", management.timezone),
        banner=_banner(management),
        ssh=_ssh(management.ssh, release) if management.ssh else {},
        passwords=_passwords(management),
        kdump=_kdump(management),
        sflow={
            "admin_state": value("up", inventory=sflow.source()),
            "polling_interval": value(sflow.polling_s, inventory=sflow.source("polling_s")),
        }
        if sflow
        else {},
        collectors=_texts(sflow, "collectors", sflow.collectors) if sflow else (),
        collector_port=value(sflow.port, inventory=sflow.source("port")) if sflow else None,
        gnmi_port=_optional(gnmi, "port", gnmi.port) if gnmi else None,
        gnmi_certificates=_certificates(gnmi.certificates) if gnmi and gnmi.certificates else None,
    )


def management_problems(management: Management, release: int) -> Iterator[Finding]:
    """Findings for settings that exclude each other, or that the release does not have."""
    if management.tacacs and management.radius:
        message = "login by TACACS+ and by RADIUS: AAA would need one order of both, which nothing here states"
        yield error("FG275", message, management, "radius", hint="keep one of the two")
    ssh = management.ssh
    for name, field in _SSH_FIELDS.items() if ssh else ():
        if ssh and name in ssh.node.mapping and (when := absence(release, *_SSH, field)):
            message = f"{release_name(release)} has no such setting: {field} of SSH_SERVER exists {when}"
            yield error("FG274", message, ssh, name, hint="remove it, or set a later `sonic.release`")
    for key, table in (("banner", "BANNER_MESSAGE"), ("ntp_key", "NTP_KEY"), ("passwords", "PASSW_HARDENING")):
        if getattr(management, key) and (when := absence(release, table)):
            message = f"{release_name(release)} has no such setting: {table} exists {when}"
            yield error("FG274", message, management, key, hint="remove it, or set a later `sonic.release`")


def _syslog(one: SyslogServer) -> SyslogContext:
    given = {"port": one.port, "protocol": one.protocol, "severity": one.severity}
    fields = {name: value(text, inventory=one.source(name)) for name, text in given.items() if text is not None}
    steps = ["server"] if one.node.mapping else []
    return SyslogContext(value(one.server, inventory=one.source(*steps)), fields)


def _snmp_user(user: SnmpUser) -> SnmpUserContext:
    return SnmpUserContext(
        value(user.name, inventory=user.source("name")),
        {
            "SNMP_USER_AUTH_PASSWORD": value(
                _hidden(user.authentication_password), inventory=user.source("authentication_password")
            ),
            "SNMP_USER_AUTH_TYPE": value(user.authentication, inventory=user.source("authentication")),
            "SNMP_USER_ENCRYPTION_PASSWORD": value(
                _hidden(user.encryption_password), inventory=user.source("encryption_password")
            ),
            "SNMP_USER_ENCRYPTION_TYPE": value(user.encryption, inventory=user.source("encryption")),
            "SNMP_USER_PERMISSION": value("RO", inventory=user.source("name")),
            "SNMP_USER_TYPE": value("Priv", "authentication and encryption", inventory=user.source("name")),
        },
    )


def _radius(radius: Radius) -> dict[str, Value]:
    fields = {
        "auth_type": value(radius.authentication, inventory=radius.source("authentication")),
        "passkey": value(_hidden(radius.key), inventory=radius.source("key")),
    }
    if radius.timeout_s is not None:
        fields["timeout"] = value(radius.timeout_s, inventory=radius.source("timeout_s"))
    return fields


def _banner(management: Management) -> Mapping[str, Value]:
    """The fields of the banner, which hostcfgd (BannerCfg) hands to banner-config.service."""
    banner = management.banner
    if banner is None:
        return {}
    texts = {"login": banner.login, "motd": banner.motd, "logout": banner.logout}
    fields = {name: value(text, inventory=banner.source(name)) for name, text in texts.items()}
    return {**fields, "state": value("enabled", inventory=banner.source())}


def _ssh(ssh: Ssh, release: int) -> Mapping[str, Value]:
    """The fields that the release has."""
    fields = {}
    for one in declared(Ssh):
        field, given = _SSH_FIELDS[one.field], getattr(ssh, one.field)
        if absence(release, *_SSH, field):
            continue
        text = str(given).lower() if isinstance(given, bool) else given
        if field == "permit_root_login":
            text = "yes" if given else "no"
        fields[field] = value(text, inventory=ssh.source(one.name))
    return fields


def _passwords(management: Management) -> Mapping[str, Value]:
    rules = management.passwords
    if rules is None:
        return {}
    numbers = {
        "len_min": "least_length", "expiration": "expiration_days", "expiration_warning": "warning_days",
        "history_cnt": "history",
    }  # fmt: skip
    fields = {field: value(getattr(rules, name), inventory=rules.source(name)) for field, name in numbers.items()}
    classes = value(str(rules.classes).lower(), inventory=rules.source("classes"))
    words = ("digits_class", "lower_class", "reject_user_passw_match", "special_class", "upper_class")
    return {**fields, **dict.fromkeys(words, classes), "state": value("enabled", inventory=rules.source())}


def _kdump(management: Management) -> Mapping[str, Value]:
    kdump = management.kdump
    if kdump is None:
        return {}
    return {
        "enabled": value("true", inventory=kdump.source()),
        "memory": value(kdump.memory, inventory=kdump.source("memory")),
        "num_dumps": value(kdump.dumps, inventory=kdump.source("dumps")),
    }


def _certificates(files: Certificates) -> CertificateFiles:
    certificate, key = (
        value(text, inventory=files.source(name))
        for name, text in (("server_crt", files.server_crt), ("server_key", files.server_key))
    )
    return CertificateFiles(certificate, key, _optional(files, "ca_crt", files.ca_crt))


def _texts(part: Part, key: str, texts: Iterable[str]) -> tuple[Value, ...]:
    return tuple(value(text, inventory=part.source(key)) for text in texts)


def _optional(part: Part, key: str, content: object) -> Value | None:
    return None if content is None else value(content, inventory=part.source(key))


def _hidden(reference: SecretReference | None) -> str:
    """The placeholder of a secret; "" for one that the inventory has reported."""
    return placeholder(reference) if reference else ""


def _secret(part: Part, key: str, reference: SecretReference | None) -> Value | None:
    return _optional(part, key, placeholder(reference) if reference else None)
