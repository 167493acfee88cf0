"""The ECMP hashes of the switches of a plane, as deployed, and their values for flows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fabricgen.bundle.read import ObservedDevice
from fabricgen.platforms.catalog import layout_by_hwsku
from fabricgen.platforms.hash_support import hash_support
from fabricgen.platforms.source_ports import source_port
from fabricgen.simulate.plane.linear_hash import BITS, Bytes, linear_part, rotated, start_part
from fabricgen.simulate.plane.mixing import GOLDEN, mixed
from fabricgen.simulate.plane.ports import Ints
from fabricgen.sonic.hashing import ROCE_HASH_FIELDS, HashStart, hash_fields, hash_start
from fabricgen.vocabulary import HashModel

Words = NDArray[np.uint64]

DEFAULT_ALGORITHM = "CRC"
_U64 = np.uint64
_PROTOCOL, _PORT = 17, 4791  # UDP, RoCE v2
_ORDER = ("SRC_IP", "DST_IP", "IPV6_FLOW_LABEL", "IP_PROTOCOL", "L4_SRC_PORT", "L4_DST_PORT")  # in a packet


@dataclass(frozen=True, slots=True)
class HashRule:
    """The fields of a packet that a switch hashes, and the name of the algorithm in SWITCH_HASH."""

    fields: tuple[str, ...] = ROCE_HASH_FIELDS
    algorithm: str = DEFAULT_ALGORITHM


@dataclass(frozen=True)
class SwitchHashes:
    """The hash of each switch: its rule, by number in `rules`, its seed and its offset."""

    rules: tuple[HashRule, ...]
    rule: Ints
    seed: Ints
    offset: Ints
    model: HashModel = HashModel.DEPLOYED

    @staticmethod
    def of(
        rules: Sequence[HashRule], starts: Sequence[HashStart], model: HashModel = HashModel.DEPLOYED
    ) -> "SwitchHashes":
        """Of the rule and the start of each switch."""
        number = {rule: index for index, rule in enumerate(dict.fromkeys(rules))}
        return SwitchHashes(
            tuple(number),
            np.array([number[rule] for rule in rules], np.int64),
            np.array([start.seed for start in starts], np.int64),
            np.array([start.offset for start in starts], np.int64),
            model,
        )

    @staticmethod
    def equal(switches: int) -> "SwitchHashes":
        """The same for all, where no switch selects."""
        return SwitchHashes.of([HashRule()] * switches, [HashStart()] * switches, HashModel.IDEAL)

    def started(self, start: HashStart) -> "SwitchHashes":
        """With one start for all switches."""
        same = np.ones_like(self.seed)
        return replace(self, seed=same * start.seed, offset=same * start.offset)


def deployed_hashes(devices: Sequence[ObservedDevice], model: HashModel = HashModel.DEPLOYED) -> SwitchHashes:
    """The hashes of switches by their files. orchagent applies nothing of a row SWITCH_HASH with a field that the
    platform does not have; such a switch hashes as one without the row. Where it is not known whether the SAI takes the
    row, it counts as applied. The default of the SDKs is not published: it is taken to be a CRC of both addresses, the
    protocol and both ports."""
    starts = [hash_start(device.row("DEVICE_METADATA", "localhost"), device.release) for device in devices]
    return SwitchHashes.of([_rule(device) for device in devices], starts, model)


def _rule(device: ObservedDevice) -> HashRule:
    row = device.row("SWITCH_HASH", "GLOBAL")
    if not row:
        return HashRule()
    found = layout_by_hwsku(device.text_of("DEVICE_METADATA", "localhost", "hwsku"))
    support = hash_support(found[0] if found else None)
    fields = hash_fields(row) or ROCE_HASH_FIELDS
    algorithm = device.text_of("SWITCH_HASH", "GLOBAL", "ecmp_hash_algorithm") or DEFAULT_ALGORITHM
    if support and support.fields and not set(fields) <= set(support.fields):
        return HashRule()
    if support and support.algorithms and algorithm not in support.algorithms:
        return HashRule()
    return HashRule(tuple(sorted(fields)), algorithm)


class FlowHashes:
    """The hash of each flow at each switch. `addresses` (adapters x bytes) are those of adapters, `labels` the flow
    labels of the flows, which give their source ports. A field of which all packets of a link have the same value
    separates no flows, and is left out."""

    def __init__(
        self, hashes: SwitchHashes, addresses: Bytes, source: Ints, target: Ints, labels: Words, seed: int
    ) -> None:
        self._hashes = hashes
        self._parts: list[Words] = []
        starts, bits = np.zeros(len(hashes.rule), _U64), np.ones(len(hashes.rule), _U64)
        self._linear = np.zeros(len(hashes.rule), bool)
        packets = _packets(addresses, source, target, labels)
        for number, rule in enumerate(hashes.rules):
            fields = [packets[name] for name in _ORDER if name in rule.fields and name in packets]
            of_rule = hashes.rule == number
            if hashes.model is HashModel.IDEAL or rule.algorithm not in BITS:
                self._parts.append(_mixed_fields(fields, len(source), seed))
                continue
            self._linear |= of_rule
            fields = fields or [packets["IP_PROTOCOL"]]
            width = sum(field.shape[1] for field in fields)
            self._parts.append(linear_part(rule.algorithm, fields))
            bits[of_rule] = BITS[rule.algorithm]
            for value in np.unique(hashes.seed[of_rule]).tolist():
                starts[of_rule & (hashes.seed == value)] = start_part(rule.algorithm, value, width)
        self._starts, self._bits = starts, bits
        self._salts = mixed((hashes.seed * 256 + hashes.offset).astype(_U64) * GOLDEN + GOLDEN)
        if hashes.model is HashModel.DEPLOYED:  # RANDOM differs at every switch
            self._salts = mixed((np.arange(len(hashes.rule)) + 1).astype(_U64) * GOLDEN)

    def at(self, switch: Ints, flow: Ints) -> Words:
        """The hash of each flow at a switch; a next hop is selected by its remainder."""
        rule = self._hashes.rule[switch]
        part = np.empty(len(flow), _U64)
        for number, values in enumerate(self._parts):
            own = rule == number
            part[own] = values[flow[own]]
        offset = self._hashes.offset[switch].astype(_U64)
        turned = rotated(part ^ self._starts[switch], self._bits[switch], offset)
        return np.where(self._linear[switch], turned, mixed(part + self._salts[switch]))


def _packets(addresses: Bytes, source: Ints, target: Ints, labels: Words) -> dict[str, Bytes]:
    """The bytes of each field of the flows' packets."""
    flows = len(source)
    found = {
        "SRC_IP": addresses[source],
        "DST_IP": addresses[target],
        "IP_PROTOCOL": np.full((flows, 1), _PROTOCOL, np.uint8),
        "L4_SRC_PORT": _bytes(source_port(labels), 2),  # type: ignore[arg-type]  # also of arrays
        "L4_DST_PORT": _bytes(np.full(flows, _PORT, _U64), 2),
    }
    if addresses.shape[1] == 16:
        found["IPV6_FLOW_LABEL"] = _bytes(labels, 3)
    return found


def _bytes(values: Words, width: int) -> Bytes:
    """The last bytes of numbers, in network order."""
    return values.astype(">u8").view(np.uint8).reshape(len(values), 8)[:, 8 - width :]


def _mixed_fields(fields: Sequence[Bytes], flows: int, seed: int) -> Words:
    """One key per flow that depends on all bytes of its fields, and on the draw."""
    key = np.full(flows, _U64(seed)) + GOLDEN
    for field in fields:
        padded = np.pad(field, ((0, 0), (0, -field.shape[1] % 8)))
        for word in padded.reshape(flows, -1, 8).transpose(1, 0, 2):
            key = mixed(key ^ np.ascontiguousarray(word).view(_U64)[:, 0]) + GOLDEN
    return key
