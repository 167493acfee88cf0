"""Fabrics for which valleys are excluded are tested with failures; IPv4 and IPv6 share a channel."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from fabricgen.simulate.deadlock.certificate import certificate
from fabricgen.simulate.deadlock.core.valleys import levels_without_valleys
from fabricgen.simulate.deadlock.transients import transient_loops
from tests.bgp_fabric import ConfigDbs, Fabric
from tests.examples import examples
from tests.simulate.deadlock.test_certificate import checked
from tests.simulate.deadlock.test_fabrics import clos, pods, verdict


@st.composite
def fabrics(draw: st.DrawFn) -> Fabric:
    """Two or three tiers, whole or with links missing, ASNs by RFC 7938 or with some of them changed."""
    whole = draw(st.sampled_from([clos(4, 2), clos(3, 3), clos(5, 1), pods(2, 2, 2, 2), pods(3, 1, 2, 1)]))
    missing = draw(st.sets(st.sampled_from(whole.links), max_size=3)) if draw(st.booleans()) else set()
    changed = draw(st.dictionaries(st.sampled_from(sorted(whole.asn)), st.integers(65000, 65003), max_size=2))
    lenient = draw(st.lists(st.sampled_from(sorted(whole.asn)), max_size=2)) if draw(st.booleans()) else []
    asn = {**whole.asn, **changed} if draw(st.booleans()) else whole.asn
    links = [link for link in whole.links if link not in missing and asn[link[0]] != asn[link[1]]]
    return Fabric(asn, links, whole.prefixes, dict.fromkeys(lenient, "ToRRouter"))


@settings(max_examples=examples(25))
@given(fabrics(), st.data())
def test_no_failure_breaks_the_claim(fabric: Fabric, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        result = verdict(fabric.configs(), folder / "whole")
        if levels_without_valleys(result.evidence.fabric, result.evidence.traffic) is None:
            return
        assert result.verdict == "free"
        assert "holds whatever fails" in checked(certificate([result]), folder / "whole")
        gone = data.draw(st.sets(st.sampled_from(fabric.links))) if fabric.links else set()
        left = [link for link in fabric.links if link not in gone]
        after = verdict(Fabric(fabric.asn, left, fabric.prefixes, fabric.kinds).configs(), folder / "after")
        # links that carry nothing after the failures leave the verdict open
        assert after.verdict == ("free" if after.covers.is_complete else "unknown")
        assert not after.cycles
        assert transient_loops(after.evidence) == []


@settings(max_examples=examples(25))
@given(fabrics())
def test_checker_accepts_no_claim_that_is_not_made(fabric: Fabric) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        result = verdict(fabric.configs(), folder)
        found = certificate([result])
        [plane] = found["planes"]
        if plane["holds"] == "as configured" and plane["order"] is not None:
            plane["holds"] = "whatever fails"
            assert checked(found, folder).startswith("refused")


def with_ipv6(configs: ConfigDbs) -> ConfigDbs:
    """The same sessions over IPv6 as well, on the same ports."""
    for config in configs.values():
        for key in [key for key in config["INTERFACE"] if "|" in key]:
            port, _, address = key.partition("|")
            number = address.partition("/")[0].rpartition(".")[2]
            config["INTERFACE"][f"{port}|fd00::{number}/127"] = {}
        for peer, row in list(config["BGP_NEIGHBOR"].items()):
            near, far = (f"fd00::{text.rpartition('.')[2]}" for text in (row["local_addr"], peer))
            config["BGP_NEIGHBOR"][far] = {**row, "local_addr": near}
    return configs


def test_sessions_of_both_families_share_a_channel(tmp_path: Path) -> None:
    plain = verdict(clos(4, 2).configs(), tmp_path / "4")
    both = verdict(with_ipv6(clos(4, 2).configs()), tmp_path / "46")
    assert len(both.evidence.fabric.spoken.sessions) == 2 * len(plain.evidence.fabric.spoken.sessions)
    assert (both.channels, both.dependencies) == (plain.channels, plain.dependencies)


def test_families_close_a_cycle_together(tmp_path: Path) -> None:
    """Half of the bounces belong to IPv4 prefixes and half to IPv6 ones: only together they close a cycle."""
    fabric = clos(4, 2, lambda spine: 65000 + spine)
    gone = {("l0", "s0"), ("l1", "s1")}
    links = [link for link in fabric.links if link not in gone]
    configs = with_ipv6(Fabric(fabric.asn, links, fabric.prefixes).configs())
    # l0's prefix is IPv4 and l1's is IPv6: each makes the leaves bounce in one direction.
    configs["l1"]["VLAN_INTERFACE"] = {"Vlan10": {}, "Vlan10|fd01::/64": {}}
    assert verdict(configs, tmp_path).verdict == "cyclic"
