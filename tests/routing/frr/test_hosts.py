"""BGP of hosts with real FRR at both ends: the leaf as SONiC configures it, the hosts by the handoff."""

import ipaddress
import json
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fabricgen.api.validation import validate
from fabricgen.bundle.read import open_bundle
from fabricgen.handoff.host_bgp import host_bgp_files
from tests.daemons import until
from tests.render.hosts.rendered import files_of
from tests.routing.frr.lab import DAEMONS, _batch, _inside, _Vty, require_lab
from tests.routing.frr.sonic_frr import Config, frr_configuration

LEAF = "in-band-su00-leaf-00"
NUMBERED = """\
fabricgen: 1
fabric: small
hosts: {gpu: {model: dgx-b200, count: 2}}
planes:
  in-band:
    design: fat-tree
    hosts: [gpu]
    scalable_unit: {hosts: 2, planned: 1}
    leaf: {platform: arista-7060x6-64pe}
    spine: {platform: arista-7060x6-64pe}
    speed: 400G
    access: {kind: routed, bgp: {asn: 64600, prefixes: 10.100.0.0/16, filtered: false}}
    addressing: {loopbacks: 10.1.0.0/16, links: 10.192.0.0/11, hosts: 10.224.0.0/12}
"""
FILTERED = NUMBERED.replace(", filtered: false", "").replace("    speed", "    bgp: unnumbered\n    speed")
FILTERED = FILTERED.replace("links: 10.192.0.0/11, ", "")
ROGUE = "ip prefix-list TO-LEAF-IP seq 100 permit 0.0.0.0/0 le 32\n"


@contextmanager
def lab(config: Config, hosts: dict[str, tuple[str, str]]) -> Iterator[dict[str, _Vty]]:
    """The bgpd of the leaf and of its hosts; `hosts` is name -> (port of the leaf, frr.conf)."""
    folder = Path(tempfile.mkdtemp(prefix="frr-"))
    folder.chmod(0o755)
    space = {name: f"fgh{os.getpid()}-{number}" for number, name in enumerate([LEAF, *hosts])}
    opened: dict[str, _Vty] = {}
    try:
        _batch([f"netns add {one}" for one in space.values()])
        lines = ["link set lo up"]
        for key in (key for table in ("INTERFACE", "LOOPBACK_INTERFACE") for key in config[table] if "|" in key):
            port, _, address = key.partition("|")
            host = next((name for name, (own, _) in hosts.items() if own == port), None)
            if port == "Loopback0":
                lines.append(f"address add {address} dev lo")
            elif host:
                _batch([f"link add {port} netns {space[LEAF]} type veth peer name nic netns {space[host]}"])
                lines += [f"address add {address} dev {port}", f"link set {port} up"]
                near = ipaddress.ip_interface(address)
                far = next(one for one in near.network if one != near.ip)
                # What netplan gives the host, and the route to its own pods.
                number = list(hosts).index(host) + 1
                own = [f"address add {far}/{near.network.prefixlen} dev nic", "link set nic up", "link set lo up"]
                routes = [f"route add 10.100.0.0/16 via {near.ip}", f"route add 10.100.{number}.0/24 dev lo"]
                _batch([*own, *routes, "route add default dev lo", "route add 10.0.0.0/8 dev lo"], space[host])
        _batch(lines, space[LEAF])
        bgpd, staticd = frr_configuration(config)
        texts = {LEAF: (bgpd, staticd), **{name: (text, "") for name, (_, text) in hosts.items()}}
        for daemon in ("zebra", "bgpd"):
            for name, one in space.items():
                own_folder = folder / one
                own_folder.mkdir(exist_ok=True)
                shutil.chown(own_folder, "frr", "frr")
                (own_folder / f"{daemon}.conf").write_text(texts[name][0] if daemon == "bgpd" else f"hostname {one}\n")
                command = [str(DAEMONS / daemon), "-d", "-A", "127.0.0.1", "-P", "0", "--vty_socket", str(own_folder)]
                command += ["-z", str(own_folder / "zserv.api"), "-i", str(own_folder / f"{daemon}.pid")]
                _inside(one, *command, "-f", str(own_folder / f"{daemon}.conf"))
        opened |= {name: _Vty(folder / one / "bgpd.vty") for name, one in space.items()}
        yield opened
    finally:
        for vty in opened.values():
            vty.close()
        for file in folder.glob("*/*.pid"):
            os.kill(int(file.read_text()), signal.SIGKILL)
        _batch([f"netns del {one}" for one in space.values()])
        shutil.rmtree(folder)


