"""Hashes as deployed: CRC by an independent implementation, polarised tiers, source ports, and collisions by chance."""

import zlib
from binascii import crc_hqx
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricgen.platforms.source_ports import flow_label, source_port
from fabricgen.simulate.congestion.collisions import expected_fullest, expected_used
from fabricgen.simulate.plane.linear_hash import BITS, linear_part, start_part
from fabricgen.simulate.plane.queue_pairs import flow_labels
from fabricgen.simulate.plane.switch_hashes import FlowHashes, HashRule, SwitchHashes
from fabricgen.sonic.hashing import HashStart, hash_start
from fabricgen.vocabulary import HashModel

_TOR, _LEAF, _SPINE = HashStart(0, 0), HashStart(10, 10), HashStart(25, 0)


def hashed(
    starts: Sequence[HashStart],
    flows: int,
    *,
    algorithm: str = "CRC",
    model: HashModel = HashModel.DEPLOYED,
    fields: tuple[str, ...] | None = None,
    queue_pairs: int = 1,
    seed: int = 0,
) -> np.ndarray[tuple[int, int], np.dtype[np.uint64]]:
    """[start, flow]: the hashes of flows between different pairs of adapters, each repeated over its queue pairs."""
    rule = HashRule(algorithm=algorithm) if fields is None else HashRule(fields, algorithm)
    switches = SwitchHashes.of([rule] * len(starts), starts, model)
    source = np.repeat(np.arange(flows), queue_pairs)
    target = source + flows
    addresses = (np.arange(2 * flows, dtype=np.uint32) + 0x0A000000).astype(">u4").view(np.uint8).reshape(-1, 4)
    labels = flow_labels(source, target, np.ones(2 * flows, bool), seed)
    of_flows = FlowHashes(switches, addresses, source, target, labels, seed)
    every = np.arange(len(source))
    return np.stack([of_flows.at(np.full(len(source), number), every) for number in range(len(starts))])


def links_used_above(starts: Sequence[HashStart], links: int, algorithm: str) -> int:
    """The links that a switch of the second tier uses for the 4,096 flows of one link of the first tier."""
    below, above = hashed(starts, 4096 * links, algorithm=algorithm)
    return len(np.unique(above[below % np.uint64(links) == 0] % np.uint64(links)))


@pytest.mark.parametrize(
    ("queue_pairs", "port"), [((273, 546), 50763), ((1000, 1001), 50709), ((703710, 74565), 49849)]
)
def test_source_ports_of_linux(queue_pairs: tuple[int, int], port: int) -> None:
    assert source_port(flow_label(*queue_pairs)) == port == source_port(flow_label(*reversed(queue_pairs)))


def test_queue_pairs_in_a_row_have_different_ports() -> None:
    source, target = np.repeat(np.arange(500), 8), np.repeat(np.arange(500, 1000), 8)
    labels = flow_labels(source, target, np.ones(1000, bool), 3).reshape(500, 8)
    ports = [len({source_port(label) for label in row}) for row in labels.tolist()]
    assert min(ports) >= 6 and np.mean(ports) > 7.9
    firmware = flow_labels(source, target, np.zeros(1000, bool), 3)
    assert len(np.unique(firmware)) > 3900 and not np.array_equal(firmware, labels.ravel())


@given(st.binary(min_size=1, max_size=40), st.integers(0, 255))
def test_crcs_equal_those_of_the_standard_library(packet: bytes, seed: int) -> None:
    row = np.frombuffer(packet, np.uint8)[None]

    def value(algorithm: str) -> int:
        return int(linear_part(algorithm, [row])[0]) ^ start_part(algorithm, seed, len(packet))

    assert value("CRC") == zlib.crc32(packet, seed)
    assert value("CRC_32LO") == zlib.crc32(packet, seed) & 0xFFFF
    assert value("CRC_32HI") == zlib.crc32(packet, seed) >> 16
    assert value("CRC_CCITT") == crc_hqx(packet, seed)
    assert value("CRC_XOR") == value("CRC_CCITT") ^ value("XOR")
    assert all(value(algorithm) < 1 << bits for algorithm, bits in BITS.items())


def test_check_values_of_the_catalogues() -> None:
    row = np.frombuffer(b"123456789", np.uint8)[None]
    assert int(linear_part("CRC", [row])[0]) ^ start_part("CRC", 0, 9) == 0xCBF43926
    assert int(linear_part("CRC_CCITT", [row])[0]) ^ start_part("CRC_CCITT", 0xFFFF, 9) == 0x29B1


