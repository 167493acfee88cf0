"""What the findings of a subnet have in common: the place and the first words."""

from fabricgen.findings import Location
from fabricgen.simulate.deadlock.infiniband.analysis import SubnetDeadlock
from fabricgen.simulate.opensm import PACKAGES


def why_not_run(result: SubnetDeadlock) -> str:
    """Why OpenSM did not run."""
    netlist = result.evidence.files.netlist.is_file() if result.evidence.files else False
    return f"OpenSM and ibsim are not installed ({PACKAGES})" if netlist else "topology.ibsim is missing"


def place_of(result: SubnetDeadlock, word: str = "routing_engine") -> Location:
    """The line of an option, or the folder of dumps."""
    files, folder = result.evidence.files, result.evidence.folder
    return files.locate("opensm.conf", word) if files else Location(str(folder))


def of_subnet(result: SubnetDeadlock, message: str) -> str:
    """The message with the name of the subnet."""
    return f"{result.name}: {message}" if result.name else message
