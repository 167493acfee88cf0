"""FRR's configuration as fabricgen reads it, against the neighbors that the real bgpd has after the same text."""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from fabricgen.sonic.frr_conf import FrrConfig, FrrRoute, read_frr
from tests.components import missing, require_root, tool
from tests.daemons import listens, until

BGPD = Path("/usr/lib/frr/bgpd")
TEXT = """\
hostname leaf1
!
interface Ethernet0
 description to spine1
 ip address 10.0.0.1/31
exit
!
router bgp 65101
 bgp router-id 10.1.0.1
 neighbor SPINES peer-group
 neighbor SPINES remote-as external
 neighbor SPINES update-source Ethernet0
 neighbor DOWN peer-group
 neighbor DOWN remote-as 65009
 neighbor DOWN shutdown
 neighbor 10.0.0.0 remote-as 65000
 neigh 10.0.0.2 peer-g SPINES
    neighbor 10.0.0.4 peer-group DOWN
 neighbor 10.0.0.6 remote-as internal
 neighbor 10.0.0.6 shutdown
 no neighbor 10.0.0.6 shutdown
 neighbor Ethernet8 interface v6only remote-as external
 neighbor Ethernet12 interface peer-group SPINES
 neighbor 10.9.9.9 remote-as 65001
 no neighbor 10.9.9.9 remote-as 65001
 neighbor 10.9.9.8 remote-as 65001
 no neighbor 10.9.9.8
 neighbor fd00::1 remote-as 65000
 neighbor fd00::1 description neighbor 10.8.8.8 remote-as 3
 address-family ipv4 unicast
  neighbor SPINES activate
  redistribute connected
 exit-address-family
 neighbor 10.0.0.8 remote-as 65000
!
# a comment
router bgp 65101 vrf Vrf1
 neighbor 10.7.0.0 remote-as 65000
!
route-map ALL permit 10
!
"""


@pytest.fixture
def of_bgpd() -> Iterator[dict[str, dict[str, dict[str, object]]]]:
    """VRF -> neighbor -> what the real bgpd has of it, without network and routes."""
    if not BGPD.is_file():
        missing("FRR", "apt-get install frr")
    require_root()
    folder = Path(tempfile.mkdtemp(prefix="frr-"))
    folder.chmod(0o777)
    (folder / "bgpd.conf").write_text(TEXT)
    command = [str(BGPD), "-n", "-p", "0", "-S", "-Z", "-f", str(folder / "bgpd.conf"), "-i", str(folder / "pid"),
               "--vty_socket", str(folder), "-A", "127.0.0.1", "-P", "0"]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as bgpd:
        try:
            until(lambda: listens(folder / "bgpd.vty"), lambda: "bgpd does not listen")
            ask = [
                tool("vtysh", "frr"),
                "--vty_socket",
                str(folder),
                "-d",
                "bgpd",
                "-c",
                "show bgp vrf all neighbors json",
            ]
            yield json.loads(subprocess.run(ask, capture_output=True, check=True, text=True).stdout)
        finally:
            bgpd.terminate()
            bgpd.wait()
            shutil.rmtree(folder)


def test_neighbors_are_those_of_the_real_bgpd(of_bgpd: dict[str, dict[str, dict[str, object]]]) -> None:
    found = read_frr(TEXT)
    wanted = {
        (vrf, name): (row["remoteAs"], row.get("peerGroup", ""), bool(row.get("adminShutDown")))
        for vrf, rows in of_bgpd.items()
        for name, row in rows.items()
        if isinstance(row, dict)
    }
    numbers = {"external": 0, "internal": 0}  # bgpd has no number before the session runs
    read = {
        (peer.vrf, peer.name): (
            numbers.get(peer.asn) if peer.asn in numbers else int(peer.asn),
            peer.group,
            peer.is_shut,
        )
        for peer in found.peers
    }
    assert read == wanted and len(wanted) == 9
    assert found.asns == {"default": "65101", "Vrf1": "65101"}


def addresses(config: FrrConfig) -> list[tuple[str, str, str]]:
    return [(interface, vrf, str(address)) for interface, vrf, address in config.addresses]


def test_addresses_and_routes_with_their_vrfs() -> None:
    text = """\
ip route 10.1.0.0/16 10.0.0.0
ip route 10.2.0.0 255.255.0.0 10.0.0.2 Ethernet4 200
ipv6 route fd00:1::/64 fe80::1 Ethernet8
ip route 10.3.0.0/16 Null0
ip route 10.4.0.0/16 Ethernet12
ip route 10.5.0.0/16 10.0.0.4 vrf Vrf2
vrf Vrf1
 ip route 10.6.0.0/16 10.0.0.6 tag 5
exit-vrf
no ip route 10.9.0.0/16 10.0.0.8
interface Ethernet0 vrf Vrf1
 ip address 10.0.0.7/31
 no ip address 10.0.0.9/31
interface Ethernet4
 ipv6 address fd00::1/127
"""
    found = read_frr(text)
    assert addresses(found) == [("Ethernet0", "Vrf1", "10.0.0.7/31"), ("Ethernet4", "default", "fd00::1/127")]
    assert found.routes == [
        FrrRoute("default", "10.1.0.0/16", "10.0.0.0"),
        FrrRoute("default", "10.2.0.0", "10.0.0.2", "Ethernet4"),
        FrrRoute("default", "fd00:1::/64", "fe80::1", "Ethernet8"),
        FrrRoute("default", "10.3.0.0/16"),
        FrrRoute("default", "10.4.0.0/16", "", "Ethernet12"),
        FrrRoute("Vrf2", "10.5.0.0/16", "10.0.0.4"),
        FrrRoute("Vrf1", "10.6.0.0/16", "10.0.0.6"),
    ]


def test_the_grammar_of_the_texts_is_that_of_frr(tmp_path: Path) -> None:
    """vtysh -C refuses a line that is not a command of its node."""
    file = tmp_path / "frr.conf"
    file.write_text(TEXT)
    done = subprocess.run([tool("vtysh", "frr"), "-C", "-f", str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
