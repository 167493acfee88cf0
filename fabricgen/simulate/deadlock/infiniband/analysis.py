"""Verdicts on InfiniBand subnets: on tables that the real OpenSM makes, on dumped tables, or on the wiring only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from fabricgen.errors import UsageError
from fabricgen.observed.opensm_dumps import Dumps, read_dumps, read_subnet
from fabricgen.observed.path_sls import NO_PATH
from fabricgen.observed.subnet import GuidCable, Subnet, cables_by_guid
from fabricgen.observed.subnet_files import SubnetFiles, subnets_of, with_names
from fabricgen.opensm.guids import guid_text, is_placeholder
from fabricgen.opensm.options import OpensmEngine
from fabricgen.results import Claim, DeadlockResult, FailureSummary, RoutesModel, Verdict
from fabricgen.routing.infiniband import LANES
from fabricgen.simulate.deadlock.infiniband.failures import (
    NO_FAILURES,
    SubnetFailures,
    WantedFailures,
    modelled,
    rerouted,
)
from fabricgen.simulate.deadlock.infiniband.up_down import UpDown, up_down
from fabricgen.simulate.deadlock.infiniband.virtual_lanes import CreditLoops, find_credit_loops
from fabricgen.simulate.opensm import Proof, find_tools, prove
from fabricgen.simulate.opensm.plane_tables import dump_folders
from fabricgen.simulate.opensm.staging import is_up_down
from fabricgen.simulate.plane.service_levels import NO_JOBS, JobLevels, on_levels

# Compares the cables of dumps with those of the bundle's plane.


@dataclass(frozen=True, slots=True)
class OtherWiring:
    """Of the `cables` in the dumps, `unknown` are not in the plane; the dumps lack `missing` cables of the plane."""

    plane: str
    cables: int
    unknown: int
    missing: int


def find_other_wiring(seen: Subnet, bundle: Path, name: str) -> OtherWiring | None:
    """How the cables differ from those of the bundle's subnet or plane `name`, or of any subnet if none has that name.
    Of several subnets the one with the most common cables counts. None if the cables are equal, or if the bundle has
    placeholder GUIDs and the dumps do not."""
    subnets = [one for one in subnets_of(bundle) if one.netlist.is_file()]
    planned = {
        one.name: set(cables_by_guid(read_subnet(one.netlist))) for one in subnets if name in (one.name, one.plane)
    }
    planned = planned or {one.name: set(cables_by_guid(read_subnet(one.netlist))) for one in subnets}
    there = set(cables_by_guid(seen))
    if not planned:
        return None
    plane = max(planned, key=lambda one: len(planned[one] & there))
    differing = OtherWiring(plane, len(there), len(there - planned[plane]), len(planned[plane] - there))
    if not (planned[plane] & there) and all(map(_is_placeholder, planned[plane])):
        return None
    return differing if differing.unknown or differing.missing else None


def _is_placeholder(cable: GuidCable) -> bool:
    return all(is_placeholder(guid_text(guid)) for guid, _ in cable)


@dataclass(frozen=True, slots=True)
class SubnetEvidence:
    """What the verdict on a subnet is based on. Exactly one of `proof` (model opensm), dumps of a person (lfts) and
    `wiring` (design) is present.

    `files` is the subnet of a bundle, None for dumps. `place` is `folder` relative to the path that was given. `dumps`
    are the forwarding tables and the SLs of paths, None without tables. `if_one_lane` is the verdict with all SLs on
    VL 0: the other possible meaning of SLs without SL-to-VL tables. `other_wiring`: the dumps are not of the bundle's
    subnet. `jobs` are the SLs of collectives, which request no path records.
    `failures` are the verdicts on failure sets, None if none were judged.
    """

    folder: Path
    place: str
    files: SubnetFiles | None = None
    dumps: Dumps | None = None
    loops: CreditLoops | None = None
    proof: Proof | None = None
    wiring: UpDown | None = None
    if_one_lane: CreditLoops | None = None
    other_wiring: OtherWiring | None = None
    jobs: JobLevels = NO_JOBS
    failures: SubnetFailures | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubnetDeadlock(DeadlockResult):
    """A subnet's verdict with its evidence, for findings and certificates."""

    evidence: SubnetEvidence = field(compare=False, repr=False)


def analyse_subnets(
    root: Path,
    plane: str | None = None,
    jobs: Mapping[str, JobLevels] = MappingProxyType({}),
    wanted: WantedFailures = NO_FAILURES,
) -> list[SubnetDeadlock]:
    """One verdict for each subnet of a bundle, or of one plane; with the real OpenSM if it is installed. `jobs` are the
    SLs of collectives by plane, `wanted` the failures to judge."""
    chosen = (files for files in subnets_of(root) if plane in (None, files.plane, files.name))
    return [_with_failures(_analyse(files, jobs.get(files.plane, NO_JOBS)), wanted) for files in chosen]


