"""A sample of the faults that `make mutants` seeds: each is found at its switch and table, or is harmless."""

import pytest

from benchmarks import faults
from benchmarks.mutants import TABLES, Mutant, judged, mutants
from fabricgen.bundle.read import Bundle, open_bundle
from fabricgen.cli.main import run
from fabricgen.resources import resource

SEED = 35
EACH = 2  # of a table
SPINE, LEAF, PORT = "compute-spine-00", "compute-su00-r0-leaf", "Ethernet0"
OUTER = "compute-su00-r4-leaf"
EXAMPLE = "border"  # it has routed ways out, and the tables of the management framework
# Faults that a change of the rules missed once, and that are found again.
ONCE_MISSED = (
    Mutant("field removed", LEAF, "PORT_QOS_MAP", PORT, "tc_to_queue_map", "AZURE", None),
    Mutant("field removed", LEAF, "PORT_QOS_MAP", PORT, "tc_to_pg_map", "AZURE", None),
    Mutant("field removed", LEAF, "PORT_QOS_MAP", PORT, "pfc_to_queue_map", "AZURE", None),
    Mutant("field removed", SPINE, "PORT_QOS_MAP", PORT, "pfc_enable", "3", None),
    Mutant("field removed", SPINE, "PORT_QOS_MAP", PORT, "pfcwd_sw_enable", "3", None),
    Mutant("row removed", OUTER, "BGP_NEIGHBOR_AF", "default|192.0.2.2|ipv4_unicast", "", "", None),
)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """A bundle without its manifest, which shows each change of a file."""
    folder = tmp_path_factory.mktemp("mutants") / "bundle"
    with pytest.raises(SystemExit):
        run(["-q", "render", str(resource("inventories", EXAMPLE)), "--output", str(folder), "--locked"])
    (folder / "manifest.json").unlink()
    return open_bundle([folder])


@pytest.mark.parametrize("number", range(EACH))
@pytest.mark.parametrize("table", TABLES)
def test_a_sample_of_the_mutants(bundle: Bundle, table: str, number: int) -> None:
    for mutant in [*mutants(bundle, EACH, SEED, (table,))][number : number + 1]:
        assert not judged(EXAMPLE, bundle, mutant).is_gap, mutant


@pytest.mark.parametrize("mutant", ONCE_MISSED, ids=str)
def test_what_was_missed_once_is_found(bundle: Bundle, mutant: Mutant) -> None:
    one = judged(EXAMPLE, bundle, mutant)
    assert (one.is_found, one.is_found_on_all is not False, one.is_gap) == (True, True, False)


@pytest.mark.parametrize("kind", faults.KINDS[SEED % 3 :: 3], ids=lambda kind: kind.name)
def test_a_sample_of_the_named_faults(bundle: Bundle, kind: faults.Kind) -> None:
    found, changed = faults.found_on_all(bundle, kind)
    assert found or not changed, changed
