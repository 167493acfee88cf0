"""The result of an acceptance run in words: the cause, what shows it, and the next command; or that it cannot tell.

A cause is stated only if the measurements exclude the others: two ends of one slow pair, or collectives without a
measurement of the pairs below them, are not enough.
"""

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fabricgen.acceptance.counters import SentFairness
from fabricgen.acceptance.culprits import Culprit, FabricPart, PartKind
from fabricgen.acceptance.host_counters import NicRise
from fabricgen.acceptance.measured import MeasuredTest, Verdict
from fabricgen.acceptance.nccl_log import NcclLog
from fabricgen.acceptance.planned import Stage
from fabricgen.acceptance.reported import ALONE
from fabricgen.acceptance.slow import Slow, is_collision, name_of
from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import Endpoint
from fabricgen.findings import Finding, Severity
from fabricgen.platforms.nccl import rccl_release_of, release_of
from fabricgen.units import counted, format_bytes, listed

# Pairs that are slow together within this share of each other do not collide: hashes spread unevenly.
_ALIKE = 0.9
_ENOUGH_PAIRS = 4
_UNEVEN = 1.3  # the fullest uplink over the mean


class CauseKind(enum.StrEnum):
    """What the cause is."""

    NONE = "none"  # every measured part carries what the files promise
    CABLING = "cabling"
    LOST_PACKETS = "lost packets"
    TRAFFIC_CLASS = "traffic class"
    PAUSE_STORM = "pause storm"
    NIC = "nic"
    CABLE = "cable"  # a NIC whose link has errors
    DIRECTION = "direction"
    HOST = "host"
    LEAF = "leaf"
    UPLINKS = "uplinks"
    RAIL = "rail"
    COLLISIONS = "hash collisions"
    COLLECTIVES = "collectives"  # links are good: NCCL or the hosts
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Cause:
    """A cause: the part of the fabric or "", a sentence, what shows it, and the command to run next."""

    kind: CauseKind
    part: str
    sentence: str
    evidence: tuple[str, ...] = ()
    next_command: str = ""


@dataclass(frozen=True)
class Observations:
    """What a run measured beside its tests: how evenly uplinks sent, counters of NICs, and all findings; and what was
    left out."""

    fairness: Sequence[SentFairness]
    nics: Mapping[Endpoint, NicRise]
    findings: Sequence[Finding]
    switches: int = 0  # with counters before and after
    with_drops: int = 0  # of them
    with_storms: int = 0
    left_out: int = 0  # files that belong to no test


_OF_FINDINGS = {
    "FG260": CauseKind.CABLING,
    "FG261": CauseKind.CABLING,
    "FG966": CauseKind.LOST_PACKETS,
    "FG965": CauseKind.TRAFFIC_CLASS,
    "FG968": CauseKind.PAUSE_STORM,
}


def causes_of(found: Sequence[MeasuredTest], slow: Slow, bundle: Bundle, seen: Observations) -> tuple[Cause, ...]:
    """The causes, those first that explain others; exactly one of NONE or UNKNOWN if there is no other."""
    writer = _Causes(found, slow, bundle, seen)
    causes = list(writer.all())
    return tuple(causes) or (writer.nothing_slow(),)


