"""Connections to NetBox and Nautobot. Tokens are read from the environment only, and are written nowhere."""

import os
from typing import Any

from fabricgen.dcim.nautobot import Nautobot
from fabricgen.dcim.netbox import NetBox
from fabricgen.dcim.system import System
from fabricgen.errors import UsageError
from fabricgen.vocabulary import Word

TIMEOUT_S = 300


class Software(Word):
    """The program that holds the source of truth."""

    NETBOX = "netbox"
    NAUTOBOT = "nautobot"


_SYSTEMS: dict[Software, tuple[type[System], str, int]] = {
    Software.NETBOX: (NetBox, "netbox-version", 4),
    Software.NAUTOBOT: (Nautobot, "nautobot-version", 3),
}


def connect(software: Software, url: str | None) -> System:
    """The source of truth at a URL, by default that of NETBOX_URL or NAUTOBOT_URL.

    Raises UsageError without URL or token, without the extra `netbox`, and for another program or an old release.
    """
    chosen, field, oldest = _SYSTEMS[software]
    address = url or os.environ.get(chosen.address, "")
    if address and not address.startswith(("https://", "http://")):
        raise UsageError(f"{address!r} is not the URL of {chosen.name}: set {chosen.address}, or give --url https://…")
    if not address:
        raise UsageError(f"the URL of {chosen.name} is missing: set {chosen.address}, or give --url https://…")
    token = os.environ.get(chosen.token, "")
    if not token:
        raise UsageError(f"the token of {chosen.name} is missing: set {chosen.token} in the environment")
    api, refused = _api(software, address, token)
    api.http_session.request = _with_timeout(api.http_session.request)
    system = chosen(api, refused)
    with system.reported(f"connecting to {address}"):
        status = api.status()
    version = str(status.get(field, "")) if isinstance(status, dict) else ""
    if not version:
        other = next(each for each in Software if each is not software)
        raise UsageError(f"{address} is not {chosen.name}; for {_SYSTEMS[other][0].name} add --software {other}")
    major = version.partition(".")[0].lstrip("v")
    if major.isdecimal() and int(major) < oldest:
        raise UsageError(f"{address} runs {chosen.name} {version}: {oldest}.0 or later is supported")
    return system


def _api(software: Software, url: str, token: str) -> tuple[Any, tuple[type[Exception], ...]]:
    try:
        import requests

        if software is Software.NETBOX:
            import pynetbox

            errors = (
                pynetbox.RequestError,
                pynetbox.ContentError,
                pynetbox.AllocationError,
            )
            return pynetbox.api(url, token=token), (*errors, requests.RequestException)
        import pynautobot

        query = pynautobot.core.query
        errors = (pynautobot.RequestError, pynautobot.ContentError, query.AllocationError)
        return pynautobot.api(url, token=token), (*errors, query.RequestErrorFromException, requests.RequestException)
    except ModuleNotFoundError as error:
        raise UsageError(f"{error.name} is not installed: pip install 'fabricgen[netbox]'") from error


def _with_timeout(request: Any) -> Any:
    def limited(method: str, url: str, **options: Any) -> Any:
        return request(method, url, **{"timeout": TIMEOUT_S, **options})

    return limited