@pytest.mark.parametrize("algorithm", ["CRC", "CRC_CCITT"])
@pytest.mark.parametrize("links", [8, 16])
def test_seeds_alone_leave_tiers_polarised_and_offsets_cure_it(algorithm: str, links: int) -> None:
    for above in (HashStart(10, 0), _SPINE):
        assert links_used_above([_TOR, above], links, algorithm) == 1
    assert links_used_above([_TOR, HashStart(0, 10)], links, algorithm) == links
    assert links_used_above([_TOR, _LEAF], links, algorithm) == links
    assert links_used_above([_LEAF, _SPINE], links, algorithm) == links


@pytest.mark.parametrize("links", [6, 12])
def test_numbers_of_links_that_are_no_powers_of_two_are_polarised_less(links: int) -> None:
    assert links_used_above([_TOR, HashStart(10, 0)], links, "CRC") == 3


def test_an_ideal_hash_polarises_only_with_equal_starts() -> None:
    for above, used in ((HashStart(10, 0), 8), (HashStart(0, 10), 8), (_TOR, 1)):
        below, hashes = hashed([_TOR, above], 8192, model=HashModel.IDEAL)
        assert len(np.unique(hashes[below % np.uint64(8) == 0] % np.uint64(8))) == used


@pytest.mark.parametrize("model", list(HashModel))
def test_addresses_alone_leave_queue_pairs_together(model: HashModel) -> None:
    (only,) = hashed([_TOR], 50, fields=("DST_IP", "SRC_IP"), queue_pairs=8, model=model)
    (both,) = hashed([_TOR], 50, queue_pairs=8, model=model)
    assert [len(np.unique(row)) for row in only.reshape(50, 8)] == [1] * 50
    assert min(len(np.unique(row)) for row in both.reshape(50, 8)) >= 6


@pytest.mark.parametrize("model", list(HashModel))
@pytest.mark.parametrize(
    ("links", "fullest", "used"), [(8, 2.59, 65.7), (16, 3.08, 64.4), (32, 3.53, 63.8), (64, 3.96, 63.5)]
)
def test_collisions_of_flows_on_as_many_links(model: HashModel, links: int, fullest: float, used: float) -> None:
    assert expected_fullest(links, links) == pytest.approx(fullest, rel=0.01)
    assert 100 * expected_used(links, links) / links == pytest.approx(used, rel=0.01)
    draws = 6000
    counts = _counts(links, 1, draws, model)
    assert counts.max(axis=1).mean() == pytest.approx(fullest, rel=0.01)
    assert 100 * (counts > 0).mean() == pytest.approx(used, rel=0.01)


@pytest.mark.parametrize("model", list(HashModel))
@pytest.mark.parametrize(
    ("links", "queue_pairs", "over_mean"), [(16, 4, 1.97), (16, 8, 1.67), (16, 16, 1.46), (32, 8, 1.80), (32, 16, 1.55)]
)
def test_queue_pairs_spread_a_flow(model: HashModel, links: int, queue_pairs: int, over_mean: float) -> None:
    counts = _counts(links, queue_pairs, 1000, model)
    assert (counts.max(axis=1) / queue_pairs).mean() == pytest.approx(over_mean, rel=0.01)


def _counts(
    links: int, queue_pairs: int, draws: int, model: HashModel
) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """[draw, link]: the flows on each link; draws are groups of adapters, which number their queue pairs apart."""
    (hashes,) = hashed([_TOR], links * draws, queue_pairs=queue_pairs, model=model, seed=11)
    chosen = (hashes % np.uint64(links)).astype(np.int64).reshape(draws, links * queue_pairs)
    flat = chosen + links * np.arange(draws)[:, None]
    return np.bincount(flat.ravel(), minlength=draws * links).reshape(draws, links)


@pytest.mark.parametrize(
    ("kind", "seed", "offset"),
    [
        ("", 0, 0), ("ToRRouter", 0, 0), ("BackEndToRRouter", 0, 0), ("MgmtToRRouter", 0, 0), ("EPMS", 0, 0),
        ("LeafRouter", 10, 10), ("BackEndLeafRouter", 10, 10), ("MgmtLeafRouter", 10, 10),
        ("SpineRouter", 25, 0), ("FabricSpineRouter", 25, 0), ("UpperSpineRouter", 25, 0), ("LowerSpineRouter", 25, 0),
        ("LowerRegionalHub", 60, 0), ("FabricRegionalHub", 70, 0), ("UpperRegionalHub", 80, 0), ("RegionalHub", 0, 0),
    ],
)  # fmt: skip
def test_the_start_of_each_type(kind: str, seed: int, offset: int) -> None:
    assert hash_start({"type": kind}) == HashStart(seed, offset)
    assert hash_start({"type": kind, "namespace_id": "2"}).seed == seed + 2
    assert hash_start({"type": kind}, 202505).seed == (0 if "Hub" in kind else seed)
    assert hash_start({"type": kind, "switch_type": "chassis-packet"}).offset == 0
