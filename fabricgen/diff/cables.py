"""The cables that were meant beside those that were seen: missing, extra, misplaced and swapped ones."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import Endpoint
from fabricgen.errors import UsageError
from fabricgen.observed.lldp import Pair, read_lldp, resolved
from fabricgen.sonic.canonical import natural_key


@dataclass(frozen=True, slots=True)
class Miscabling:
    """Cables that are not as meant; ends by their natural order.

    kind: missing (meant, no neighbour at either end), extra (seen, neither end was meant to have a cable), misplaced
    (seen, and not what its ends were meant for), swapped (two seen cables whose far ends change places).
    """

    kind: str
    seen: tuple[Pair, ...]
    meant: tuple[Pair, ...]

    @property
    def device(self) -> str:
        """The one device two of whose cables are swapped, such as a host with two NICs; "" elsewhere."""
        near, far = ({name for name, _ in pair} for pair in self.seen) if self.kind == "swapped" else (set(), set())
        return next(iter(near & far)) if len(near & far) == 1 else ""

    @property
    def detail(self) -> str:
        """one-device for such a swap; of a misplaced cable other-port (the devices are right) or other-device."""
        if self.kind == "misplaced":
            devices = [{name for name, _ in pair} for pair in self.meant]
            return "other-port" if {name for name, _ in self.seen[0]} in devices else "other-device"
        return "one-device" if self.device else ""


@dataclass(frozen=True, slots=True)
class Stranger:
    """A node that the bundle does not know by its GUID. `meant` is the GUID of the switch it says it is, or ""."""

    guid: str
    name: str
    meant: str


@dataclass(frozen=True)
class CableDifference:
    """What was seen. `silent` are switches of the bundle without an LLDP dump, or that ibnetdiscover did not see."""

    miscablings: tuple[Miscabling, ...]
    right: int
    silent: tuple[str, ...]
    strangers: tuple[Stranger, ...] = ()
    seen_by: str = "lldp"  # | ibnetdiscover

    @property
    def differs(self) -> bool:
        """Whether anything is not as meant. ibnetdiscover sees every switch that is there, LLDP is asked one by one."""
        return bool(self.miscablings or self.strangers or (self.silent and self.seen_by == "ibnetdiscover"))


def compare_cables(bundle: Bundle, path: Path) -> CableDifference:
    """Compare a bundle's links with an LLDP dump or a folder of them.

    A host is not missed: many run no LLDP. One that does is known by its name. Raises UnreadableInputError for what is
    no dump, UsageError where no dump is of a switch of the bundle.
    """
    readings = read_lldp(path)
    telling = {near[0] for near, _ in readings} & bundle.devices.keys()
    if not telling:
        raise UsageError(
            f"{path}: no dump is of a switch of the bundle; a dump is called DEVICE.json or DEVICE/lldp.json"
        )
    meant = {link.a: link.b for link in bundle.links} | {link.b: link.a for link in bundle.links}
    nics: dict[str, list[Endpoint]] = {}
    for link in bundle.host_links:
        nics.setdefault(link.a[0], []).append(link.a)
    seen = {
        pair_of(near, _plugged(near, resolved(far, bundle.devices), meant, nics))
        for near, far in readings
        if near[0] in telling
    }
    expected = (pair_of(link.a, link.b) for link in bundle.switch_links if telling & {link.a[0], link.b[0]})
    found, right = miscablings(seen, meant, expected)
    silent = tuple(name for name in bundle.devices if name not in telling)
    return CableDifference(found, right, silent)


def miscablings(
    seen: set[Pair], meant: Mapping[Endpoint, Endpoint], expected: Iterable[Pair]
) -> tuple[tuple[Miscabling, ...], int]:
    """What is not as meant, in natural order, and how many cables are. `meant` has every end, `expected` the pairs that
    would have been seen."""
    right = {pair for pair in seen if meant.get(pair[0]) == pair[1]}
    busy = {end for pair in seen for end in pair}
    missing = [pair for pair in expected if busy.isdisjoint(pair)]
    found = [*_wrong(seen - right, meant), *(Miscabling("missing", (), (pair,)) for pair in missing)]
    found.sort(key=lambda item: [[_order(end) for end in pair] for pair in (*item.seen, *item.meant)])
    return tuple(found), len(right)


def _plugged(
    near: Endpoint, far: Endpoint, meant: Mapping[Endpoint, Endpoint], nics: Mapping[str, Sequence[Endpoint]]
) -> Endpoint:
    """The far end in the plan's words. A host announces its own names of NICs: which one it is follows from the switch,
    where the plan has one of the host's at this port, or only one at this switch."""
    name = far[0] if far[0] in nics else far[0].partition(".")[0]
    if name not in nics or (name, far[1]) in meant:
        return (name, far[1]) if name in nics else far
    here = [nic for nic in nics[name] if meant[nic][0] == near[0]]
    if meant.get(near) in here:
        return meant[near]
    return here[0] if len(here) == 1 else (name, far[1])


def _wrong(seen: Iterable[Pair], meant: Mapping[Endpoint, Endpoint]) -> Iterator[Miscabling]:
    left = dict.fromkeys(sorted(seen, key=lambda pair: [_order(end) for end in pair]))
    for pair in list(left):
        if pair not in left:
            continue
        del left[pair]
        wanted = tuple(pair_of(end, meant[end]) for end in pair if end in meant)
        partners = pair_of(meant[pair[0]], meant[pair[1]]) if len(wanted) == 2 else None
        if partners in left:
            del left[partners]
            yield Miscabling("swapped", (pair, partners), wanted)
        else:
            yield Miscabling("misplaced" if wanted else "extra", (pair,), wanted)


def pair_of(one: Endpoint, other: Endpoint) -> Pair:
    """Both ends, by their natural order."""
    first, second = sorted((one, other), key=_order)
    return first, second


def _order(end: Endpoint) -> tuple[object, object]:
    return natural_key(end[0]), natural_key(end[1])
