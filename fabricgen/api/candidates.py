"""Candidates for a number of GPUs: a first inventory of each design, with equal hosts, so that they can be compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fabricgen.api.starting import inventory_texts
from fabricgen.atomic.folder import create_files
from fabricgen.design.first_planes import Start, gpus_of_host, host_model_of
from fabricgen.design.registry import designs
from fabricgen.errors import UsageError

ALL_DESIGNS = "all"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A design. `oversubscription` is that of its leaves."""

    design: str
    oversubscription: float = 1.0

    @property
    def name(self) -> str:
        """'rail-optimized', 'fat-tree:2'."""
        return self.design if self.oversubscription == 1 else f"{self.design}:{self.oversubscription:g}"


_ALL = (Candidate("rail-optimized"), Candidate("rail-only"), Candidate("fat-tree"), Candidate("fat-tree", 2.0),
        Candidate("dual-tor"))  # fmt: skip


def read_candidates(text: str) -> tuple[Candidate, ...]:
    """The candidates of 'all', or of designs separated by commas, each DESIGN or DESIGN:OVERSUBSCRIPTION.

    Raises UsageError.
    """
    if text.strip() == ALL_DESIGNS:
        return _ALL
    return tuple(dict.fromkeys(_candidate(word.strip()) for word in text.split(",")))


def _candidate(word: str) -> Candidate:
    design, _, ratio = word.partition(":")
    known = [name for name, one in designs().items() if one.first_layout and not one.cyclic]
    if design not in known:
        raise UsageError(f"--designs: {design!r} is not one of {ALL_DESIGNS}, {', '.join(known)}")
    try:
        found = Candidate(design, float(ratio or 1))
    except ValueError:
        raise UsageError(f"--designs: {word!r}: {ratio!r} is not a number, as in {design}:2") from None
    if not 1 <= found.oversubscription <= 64:
        raise UsageError(f"--designs: {word!r}: the oversubscription must be from 1 to 64")
    return found


def equal_hosts(candidates: Sequence[Candidate]) -> str:
    """The host model of all candidates: one with two ports to a NIC if any design needs them."""
    return host_model_of(max((one.design for one in candidates), key=lambda name: designs()[name].nic_ports))


def write_candidate(
    folder: Path, candidate: Candidate, host_model: str, gpus: int, platform: str | None, planned_gpus: int = 0
) -> Path:
    """Write the inventory of a candidate into a new folder: the fewest switches that its design allows.

    The layout has ports for `planned_gpus`, if they are more. Returns the folder. Raises UsageError if the design has
    no layout for so many GPUs.
    """
    of_host = gpus_of_host(candidate.design)
    options = Start(
        name=candidate.name.replace(":", "-"), design=candidate.design, hosts=-(-gpus // of_host),
        planned_hosts=-(-planned_gpus // of_host), platform=platform, host_model=host_model,
        oversubscription=candidate.oversubscription,
    )  # fmt: skip
    texts, _ = inventory_texts(options)
    create_files(folder, {name: text.encode() for name, text in texts.items()})
    return folder


def write_candidates(
    folder: Path, candidates: Sequence[Candidate], gpus: int, platform: str | None
) -> tuple[dict[Candidate, Path], dict[str, str]]:
    """Write the inventories of candidates with equal hosts into new folders.

    Returns the folder of each candidate, and name -> reason of those without a layout. Raises UsageError if none has a
    layout.
    """
    model = equal_hosts(candidates)
    made: dict[Candidate, Path] = {}
    without: dict[str, str] = {}
    for one in candidates:
        try:
            made[one] = write_candidate(folder / one.name.replace(":", "-"), one, model, gpus, platform)
        except UsageError as problem:
            without[one.name] = str(problem)
    if not made:
        raise UsageError(next(iter(without.values())))
    return made, without
