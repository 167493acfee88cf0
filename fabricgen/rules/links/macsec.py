"""Rules on MACsec: both ends of a link encrypt with the same keys, and PFC passes beside it."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import End, Fabric, far_end
from fabricgen.sonic.tables import Row

_TABLE = "MACSEC_PROFILE"
# wpa_supplicant of the two ends must have the same pre-shared key, cipher and policy (sonic-swss cfgmgr/macsecmgr.cpp).
_SHARED = {"cipher_suite": "GCM-AES-128", "primary_ckn": "", "primary_cak": "", "policy": "security"}
_SECRET = frozenset({"primary_cak"})


@rule("FG277", Severity.ERROR, "MACsec differs at the two ends of a link", breaks=Breaks.SIGNAL)
def macsec_ends(fabric: Fabric) -> Iterator[Defect]:
    """What: If one end of a link has a MACsec profile, the other end has one, too, with the same primary_ckn,
    primary_cak, cipher_suite and policy. The far end of a port with MACsec is not a host without a file.

    Why: With policy security the port drops each frame that is not encrypted, apart from those of the key exchange. The
    exchange needs the same key at both ends. The link is up and carries nothing.

    Example: PORT|Ethernet448 of a leaf has macsec p1, and the port of the spine at the other end of the cable does not.

    Fix: Set macsec at both ends, with the same profile.

    Source: sonic-swss cfgmgr/macsecmgr.cpp, orchagent/macsecorch.cpp; SONiC doc/macsec/MACsec_hld.md; IEEE 802.1X.
    """
    if not any(switch.device.table(_TABLE) for switch in fabric.switches.values()):
        return  # a port that names a profile is FG408
    for near, far in fabric.pairs:
        names = [end.text("macsec") for end in (near, far)]
        if not any(names):
            continue
        if not all(names):
            end, other = (far, near) if names[0] else (near, far)
            message = f"the port has no MACsec, but {other.switch.name} encrypts with {names[0] or names[1]}"
            yield Defect(
                end.place("PORT", "macsec"), message, "set macsec at both ends", far_end(end, "PORT", "macsec")
            )
            continue
        own, theirs = _profile(near, names[0]), _profile(far, names[1])
        for field, default in _SHARED.items() if own and theirs else ():
            mine, other_value = own.get(field, default), theirs.get(field, default)
            if mine != other_value:
                shown = "" if field in _SECRET else f": {mine or 'missing'} and {other_value or 'missing'}"
                message = f"{field} of the MACsec profiles differs at the two ends{shown}"
                place = near.switch.place(_TABLE, names[0], field)
                related = ((f"the far end, {far.switch.name}", far.switch.place(_TABLE, names[1], field)),)
                yield Defect(place, message, f"set {field} to one value at both ends", related)
    for end in fabric.ends:
        if end.far_role == "host" and (name := end.text("macsec")):
            message = f"the port encrypts with {name}, but no file shows that its host {end.far_name} does"
            yield Defect(
                end.place("PORT", "macsec"), message, "remove macsec from ports of hosts", severity=Severity.WARNING
            )


def _profile(end: End, name: str) -> Row:
    return end.switch.device.row(_TABLE, name)


@rule("FG278", Severity.WARNING, "A port has both PFC and MACsec")
def pfc_over_macsec(fabric: Fabric) -> Iterator[Defect]:
    """What: No port with pfc_enable has a MACsec profile.

    Why: How pause frames pass an encrypted port depends on the chip, and it is an open fault on some: the port does not
    send pause frames when its buffers fill, so lossless classes lose packets. MACsec also adds 32 bytes to each packet,
    which headroom and thresholds do not count.

    Example: PORT|Ethernet448 has macsec p1, and PORT_QOS_MAP|Ethernet448 has pfc_enable "3".

    Fix: Encrypt at the hosts, or test PFC on your image with sonic-mgmt tests/macsec and suppress the finding.

    Source: sonic-buildimage issues 25675 (open) and 20859; sonic-swss pull request 2095 (PFC modes of MACsec);
    IEEE 802.1AE (SecTAG and ICV).
    """
    for switch in fabric.switches.values():
        lossless = switch.device.table("PORT_QOS_MAP")
        for port, row in switch.device.table("PORT").items():
            if row.get("macsec") and lossless.get(port, {}).get("pfc_enable"):
                message = f"the port encrypts with {row['macsec']} and has PFC: not all chips send pause frames then"
                hint = "test PFC over MACsec on this image, or remove macsec"
                yield Defect(switch.place("PORT", port, "macsec"), message, hint)
