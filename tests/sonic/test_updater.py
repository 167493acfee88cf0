"""Facts of the updater that repeat others."""

from fabricgen.diff.changes import changes
from fabricgen.sonic.schema import table_names
from fabricgen.sonic.updater.unparsed import refuses_files, unparsed, why_unparsed
from fabricgen.sonic.updater.verdicts import Cost
from fabricgen.sonic.yang_tables import YANG_TABLES


def test_the_updater_knows_the_tables_of_the_schema() -> None:
    assert table_names() == YANG_TABLES


def test_what_the_yang_library_of_a_release_cannot_read() -> None:
    """As measured with the updater: "All Keys are not parsed" until 202505; it takes the rows since 202511."""
    config = {"BGP_NEIGHBOR_AF": {"default|192.0.2.4|ipv4_unicast": {"admin_status": "up", "route_map_in": ["IN"]}}}
    new = config | {"PORT": {"Ethernet0": {"mtu": "9000"}}}
    old = config | {"PORT": {"Ethernet0": {"mtu": "9100"}}}
    place = ("BGP_NEIGHBOR_AF", "default|192.0.2.4|ipv4_unicast", "route_map_in")
    for release, is_refused in ((202405, True), (202505, True), (202511, False), (202605, False)):
        assert list(unparsed(config, release)) == [place] * is_refused
        (change,) = changes(old, new, release)
        assert (change.verdict.cost is Cost.RELOAD) is is_refused
    assert [refuses_files(config, release) for release in (202411, 202505, 202511)] == [False, True, False]


def test_no_release_before_202511_reads_a_prefix_with_and_without_a_sequence_number() -> None:
    """The model wants the number, at which frrcfgd of the same release ends; from 202511 on both read both forms."""
    short, long = "IN|10.0.0.0/8|exact", "IN|10|10.0.0.0/8|exact"
    config = {"PREFIX": {short: {"action": "permit"}, long: {"action": "permit"}}}
    for release, expected in ((202411, [short]), (202505, [short]), (202511, [])):
        assert [key for _, key, _ in unparsed(config, release)] == expected
    assert refuses_files(config, 202505)
    assert why_unparsed(config, 202505) == (
        f"the YANG library of release 202505 cannot read PREFIX|{short}: each patch is refused"
    )