def tables_by_plane(results: Sequence[SubnetDeadlock]) -> dict[str, list[Dumps]]:
    """The tables of the planes all of whose subnets have some."""
    made: dict[str, list[Dumps | None]] = {}
    for one in results:
        if one.evidence.files is not None:
            made.setdefault(one.evidence.files.plane, []).append(one.evidence.dumps)
    return {plane: [one for one in found if one] for plane, found in made.items() if all(found)}


def analyse_dumps(
    folder: Path,
    names: Path | None = None,
    plane: str | None = None,
    jobs: Mapping[str, JobLevels] = MappingProxyType({}),
) -> list[SubnetDeadlock]:
    """Verdicts on dumps of one subnet, or of several with one folder each. `names` is a bundle whose node-name-maps
    name the switches, in addition to a map among the dumps. `jobs` are the SLs of collectives by plane. Raises
    UnreadableInputError."""
    found = [
        SubnetFiles(plane or "", plane or "", one) if one == folder else SubnetFiles(one.name, one.name, one)
        for one in dump_folders(folder)
    ]
    return [
        _dumped(files, names, files.folder.relative_to(folder).as_posix(), jobs.get(files.plane, NO_JOBS))
        for files in found
    ]


def _dumped(files: SubnetFiles, names: Path | None, place: str, jobs: JobLevels) -> SubnetDeadlock:
    dumps = read_dumps(files.folder)
    maps = [subnet.folder for subnet in subnets_of(names)] if names else []
    for one in (*maps, files.folder):
        dumps = replace(dumps, subnet=with_names(dumps.subnet, one))
    loops = find_credit_loops(dumps)
    other = _one_lane(dumps)
    differing = find_other_wiring(dumps.subnet, names, files.name) if names else None
    evidence = SubnetEvidence(
        files.folder, place, dumps=dumps, loops=loops, if_one_lane=other, other_wiring=differing, jobs=jobs
    )
    return _verdict(files.name, RoutesModel.LFTS, loops, other is None and _knows_lanes(dumps), evidence)


def _knows_lanes(dumps: Dumps) -> bool:
    """Whether the lane of every path is known: the SLs of all pairs of adapter ports, or only one lane for all SLs."""
    if dumps.path_sl is None:
        return dumps.sl2vl is None or len(np.unique(dumps.sl2vl)) == 1
    unknown = dumps.path_sl == NO_PATH
    unknown[dumps.owners, np.arange(len(dumps.owners))] = False  # to itself
    return not unknown[dumps.subnet.attached_switch >= 0].any()


def _one_lane(dumps: Dumps) -> CreditLoops | None:
    """The verdict with all traffic on one lane, if paths use several SLs and their lanes are not known."""
    levels = dumps.path_sl
    if dumps.sl2vl is not None or levels is None or sum((levels == level).any() for level in range(LANES)) < 2:
        return None
    return find_credit_loops(_on_one_lane(dumps))


def _on_one_lane(dumps: Dumps) -> Dumps:
    """The same routes with all paths on SL 0 and VL 0."""
    assert dumps.path_sl is not None
    levels = np.where(dumps.path_sl < LANES, np.uint8(0), np.uint8(NO_PATH))
    return replace(dumps, path_sl=levels, sl2vl=None)


def _with_failures(result: SubnetDeadlock, wanted: WantedFailures) -> SubnetDeadlock:
    """The verdict on the subnet and on every failure set that was judged."""
    files, dumps = result.evidence.files, result.evidence.dumps
    if not wanted.depth or files is None or not files.netlist.is_file() or result.verdict is Verdict.CYCLIC:
        return result
    judged = None
    if dumps is not None or result.evidence.wiring is not None:
        subnet = dumps.subnet if dumps else with_names(read_subnet(files.netlist), files.folder)
        judged = modelled(files, subnet, wanted)
    tools = find_tools()
    if judged is None and dumps is not None and tools is not None:
        one_level = dumps.path_sl is None or not (dumps.path_sl[dumps.path_sl != NO_PATH]).any()
        judged = rerouted(tools, files, dumps.subnet, wanted, result.evidence.jobs.levels, one_level=one_level)
    if judged is None:
        return result
    evidence = replace(result.evidence, failures=judged)
    looped = next((one for one in judged.judged if one.loop), None)
    fixed = result.fixed_sl and _fixed_after_failures(result.fixed_sl, judged)
    found = replace(result, failures=judged.summary(fixed=False), fixed_sl=fixed, evidence=evidence)
    if looped is None or looped.loop is None:
        return found
    return replace(found, verdict=Verdict.CYCLIC, cycles=(replace(looped.loop, failed_links=looped.names),))