@dataclass(frozen=True)
class _Causes:
    found: Sequence[MeasuredTest]
    slow: Slow
    bundle: Bundle
    seen: Observations

    def all(self) -> Iterator[Cause]:
        of_findings = list(self._from_findings())
        writers = [cause.part for cause in of_findings if cause.kind is CauseKind.TRAFFIC_CLASS]
        if len(writers) > 1:  # a port counts what all of its writers sent
            of_findings = [cause for cause in of_findings if cause.kind is not CauseKind.TRAFFIC_CLASS]
            yield _several_writers(writers)
        yield from of_findings
        explained = {cause.part for cause in of_findings}
        blamed = [self._blamed(one) for one in self.slow.blamed if explained.isdisjoint(self._places(one.part))]
        if len(blamed) > 1 and not self._good_peers():
            blamed = [self._all_slow()]  # no part differs from the others
        yield from blamed
        yield from self._together()
        yield from self._collectives()
        if self.slow.single and not (of_findings or writers):
            yield self._single()

    def _from_findings(self) -> Iterator[Cause]:
        """Cables in wrong ports, and what counters of switches show."""
        for finding in self.seen.findings:
            kind = _OF_FINDINGS.get(finding.code)
            if kind is None or finding.severity is not Severity.ERROR or _failed_watchdog(finding):
                continue
            port = finding.path.partition("|")[2].partition("|")[0] if "|" in finding.path else finding.path
            part = f"{finding.device} {port}".strip()
            yield Cause(kind, part, finding.message, (), finding.hint)

    def _places(self, part: FabricPart) -> set[str]:
        """The names under which findings about counters have a part."""
        at = self._switch_port((part.name, part.port))
        return {f"{part.name} {part.port}".rstrip(), part.name if part.kind is PartKind.HOST else at} - {""}

    def _switch_port(self, nic: Endpoint) -> str:
        """'leaf1 Ethernet0', where the link of a NIC ends; "" without a link."""
        link = self.bundle.link_at.get(nic)
        return f"{link.b[0]} {link.b[1]}" if link else ""

    # Parts that are common to slow tests.

    def _blamed(self, culprit: Culprit) -> Cause:
        tests = [one for one in self.found if one.test.id in set(culprit.tests)]
        part, name = culprit.part, name_of(culprit.part)
        shown = (self._worst(tests), f"{len(tests)} of {counted(culprit.total, 'test')} with {name} slow")
        link_errors = [
            (end, self.seen.nics[end])
            for end in [(part.name, part.port), *((other.name, other.port) for other in culprit.or_else)]
            if end in self.seen.nics
        ]
        with_errors = [(end, risen) for end, risen in link_errors if risen.errors]
        held = [(end, risen) for end, risen in link_errors if risen.pauses or risen.stalled]
        if len(with_errors) == 1:
            return self._cable(*with_errors[0], shown)
        if len(held) == 1 and not with_errors:
            return self._held(*held[0], shown)
        if part.kind is PartKind.HOST_RECEIVING:
            of_host = [(end, risen) for end, risen in self.seen.nics.items() if end[0] == part.name]
            if holding := [(end, risen) for end, risen in of_host if risen.pauses or risen.stalled]:
                return self._held_host(part.name, holding, shown)
        if culprit.or_else:
            names = " or ".join(sorted(map(name_of, (part, *culprit.or_else))))
            text = f"cannot tell whether {names} is slow: every slow test has both"
            return Cause(CauseKind.UNKNOWN, "", text, shown, _with_a_third(culprit, self.bundle))
        return self._of_part(culprit, shown)

    def _all_slow(self) -> Cause:
        tests = [one for one in self.found if one.test.stage in ALONE and one.value is not None]
        shares = sorted(map(_share, tests))
        alike = "alike" if shares[0] > _ALIKE * shares[-1] else "and no part is good"
        text = (
            f"cannot tell which part is slow: all {counted(len(tests), 'test')} are slow {alike}, at "
            f"{shares[0]:.0%} to {shares[-1]:.0%} of what the files promise"
        )
        command = (
            "check what all have in common: the speed of the ports (show interfaces status), the MTU, --unit, and the "
            "settings of the NICs"
        )
        return Cause(CauseKind.UNKNOWN, "", text, (self._worst(tests),), command)

    def _of_part(self, culprit: Culprit, shown: tuple[str, ...]) -> Cause:
        part, name = culprit.part, name_of(culprit.part)
        shown = (*shown, *self._good_peers())
        at = self._switch_port((part.name, part.port))
        if part.kind is PartKind.NIC:
            text = f"{name} is slow with every partner, and other NICs are not"
            return Cause(
                CauseKind.NIC,
                name,
                text,
                shown,
                f"on {part.name}: ethtool -S {part.port}; at {at}: show interfaces counters errors",
            )
        if part.kind in (PartKind.NIC_SENDING, PartKind.NIC_RECEIVING):
            way = (
                "sends slowly and receives well"
                if part.kind is PartKind.NIC_SENDING
                else "receives slowly and sends well"
            )
            nic = f"{part.name} {part.port}"
            text = f"one direction is slow: {nic} {way}"
            return Cause(CauseKind.DIRECTION, nic, text, shown, f"at {at}: show queue counters, show pfc counters")
        if part.kind in (PartKind.HOST_SENDING, PartKind.HOST_RECEIVING):
            sends = part.kind is PartKind.HOST_SENDING
            way = "sends slowly and receives well" if sends else "receives slowly and sends well"
            text = f"one direction is slow: {part.name} {way}, over all its NICs"
            command = f"on {part.name}: ethtool -S of its NICs, lspci -vv | grep LnkSta:; compare with a good host"
            return Cause(CauseKind.DIRECTION, part.name, text, shown, command)
        if part.kind in (PartKind.UPLINKS_SENDING, PartKind.UPLINKS_RECEIVING):
            way = "from" if part.kind is PartKind.UPLINKS_SENDING else "to"
            text = f"one direction is slow: what goes {way} {part.name} over the spines; the other direction is not"
            return Cause(
                CauseKind.DIRECTION,
                part.name,
                text,
                shown,
                f"on {part.name}: show queue counters, show pfc counters of the uplinks",
            )
        if part.kind is PartKind.HOST:
            rises = [(end, risen) for end, risen in self.seen.nics.items() if end[0] == part.name]
            shown = (*shown, *(line for end, risen in rises for line in _risen(end, risen)))
            text = f"one host is slow: all NICs of {part.name}, with every partner"
            command = (
                f"on {part.name}: lspci -vv | grep -E 'LnkSta:|MaxPayload|MaxReadReq', and compare with a good host"
            )
            return Cause(CauseKind.HOST, part.name, text, shown, command)
        if part.kind is PartKind.RAIL:
            text = f"one rail is slow: {part.port} of all hosts, at every leaf; the other rails are not"
            command = f"compare the NIC settings and the leaves of {part.port} with those of another rail"
            return Cause(CauseKind.RAIL, part.port, text, shown, command)
        if part.kind is PartKind.SWITCH:
            text = f"one leaf is slow: all NICs at {part.name}; other leaves are not"
            return Cause(
                CauseKind.LEAF,
                part.name,
                text,
                shown,
                f"fabricgen diff RUNNING BUNDLE, for {part.name}",
            )
        text = f"the uplinks of {part.name} are slow: its NICs reach each other at full speed, but not other leaves"
        return Cause(
            CauseKind.UPLINKS, part.name, text, shown, f"on {part.name}: show interfaces status, show ip route"
        )

    def _cable(self, end: Endpoint, risen: NicRise, shown: tuple[str, ...]) -> Cause:
        link, at = self.bundle.link_at.get(end), self._switch_port(end)
        text = f"the cable of {end[0]} {end[1]} has errors" + (f", from {at}" if at else "")
        command = f"clean or replace the cable{f' {link.cable}' if link else ''}, then measure again"
        return Cause(CauseKind.CABLE, f"{end[0]} {end[1]}", text, (*shown, *_risen(end, risen)), command)

    def _held(self, end: Endpoint, risen: NicRise, shown: tuple[str, ...]) -> Cause:
        text = f"{end[0]} does not take what arrives at {end[1]}: its NIC pauses the leaf, so the link is not the cause"
        command = (
            f"on {end[0]}: lspci -vv | grep -E 'LnkSta:|MaxPayload|MaxReadReq'; check the NUMA node, IOMMU and ACS"
        )
        return Cause(CauseKind.HOST, f"{end[0]} {end[1]}", text, (*shown, *_risen(end, risen)), command)

    def _held_host(self, host: str, holding: Sequence[tuple[Endpoint, NicRise]], shown: tuple[str, ...]) -> Cause:
        nics = listed([nic for (_, nic), _ in holding], 8)
        text = f"{host} does not take what arrives at {nics}: its NICs pause the leaves, so links are not the cause"
        command = f"on {host}: lspci -vv | grep -E 'LnkSta:|MaxPayload|MaxReadReq'; check the NUMA nodes, IOMMU and ACS"
        risen = tuple(line for end, one in holding for line in _risen(end, one))
        return Cause(CauseKind.HOST, host, text, (*shown, *risen[:4]), command)

    def _worst(self, tests: Sequence[MeasuredTest]) -> str:
        worst = min(tests, key=_share)
        return f"{worst.test.id}: {_measured(worst)}, {_share(worst):.0%}"

    def _good_peers(self) -> tuple[str, ...]:
        """The tests that are good."""
        bad = {test for culprit in self.slow.blamed for test in culprit.tests}
        good = [one for one in self.found if one.test.stage in ALONE and one.value and one.test.id not in bad]
        if not good:
            return ()
        return (f"{counted(len(good), 'test')} without it: {min(map(_share, good)):.0%} or more",)

    # Pairs that are slow at the same time only.

    def _together(self) -> Iterator[Cause]:
        by_leaf: dict[str, list[MeasuredTest]] = {}
        for one in self.slow.together:
            by_leaf.setdefault(self._leaf(one), []).append(one)
        alone = {end for one in self.found if one.test.stage is Stage.FAR and one.verdict is Verdict.PASS
                 for end in (one.test.a, one.test.b)}  # fmt: skip
        for leaf, tests in sorted(by_leaf.items()):
            of_leaf = [one for one in self.found if one.test.stage is Stage.BISECTION and self._leaf(one) == leaf]
            shown: tuple[str, ...] = (
                f"{len(tests)} of {counted(len(of_leaf), 'pair')} from {leaf} slow at the same time",
                self._worst(tests),
            )
            shown = (*shown, *self._uplinks(leaf))
            if not all(one.test.a in alone for one in tests):
                text = (
                    f"cannot tell uplinks from hash collisions: the pairs from {leaf} are slow together, and were not "
                    "measured alone"
                )
                yield Cause(
                    CauseKind.UNKNOWN, "", text, shown, "measure the same pairs one after the other (stage far)"
                )
                continue
            shares = [_share(one) for one in of_leaf if one.value is not None]
            if len(of_leaf) == len(tests) >= _ENOUGH_PAIRS and min(shares) > _ALIKE * max(shares):
                text = (
                    f"the uplinks of {leaf} carry less together than alone: all its pairs lose the same, and hash "
                    "collisions are uneven"
                )
                command = f"on {leaf}: show interfaces status, show ip route: count the uplinks that are up and in use"
                yield Cause(CauseKind.UPLINKS, leaf, text, shown, command)
            else:
                text = f"hash collisions on the uplinks of {leaf}: its pairs are good alone and uneven together"
                command = f"on {leaf}: show interfaces counters of the uplinks; then raise NCCL_IB_QPS_PER_CONNECTION"
                yield Cause(CauseKind.COLLISIONS, leaf, text, shown, command)

    def _leaf(self, one: MeasuredTest) -> str:
        return self.slow.leaf_of.get(one.test.a, "") if one.test.a else ""

    def _uplinks(self, leaf: str) -> tuple[str, ...]:
        """How evenly the uplinks of a leaf sent, if its counters were read."""
        return tuple(
            f"uplinks of {leaf} are {'uneven' if one.mmr > _UNEVEN else 'even'}: {one.fullest} sent {one.mmr:.2f} "
            f"times the mean of {one.links}"
            for one in self.seen.fairness
            if one.device == leaf
        )

    # Collectives.

    def _collectives(self) -> Iterator[Cause]:
        if not self.slow.collectives:
            return
        worst = min((one for one, _ in self.slow.collectives), key=_share)
        names = sorted({one.test.collective for one, _ in self.slow.collectives})
        shown: tuple[str, ...] = (f"{worst.test.collective}: {_measured(worst)}, {_share(worst):.0%}",)
        small = [one for one, _ in self.slow.collectives if one.is_too_small]
        if len(small) == len(self.slow.collectives):
            largest = max(size for one in small for result in one.results for size, _ in result.curve)
            text = (
                f"cannot tell whether {listed(names)} is slow: the largest buffer has {format_bytes(largest)}, and "
                "larger ones can reach what the files promise"
            )
            yield Cause(CauseKind.UNKNOWN, "", text, shown, "run it again with buffers up to 8 GB: -b 1G -e 8G -f 2")
            return
        unmeasured = self._unmeasured()
        if unmeasured:
            text = f"cannot tell why {listed(names)} is slow: {unmeasured}"
            command = "measure pairs of NICs at one leaf and across spines (stages near and far), then run it again"
            yield Cause(CauseKind.UNKNOWN, "", text, (*shown, *self._logs()), command)
            return
        pairs = self._pairs()
        shown = (f"slowest pair {min(map(_value, pairs)):.1f} Gb/s, {min(map(_share, pairs)):.0%}", *shown)
        left = []
        for one, share in self.slow.collectives:
            if is_collision(one, share):
                expected = share * (one.test.expected or 0)
                text = f"hash collisions explain {one.test.collective}: they leave {expected:.1f} GB/s"
                yield Cause(CauseKind.COLLISIONS, "", text, (_measured(one), *shown[:1]), _MORE_PATHS)
            else:
                left.append((one, share))
        if left:
            yield self._nccl(left, pairs, shown)

    def _nccl(self, left: list[tuple[MeasuredTest, float]], pairs: list[MeasuredTest], shown: tuple[str, ...]) -> Cause:
        rails = {end[1] for one in pairs for end in (one.test.a, one.test.b) if end}
        alike = f", all {counted(len(rails), 'rail')} alike" if len(rails) > 1 else ""
        links = f"links are not the cause: every pair reaches {min(map(_value, pairs)):.0f} Gb/s{alike}"
        shares = sorted({share for _, share in left if share < 1})
        if shares:
            shown = (*shown, f"hash collisions alone would leave {shares[0]:.0%}")
        logs = self._logs() or (f"look at {self._library()}: channels, PXN, GPUDirect RDMA",)
        return Cause(
            CauseKind.COLLECTIVES, "", f"{links}; {logs[0]}",
            (*shown, *logs[1:]), _next_of_log(logs[0], min((one for one, _ in left), key=_share).test.collective),
        )  # fmt: skip

    def _pairs(self) -> list[MeasuredTest]:
        return [one for one in self.found if one.test.stage in _PAIRS and one.value is not None]

    def _unmeasured(self) -> str:
        """What is not known of the links below the slow collectives; "" if all their NICs and the spines are good."""
        good = [one for one in self._pairs() if one.verdict is Verdict.PASS]
        ends = {end for one in good for end in (one.test.a, one.test.b) if end}
        hosts = {host for one, _ in self.slow.collectives for host in one.test.hosts}
        used = {end: leaf for end, leaf in self.slow.leaf_of.items() if end[0] in hosts and self._is_compute(end)}
        if not good:
            return "no pair of NICs was measured"
        if missing := sorted(f"{host} {nic}" for host, nic in used.keys() - ends):
            return f"{counted(len(missing), 'NIC')} of its hosts have no good pair test: {listed(missing, 3)}"
        leaves_of: dict[str, set[str]] = {}
        for (_, nic), leaf in used.items():
            leaves_of.setdefault(nic, set()).add(leaf)
        crossing = any(len(leaves) > 1 for leaves in leaves_of.values())
        if crossing and not any(one.test.stage is Stage.FAR for one in good):
            return "no pair across spines was measured"
        return ""

    def _is_compute(self, end: Endpoint) -> bool:
        link = self.bundle.link_at.get(end)
        return bool(link and any(one.test.plane == link.plane for one, _ in self.slow.collectives))

    def _logs(self) -> tuple[str, ...]:
        """What the logs of NCCL in the results show, the worst first."""
        found: dict[str, None] = {}
        nics = max((len({end[1] for end in self.slow.leaf_of if end[0] == host}) for one, _ in self.slow.collectives
                    for host in one.test.hosts), default=0)  # fmt: skip
        for one, _ in self.slow.collectives:
            compute = sum(self._is_compute(end) for end in self.slow.leaf_of if end[0] == one.test.hosts[0])
            for log in (result.log for result in one.results if result.log):
                name = log.library or self._library()
                if log.transport == "Socket":
                    found[f"{name} uses TCP sockets, not RDMA"] = None
                elif log.devices and len(log.devices) < compute and one.test.stage is Stage.COLLECTIVES:
                    text = f"{name} uses {len(log.devices)} of {compute} NICs of a host: {listed(log.devices, 8)}"
                    found[text] = None
                if log.gdr < log.sends:
                    found[f"{log.sends - log.gdr} of {log.sends} connections of {name} are without GPUDirect RDMA"] = (
                        None
                    )
                if log.channels is not None and log.channels < min(nics, len(log.devices)):
                    found[f"{name} has {log.channels} channels for {len(log.devices)} NICs"] = None
                if text := _without_pxn(log, one.test.collective):
                    found[text] = None
        return tuple(found)

    def _library(self) -> str:
        """RCCL on hosts with GPUs of AMD, otherwise NCCL."""
        wiring = self.bundle.wiring
        vendors = {model.name: model.vendor for model in wiring.host_models} if wiring else {}
        hosts = {host for one, _ in self.slow.collectives for host in one.test.hosts}
        models = {host.model for host in wiring.hosts if host.name in hosts} if wiring else set()
        return "RCCL" if models and all(vendors.get(model) == "amd" for model in models) else "NCCL"

    def _single(self) -> Cause:
        tests = self.slow.single
        text = f"cannot tell: {counted(len(tests), 'slow test')} without a NIC, host, leaf or rail in common"
        command = "run the same tests again: " + listed([one.test.id for one in tests], 3)
        return Cause(CauseKind.UNKNOWN, "", text, (self._worst(tests),), command)

    def nothing_slow(self) -> Cause:
        """Nothing was slow: that is good only as far as it was measured."""
        measured = [one for one in self.found if one.value is not None]
        missing = sum(one.verdict is Verdict.MISSING for one in self.found)
        wrong = [one for one in self.seen.findings if one.severity is Severity.ERROR and one.code in _OF_THE_RUN]
        if measured and wrong:
            text = f"nothing is slow, but the run is not good: {wrong[0].message}"
            return Cause(CauseKind.UNKNOWN, wrong[0].device, text, (), wrong[0].hint)
        left_out = f"; {counted(self.seen.left_out, 'file')} not judged" if self.seen.left_out else ""
        if not measured:
            text = f"cannot tell: no result says what it measured on this fabric{left_out}"
            shown: tuple[str, ...] = ()
            if self.seen.switches:
                shown = tuple(line for one in self.seen.fairness for line in self._uplinks(one.device))
                switches = counted(len(self.bundle.devices), "switch", "switches")
                text = (
                    "cannot tell whether anything is slow: no pair and no collective was measured; counters of "
                    f"{self.seen.switches} of {switches} were read (lost packets: of {self.seen.with_drops}, pause "
                    f"storms: of {self.seen.with_storms}), without a fault{left_out}"
                )
            return Cause(
                CauseKind.UNKNOWN, "", text, shown, "run the tests of `fabricgen handoff acceptance`"
            )  # fmt: skip
        if missing:
            text = (
                f"cannot tell: {missing} of {counted(len(self.found), 'test')} have no result; the others are not slow"
                f"{left_out}"
            )
            return Cause(CauseKind.UNKNOWN, "", text, (), "run the missing tests")
        pairs = [one for one in measured if one.test.stage in _PAIRS]
        collectives = [one for one in measured if one.test.hosts]
        parts = [counted(len(pairs), "pair")] if pairs else []
        parts += [counted(len(collectives), "collective")] if collectives else []
        text = f"nothing is slow: {' and '.join(parts) or counted(len(measured), 'test')} reach what the files promise"
        text += left_out
        return Cause(
            CauseKind.NONE, "", text, tuple(f"lowest {self._worst(group)}" for group in (pairs, collectives) if group)
        )