@pytest.mark.parametrize("text", [FILTERED, NUMBERED], ids=["framework", "bgpcfgd"])
def test_the_leaf_accepts_parts_of_the_prefixes_only(text: str, tmp_path: Path) -> None:
    require_lab()
    for path, content in files_of(text).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    config: Config = json.loads((tmp_path / "sonic" / LEAF / "config_db.json").read_text())
    files = {path.partition("/")[0]: content.decode() for path, content in host_bgp_files(open_bundle([tmp_path]))}
    ports = {row["name"]: port for port, row in reversed(config["DEVICE_NEIGHBOR"].items()) if row["name"] in files}
    # gpu-001 announces all of its routes.
    hosts = {"gpu-000": (ports["gpu-000"], files["gpu-000"]), "gpu-001": (ports["gpu-001"], ROGUE + files["gpu-001"])}
    with lab(config, hosts) as bgpd:

        def routes(name: str) -> set[str]:
            return set(bgpd[name].ask("show bgp ipv4 unicast json").get("routes", {}))

        pods = {"10.100.1.0/24", "10.100.2.0/24"}
        foreign = {"0.0.0.0/0", "10.0.0.0/8"}
        until(lambda: foreign <= routes("gpu-001"), lambda: str(routes("gpu-001")))
        expected = pods if text is FILTERED else pods | foreign
        until(lambda: expected <= routes(LEAF), lambda: str(routes(LEAF)))
        assert not foreign & routes(LEAF) or text is NUMBERED
        states = bgpd["gpu-000"].ask("show bgp neighbors json")
        assert any(row["bgpState"] == "Established" for row in states.values())
        assert routes("gpu-000") == {"10.100.1.0/24"}, "the leaf announces nothing to hosts"


@pytest.mark.parametrize("text", [FILTERED, NUMBERED], ids=["framework", "bgpcfgd"])
def test_a_range_wider_than_the_subnets_lets_other_machines_in(text: str, tmp_path: Path) -> None:
    """FG698 is about what FRR does: a machine at another subnet of the leaf has no session with the range that is
    rendered, and has one with a wider range."""
    require_lab()
    for path, content in files_of(text).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    file = tmp_path / "sonic" / LEAF / "config_db.json"
    config: Config = json.loads(file.read_text())
    config["INTERFACE"] |= {"Ethernet16": {}, "Ethernet16|10.230.0.0/31": {}}
    files = {path.partition("/")[0]: content.decode() for path, content in host_bgp_files(open_bundle([tmp_path]))}
    (port,) = (
        port for port, row in config["DEVICE_NEIGHBOR"].items() if (row["name"], port) == ("gpu-000", "Ethernet0")
    )
    stranger = (
        files["gpu-000"].replace("10.224.0.0 ", "10.230.0.0 ").replace("router-id 10.224.0.1", "router-id 9.9.9.9")
    )
    lines = {}
    for network in ("10.224.0.0/29", "10.224.0.0/12"):
        if text is FILTERED:
            config["BGP_GLOBALS_LISTEN_PREFIX"] = {f"default|{network}": {"peer_group": "HOSTS"}}
        else:
            config["BGP_PEER_RANGE"]["HOSTS"]["ip_range"] = [network]
        lines[network] = f"bgp listen range {network} peer-group HOSTS"
        assert lines[network] in frr_configuration(config)[0]
        file.write_text(json.dumps(config))
        found = [one.code for one in validate([tmp_path], select=["FG698"]).findings]
        assert found == ([] if network.endswith("29") else ["FG698"])
    narrow, wide = lines.values()
    before = json.loads(json.dumps(config).replace("10.224.0.0/12", "10.224.0.0/29"))
    with lab(before, {"gpu-000": (port, files["gpu-000"]), "stranger": ("Ethernet16", stranger)}) as bgpd:

        def state(name: str, leaf: str) -> str:
            return str(bgpd[name].ask("show bgp neighbors json")[leaf]["bgpState"])

        until(lambda: state("gpu-000", "10.224.0.0") == "Established", lambda: state("gpu-000", "10.224.0.0"))
        # A refused connection is closed at once, so the machine has tried when it waits for the next time.
        until(lambda: state("stranger", "10.230.0.0") == "Active", lambda: state("stranger", "10.230.0.0"))
        assert "10.230.0.1" not in bgpd[LEAF].ask("show bgp neighbors json")
        for line in ("configure terminal", "router bgp 4200000001", f"no {narrow}", wide, "end"):
            bgpd[LEAF].ask(line)
        until(lambda: state("stranger", "10.230.0.0") == "Established", lambda: state("stranger", "10.230.0.0"))
        assert bgpd[LEAF].ask("show bgp neighbors json")["10.230.0.1"]["bgpState"] == "Established"
