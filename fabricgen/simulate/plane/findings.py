"""Findings of simulators about a port, a device or a whole plane."""

from fabricgen.bundle.read import Bundle
from fabricgen.findings import Confidence, Finding, Location, Place, Severity


def finding_at(
    bundle: Bundle | None,
    code: str,
    severity: Severity,
    message: str,
    device: str,
    hint: str = "",
    port: str = "",
    *,
    certain: bool = False,
) -> Finding:
    """A finding at a port of a device, at the device, or of the whole plane."""
    known = bundle.devices.get(device) if bundle else None
    location: Location | None = None
    if known is not None:
        location = known.locate("PORT", port) if port else known.locate("DEVICE_METADATA", "localhost")
    return Finding(
        code=code,
        severity=severity,
        message=message if known is not None or not device else f"{device}: {message}",
        device=device if known is not None else "",
        path=str(Place("PORT", port))
        if known is not None and port
        else "",  # no place: no value of the row is the cause
        location=location,
        hint=hint,
        confidence=Confidence.PROVED if certain else Confidence.POSSIBLE,
    )
