"""The tenants of the report: the verdict on each plane, who reaches whom, and the tenants at each switch."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import Endpoint
from fabricgen.draw.topology import Topology
from fabricgen.isolation.partitions import partitions_of_ports
from fabricgen.report.isolation import isolation_statement
from fabricgen.results import IsolationResult
from fabricgen.sonic.canonical import natural_key


def tenants_object(bundle: Bundle, topology: Topology, results: Sequence[IsolationResult]) -> list[dict[str, Any]]:
    """The planes with tenants. `names` are their tenants, "" for hosts that no tenant has; all other numbers of tenants
    are places in it. `reach` has rows [from, to, pairs, passing, expected] of the pairs of tenants with packets that
    pass, or that should; all other pairs are apart. `mixes` are the different lists of [tenant, NICs] of a switch, and
    `mix_of` has the place of the list of each switch, in the order of the topology; None without hosts of the plane."""
    partitions = dict(partitions_of_ports(bundle)) if results else {}
    owner = bundle.wiring.tenant_of if bundle.wiring else {}
    found = []
    for result in results:
        names = sorted({name for one in result.matrix for name in (one.source, one.target)}, key=_idle_last)
        place = {name: number for number, name in enumerate(names)}
        reach = [
            [place[one.source], place[one.target], one.pairs, one.passing, one.expected]
            for one in result.matrix
            if one.passing or one.expected
        ]
        owners = partitions.get(result.plane, owner)
        mixes, mix_of = _mixes(topology, result.plane, place, owners)
        found.append(
            {
                "plane": result.plane,
                "statement": isolation_statement(result).as_object(),
                "not_covered": result.shared,
                "names": names,
                "reach": reach,
                "mixes": mixes,
                "mix_of": mix_of,
            }
        )
    return found


def _idle_last(name: str) -> tuple[Any, ...]:
    return (not name, natural_key(name))


def _mixes(
    topology: Topology, plane: str, place: Mapping[str, int], owner: Mapping[Endpoint, str]
) -> tuple[list[list[list[int]]], list[int | None]]:
    known: dict[tuple[tuple[int, int], ...], int] = {}
    mix_of: list[int | None] = []
    for index, switch in enumerate(topology.switches):
        links = topology.hosts.get(index, ()) if switch.plane == plane else ()
        nics = Counter(place[name] for link in links if (name := owner.get(link.a, "")) in place)
        mix_of.append(known.setdefault(tuple(sorted(nics.items())), len(known)) if nics else None)
    return [[list(one) for one in mix] for mix in known], mix_of