# Ranks that did not run, wrong elements, an incast without pauses and marks, a watchdog that does not act.
_OF_THE_RUN = ("FG967", "FG968", "FG969", "FG973")
_PAIRS = (Stage.NEAR, Stage.BACK, Stage.FAR)
_MORE_PATHS = "raise NCCL_IB_QPS_PER_CONNECTION and set NCCL_IB_SPLIT_DATA_ON_QPS=1, or use adaptive routing"


def _next_of_log(said: str, collective: str) -> str:
    """The next command after what a log shows of a collective."""
    if "NCCL_PXN_DISABLE is" in said:
        return f"set NCCL_PXN_DISABLE=0 for the job, and run {collective}_perf again"
    return (
        f"NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,GRAPH,NET {collective}_perf …: compare the NICs in use, channels, PXN "
        "and GDRDMA with a good host"
    )


def _without_pxn(log: NcclLog, collective: str) -> str:
    """Why an all-to-all does not use the NICs of other GPUs of a host, so that it crosses rails in the network; "" if
    it does, or if the log does not say."""
    if log.version is None or not log.sends or log.pxn or not collective.startswith("alltoall"):
        return ""
    shown = f"{log.library} {'.'.join(map(str, log.version))}"
    if log.library == "RCCL":
        ranks = rccl_release_of(log.version).pxn_ranks
        default = f"0 by default only from {ranks[0]} ranks on ({ranks[1]} on MI350X)" if ranks else "1 by default"
        return f"{shown} does not use PXN: NCCL_PXN_DISABLE is {default}"
    if log.gdr < log.sends and release_of(log.version).pxn_needs_gdr:
        return f"{shown} uses PXN only with GPUDirect RDMA"
    return f"{shown} does not use PXN: look for NCCL_PXN_DISABLE"