def _fixed_after_failures(result: DeadlockResult, judged: SubnetFailures) -> DeadlockResult:
    looped = next((one for one in judged.judged if one.fixed_loop), None)
    found = replace(result, failures=judged.summary(fixed=True))
    if looped is None or looped.fixed_loop is None or result.cycles:
        return found
    return replace(found, verdict=Verdict.CYCLIC, cycles=(replace(looped.fixed_loop, failed_links=looped.names),))


def _analyse(files: SubnetFiles, jobs: JobLevels) -> SubnetDeadlock:
    tools = find_tools()
    if tools is None or not files.netlist.is_file():
        return _designed(files, jobs)
    try:
        proof = prove(tools, files.netlist, files.folder)
    except UsageError as error:
        raise UsageError(f"{files.name}: {error}") from error
    if proof.dumps is None:
        return SubnetDeadlock(
            verdict=Verdict.UNKNOWN,
            claim=Claim.POSSIBLE,
            model=RoutesModel.OPENSM,
            priorities=(),
            channels=0,
            dependencies=0,
            failures=FailureSummary(0, 1, 0, 1),
            name=files.name,
            evidence=SubnetEvidence(files.folder, files.place, files, proof=proof, jobs=jobs),
        )
    dumps = replace(proof.dumps, subnet=with_names(proof.dumps.subnet, files.folder))
    loops, other = find_credit_loops(dumps), _one_lane(dumps)
    evidence = SubnetEvidence(files.folder, files.place, files, dumps, loops, proof, if_one_lane=other, jobs=jobs)
    verdict = _verdict(files.name, RoutesModel.OPENSM, loops, proof.knows_all_levels and other is None, evidence)
    if proof.active != OpensmEngine.DFSSSP or dumps.path_sl is None:
        return verdict
    ports = find_credit_loops(_on_one_lane(dumps))  # dfsssp draws lanes by the clock, so only ports can be counted
    return replace(verdict, channels=ports.channels, dependencies=ports.dependencies, is_of_one_run=True)


def _designed(files: SubnetFiles, jobs: JobLevels) -> SubnetDeadlock:
    subnet = read_subnet(files.netlist) if files.netlist.is_file() else None
    wiring = up_down(subnet) if subnet else UpDown(False, 0, 0)
    certain = wiring.is_legal and is_up_down(files.folder)
    return SubnetDeadlock(
        verdict=Verdict.FREE if subnet else Verdict.UNKNOWN,
        claim=Claim.PROVED if certain else Claim.POSSIBLE,
        model=RoutesModel.DESIGN,
        priorities=(0,),
        channels=wiring.channels,
        dependencies=wiring.dependencies,
        name=files.name,
        evidence=SubnetEvidence(files.folder, files.place, files, wiring=wiring, jobs=jobs),
    )


def _verdict(
    name: str, model: RoutesModel, loops: CreditLoops, is_certain: bool, evidence: SubnetEvidence
) -> SubnetDeadlock:
    return SubnetDeadlock(
        **_figures(loops),
        claim=Claim.PROVED if is_certain else Claim.POSSIBLE,
        model=model,
        name=name,
        fixed_sl=_on_fixed_levels(evidence, model),
        evidence=evidence,
    )


def _figures(loops: CreditLoops) -> dict[str, Any]:
    """The fields of a verdict that the credit loops of its tables give."""
    cyclic = loops.cycle is not None
    free = Verdict.FREE if loops.channels or not loops.lost_count else Verdict.UNKNOWN
    return {
        "verdict": Verdict.CYCLIC if cyclic else free,
        "priorities": loops.lanes,
        "channels": loops.channels,
        "dependencies": loops.dependencies,
        "failures": FailureSummary(0, 1, int(cyclic), int(loops.lost_count > 0)),
        "cycles": (loops.cycle,) if loops.cycle else (),
    }


def _on_fixed_levels(evidence: SubnetEvidence, model: RoutesModel) -> DeadlockResult:
    """The verdict for packets on the SLs of the jobs. Each pair is judged on each SL, so that a loop over several SLs
    is only possible."""
    assert evidence.dumps is not None
    levels = evidence.jobs.levels
    loops = find_credit_loops(on_levels(evidence.dumps, levels))
    is_possible = loops.cycle is not None and len(levels) > 1
    claim = Claim.POSSIBLE if is_possible else Claim.PROVED
    return DeadlockResult(**_figures(loops), claim=claim, model=model, service_levels=levels)
