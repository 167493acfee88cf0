"""What `validate` finds in the target of a change that no command of the switch loads, whatever its patches are."""

from collections.abc import Iterator

from fabricgen.bundle.device import GivenContent, ObservedDevice
from fabricgen.bundle.read import Bundle
from fabricgen.diff.difference import DeviceDifference, Difference
from fabricgen.diff.work import Work
from fabricgen.findings import Finding, Severity
from fabricgen.inputs import read_bytes
from fabricgen.rules.registry import all_rules
from fabricgen.rules.rule import Basis
from fabricgen.rules.run import run


def target_findings(difference: Difference) -> list[Finding]:
    """The errors against the schema in the new configurations, of one switch for each distinct change.

    Empty for a comparison whose new side is the running configuration: it does not become a target.
    """
    if not difference.is_plan:
        return []
    seen: set[Work] = set()
    found: list[Finding] = []
    for device in difference.changed:
        if device.work not in seen:
            seen.add(device.work)
            found += invalid(device, difference)
    return found


def invalid(device: DeviceDifference, difference: Difference) -> Iterator[Finding]:
    """The errors against the schema in the new configuration of a switch, as `validate` reports them."""
    file = difference.new.files[device.name]
    content = GivenContent(read_bytes(file), device.new)
    target = ObservedDevice(device.name, file, None, content, device.work.release)
    codes = [rule.code for rule in all_rules() if rule.basis is Basis.SCHEMA]
    return (one for one in run(Bundle({device.name: target}, ()), codes) if one.severity is Severity.ERROR)