def _several_writers(writers: Sequence[str]) -> Cause:
    names = listed(sorted(writers))
    return Cause(
        CauseKind.UNKNOWN,
        "",
        f"cannot tell which of {names} sends in a lossy class: the ports that count it received from all of them",
        (f"{counted(len(writers), 'writer')} to these ports only: {names}",),
        "clear the counters, run one pair of each writer, and compare `show queue counters`",
    )


def _failed_watchdog(finding: Finding) -> bool:
    """The watchdog's own test failed: nothing is slow by it."""
    return finding.code == "FG968" and finding.message.startswith("no storm")


def _share(one: MeasuredTest) -> float:
    return (one.value or 0) / (one.test.expected or 1)


def _value(one: MeasuredTest) -> float:
    return one.value or 0


def _measured(one: MeasuredTest) -> str:
    return f"{_value(one):.1f} of {one.test.expected} {one.test.unit}"


def _risen(end: Endpoint, risen: NicRise) -> list[str]:
    counters = {**risen.errors, **risen.pauses, **risen.stalled}
    return [f"{end[0]} {end[1]}: {name} rose by {value}" for name, value in sorted(counters.items())]


def _with_a_third(culprit: Culprit, bundle: Bundle) -> str:
    part = culprit.part
    ends = {(one.name, one.port) for one in (part, *culprit.or_else)}
    link = bundle.link_at.get((part.name, part.port))
    if link is None:
        return "measure each with a third partner"
    third = next((one.a for one in bundle.host_links if one.b[0] == link.b[0] and one.a not in ends), None)
    return "measure each with a third NIC" + (f", for example {third[0]} {third[1]}" if third else "")
