"""SONiC's commands on the stand-in: `commands.py FOLDER NAME ARGUMENTS...`.

FOLDER contains etc/ (config_db.json, checkpoints/), redis.sock, init_cfg.json, yang_tables, units/, log, and the files
of a test: mishap (the failure to simulate), down and lose (BGP peers), lldp.json, storm, no_group, lost_profile,
no_frrcfgd.
STAND_IN_SECOND_S is the length of a second.

Each start and end of a command and each write to CONFIG_DB is a moment. A command that is repeated until its output
changes counts once. At the moment with the number in kill_at the process group is killed, with the process that started
the command.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3]))
from fabricgen.deploy.frr import statements
from tests.handoff.switch.config_db import READY, Redis, dump, merge
from tests.handoff.switch.updater import RefusedError, update

SECOND_S = float(os.environ.get("STAND_IN_SECOND_S", "1"))
ROOT = Path(sys.argv[1])
CHECKPOINTS, UNITS = ROOT / "etc" / "checkpoints", ROOT / "units"


_JSON = r"[\[\]{}\s].*|\[\]|\{\}"
_TABLE = r" *-+(  -+)*"
# command -> (regular expression of a line, the statement that prints it). `say` refuses other lines.
# sonic-utilities is sonic-net/sonic-utilities@691b1bbc4.
FORMS: dict[str, list[tuple[str, str]]] = {
    "config": [
        (
            r"(Patch applied|Config replaced|Config rolled back|Checkpoint created|Checkpoint deleted) successfully\.",
            "sonic-utilities config/main.py: secho of apply_patch, replace, rollback, checkpoint, delete_checkpoint",
        ),
        (r'\[\]|\[|\]|    "[^"]+",?', "sonic-utilities config/main.py, list_checkpoints: json.dumps(…, indent=4)"),
    ],
    "docker": [(_JSON, "lldpd src/client: lldpctl -f json0")],
    "pfc": [
        (r"Interface +Lossless priorities", "sonic-utilities pfc/main.py, showPfcPrio: tabulate, simple"),
        (_TABLE, "the same"),
        (r"Ethernet\d+ +[0-7](,[0-7])*", "the same"),
    ],
    "pfcwd": [
        (
            r" *QUEUE +STATUS +STORM DETECTED/RESTORED( +[RT]X (LAST )?OK/DROP){4}",
            "sonic-utilities pfcwd, show_stats",
        ),
        (r"Changed polling interval to \d+ms", "sonic-utilities pfcwd/main.py, collect_config"),
        (r" *PORT +ACTION +DETECTION TIME +RESTORATION TIME +HISTORY", "sonic-utilities pfcwd/main.py, config"),
        (_TABLE, "tabulate, simple"),
        (r" *Ethernet\d+  +(drop|forward|alert)  +\d+  +(\d+|infinite)  +(enable|disable)", "pfcwd/main.py, config"),
    ],
    "show": [
        (r"\{\}", "sonic-utilities show/main.py with --json"),
        (r"  Port (Tx|Rx)(    PFC\d)+", "sonic-utilities scripts/pfcstat, header_Rx and header_Tx"),
    ],
    "sonic-cfggen": [(_JSON, "sonic-buildimage src/sonic-config-engine/sonic-cfggen: json.dumps of --print-data")],
    "sonic-db-cli": [(r".*", "sonic-swss-common sonic-db-cli: what Redis returns")],
    "vtysh": [
        (_JSON, "frr bgpd/bgp_vty.c, bgp_show_summary with json"),
        (r"  neighbor \S+ route-map \S+ (in|out)", "frr bgpd/bgp_vty.c, bgp_config_write_filter"),
        (r"route-map \S+ (permit|deny) \d+", "frr lib/routemap_cli.c, route_map_instance_show"),
        ("", "the same"),
        (r"router bgp \d+( vrf \S+)?|exit", "frr bgpd/bgp_vty.c, bgp_config_write"),
        (r" (address-family l2vpn evpn|exit-address-family)", "frr bgpd/bgp_vty.c, bgp_config_write_family"),
        (r"  advertise-all-vni|  advertise ipv[46] unicast", "frr bgpd/bgp_evpn_vty.c, bgp_config_write_evpn_info"),
    ],
}


def say(text: str) -> None:
    """To standard output, if the command can print it."""
    for line in text.split("\n"):
        if not any(re.fullmatch(form, line) for form, _ in FORMS[sys.argv[2]]):
            raise AssertionError(f"{sys.argv[2]} cannot print {line!r}")
    sys.stdout.write(text + "\n")


def table(header: tuple[str, ...], rows: list[tuple[str, ...]], *, right: bool) -> str:
    """The lines of tabulate in its format `simple`."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = [header, tuple("-" * width for width in widths), *rows]
    padded = [[cell.rjust(n) if right else cell.ljust(n) for cell, n in zip(one, widths, strict=True)] for one in lines]
    return "\n".join("  ".join(cells).rstrip() for cells in padded)


def moment(name: str) -> None:
    """Count a moment; at the moment of the test, kill the process group."""
    if not (ROOT / "kill_at").exists():
        return
    with (ROOT / "moments").open("a+") as file:
        file.seek(0)
        moments = file.read().splitlines()
        if name in moments[-2:]:
            return
        file.write(name + "\n")
    if len(moments) + 1 == int((ROOT / "kill_at").read_text()):
        os.killpg(0, signal.SIGKILL)


def step(name: str) -> None:
    """The updater sleeps after each change."""
    moment(name)
    time.sleep(SECOND_S)


def has_mishap(name: str) -> bool:
    """Whether to simulate this failure, once."""
    file = ROOT / "mishap"
    if file.exists() and file.read_text() == name:
        file.unlink()
        return True
    return False


def loses_writes() -> bool:
    """Whether writes of priority groups get lost, in all patches."""
    file = ROOT / "mishap"
    return file.exists() and file.read_text() == "lost write"


def config_db() -> Redis:
    """CONFIG_DB; like every client of SONiC it waits until the database is complete."""
    redis = Redis(ROOT / "redis.sock")
    while redis("GET", READY) != "1":
        time.sleep(0.02)
    return redis


def load_json(file: str | Path) -> Any:
    """A JSON file."""
    return json.loads(Path(file).read_text())


class Config:
    """`config VERB ...`."""

    def __init__(self, words: list[str]) -> None:
        self.redis = config_db()
        self.options = {word for word in words if word.startswith("-")}
        self.names = [word for word in words[1:] if not word.startswith("-")]
        self.yang = set((ROOT / "yang_tables").read_text().split())
        getattr(self, words[0].replace("-", "_"))()

    def _to(self, target: dict[str, Any], verb: str) -> None:
        old = dump(self.redis)
        if has_mishap(verb):
            ours = {**old, "PORT": target["PORT"]}
            update(self.redis, ours, self.yang, step)
            sys.exit(f"Failed to apply patch due to: cannot set {json.dumps(old)} {json.dumps(target)}")
        try:
            update(self.redis, target, self.yang, step, "BUFFER_PG" if loses_writes() else "")
        except RefusedError as problem:
            sys.stderr.write(f"Failed to apply patch due to: {problem}\n")
            sys.exit(2)

    def apply_patch(self) -> None:
        import jsonpatch

        self._to(jsonpatch.apply_patch(dump(self.redis), load_json(self.names[0])), "apply-patch")
        say("Patch applied successfully.")

    def replace(self) -> None:
        self._to(load_json(self.names[0]), "replace")
        say("Config replaced successfully.")

    def rollback(self) -> None:
        self._to(load_json(CHECKPOINTS / f"{self.names[0]}.cp.json"), "rollback")
        say("Config rolled back successfully.")

    def checkpoint(self) -> None:
        (CHECKPOINTS / f"{self.names[0]}.cp.json").write_text(json.dumps(dump(self.redis)))
        say("Checkpoint created successfully.")

    def delete_checkpoint(self) -> None:
        file = CHECKPOINTS / f"{self.names[0]}.cp.json"
        if not file.exists():
            sys.exit(f"Failed to delete config checkpoint\nError: Checkpoint '{self.names[0]}' does not exist")
        file.unlink()
        say("Checkpoint deleted successfully.")

    def list_checkpoints(self) -> None:
        say(json.dumps(sorted(file.name.removesuffix(".cp.json") for file in CHECKPOINTS.iterdir()), indent=4))

    def save(self) -> None:
        self._confirmed()
        file = Path(self.names[0]) if self.names else ROOT / "etc" / "config_db.json"
        text = json.dumps(dump(self.redis), indent=4)
        file.write_text(text[: len(text) // 2])
        moment("half of a saved file")
        file.write_text(text)

    def reload(self) -> None:
        self._confirmed()
        if "-f" not in self.options and (ROOT / "not_up").exists():
            sys.exit("System is not up. Retry later or use -f to avoid system checks")
        tables = load_json(self.names[0] if self.names else ROOT / "etc" / "config_db.json")
        if self.names and (strangers := tables.keys() - self.yang):
            sys.exit(f"tables without YANG models: {sorted(strangers)}. Aborted!")
        metadata = tables.setdefault("DEVICE_METADATA", {}).setdefault("localhost", {})
        for name in ("mac", "platform"):
            metadata.setdefault(name, (ROOT / name).read_text())
        moment("before the flush")
        self.redis("FLUSHDB")
        moment("flushed")
        merge(self.redis, load_json(ROOT / "init_cfg.json"))
        moment("init_cfg.json")
        for count, table in enumerate(sorted(tables)):
            merge(self.redis, {table: tables[table]})
            if count % 4 == 0:
                moment(table)
            if table == "PORT" and has_mishap("reload"):
                sys.exit("swss did not start")
        merge(self.redis, {"VERSIONS": {"DATABASE": {"VERSION": "version_202505_01"}}})
        moment("migrated")
        self.redis("SET", READY, "1")
        start_frr(tables)

    def qos(self) -> None:
        (ROOT / "qos_reload").write_text("the QoS of the SKU is loaded")

    def _confirmed(self) -> None:
        if "-y" not in self.options:
            sys.exit("Aborted!")


def sonic_cfggen(words: list[str]) -> None:
    if words[0] == "-a" and words[2:] == ["-w"]:
        merge(config_db(), json.loads(words[1]))
        return
    assert words == ["-d", "--print-data"], words
    say(json.dumps(dump(config_db())))


def sonic_db_cli(words: list[str]) -> None:
    """Does not wait for the database."""
    if words[1] == "KEYS" and words[0] == "APPL_DB":  # buffermgrd writes the groups of CONFIG_DB
        missing = (ROOT / "no_group").read_text() if (ROOT / "no_group").exists() else ""
        groups = dump(Redis(ROOT / "redis.sock")).get("BUFFER_PG", {})
        say("\n".join(f"BUFFER_PG_TABLE:{key.replace('|', ':')}" for key in groups if key != missing))
        return
    if words[1] == "EVAL" and words[-1].endswith("BUFFER_POOL:*"):  # the first of several queries
        run_daemons()
    found = Redis(ROOT / "redis.sock", words[0])(*words[1:])
    say("\n".join(found) if isinstance(found, list) else "" if found is None else str(found))


def run_daemons() -> None:
    """Write what the daemons make of CONFIG_DB. The file lost_profile names a port whose queue 3 has no profile."""
    from fabricgen.diff.stand_in import StandIn
    from tests.deploy.daemons import databases

    switch = StandIn(202505, {})
    switch.boot(dump(Redis(ROOT / "redis.sock")))
    if (ROOT / "lost_profile").exists():
        del switch.daemons.profiles["BUFFER_QUEUE", (ROOT / "lost_profile").read_text(), 3]
    for name, rows in databases(switch).items():
        redis = Redis(ROOT / "redis.sock", name)
        redis("FLUSHDB")
        redis.all([("HSET", key, *(part for item in row.items() for part in item)) for key, row in rows.items() if row])


def start_frr(tables: dict[str, Any]) -> None:
    """What docker_init.sh of docker-fpm-frr does; FRR of a VTEP then has the statements of its file."""
    file, metadata = ROOT / "etc" / "frr" / "frr.conf", tables["DEVICE_METADATA"]["localhost"]
    if metadata.get("docker_routing_config_mode") != "split-unified":
        file.write_text("! made of CONFIG_DB\n")
    elif "no fpm use-next-hop-groups" not in file.read_text():
        file.write_text(file.read_text() + "no fpm use-next-hop-groups\nfpm address 127.0.0.1\n")
    (ROOT / "statements").write_text(json.dumps(statements(file.read_text())))


def frr_configuration() -> Iterator[str]:
    """What frrcfgd has made of CONFIG_DB, as bgpd (bgp_config_write_filter, route_map_config_write) prints it, and the
    statements of EVPN that FRR read or vtysh gave it."""
    tables = dump(config_db())
    for table in ("BGP_PEER_GROUP_AF", "BGP_NEIGHBOR_AF"):
        for key, row in tables.get(table, {}).items():
            for name in row.get("route_map_out", []):
                yield f"  neighbor {key.split('|')[1]} route-map {name} out"
    for key, row in tables.get("ROUTE_MAP", {}).items():
        yield "route-map {0} {2} {1}".format(*key.split("|"), row["route_operation"])
    for instance, line in json.loads((ROOT / "statements").read_text()) if (ROOT / "statements").exists() else ():
        yield from (instance, " address-family l2vpn evpn", f"  {line}", " exit-address-family", "exit")


def vtysh(words: list[str]) -> None:
    if words == ["-c", "show running-config"]:
        say("\n".join(frr_configuration() if not (ROOT / "no_frrcfgd").exists() else ()))
        return
    if words[:2] == ["-c", "configure terminal"]:
        _, _, _, instance, _, family, _, line = words
        assert family == "address-family l2vpn evpn"
        had = json.loads((ROOT / "statements").read_text())
        (ROOT / "statements").write_text(json.dumps([*had, [instance, line]]))
        return
    assert words == ["-c", "show bgp summary json"], words
    down = (ROOT / "down").read_text().split() if (ROOT / "down").exists() else []
    if (ROOT / "lose").exists():  # a session that is down after the first reading
        (ROOT / "lose").rename(ROOT / "down")
    peers = {key.rpartition("|")[2] for key in dump(config_db()).get("BGP_NEIGHBOR", {})}
    states = {peer: {"state": "Active" if peer in down else "Established"} for peer in sorted(peers)}
    say(json.dumps({"ipv4Unicast": {"as": 1, "peers": states}, "ipv6Unicast": {}}))


def docker(words: list[str]) -> None:
    assert words == ["exec", "lldp", "lldpctl", "-f", "json0"], words
    say((ROOT / "lldp.json").read_text())


def pfc(words: list[str]) -> None:
    rows = dump(config_db()).get("PORT_QOS_MAP", {})
    ports = [(port, row["pfc_enable"]) for port, row in rows.items() if "pfc_enable" in row]
    say(table(("Interface", "Lossless priorities"), ports, right=False))


def pfcwd(words: list[str]) -> None:
    if words[:2] == ["show", "stats"]:
        if "--check-storm" in words:  # prints nothing
            sys.exit(1 if (ROOT / "storm").exists() else 0)
        stats = ("STORM DETECTED/RESTORED", "TX OK/DROP", "RX OK/DROP", "TX LAST OK/DROP", "RX LAST OK/DROP")
        say(table(("QUEUE", "STATUS", *stats), [], right=True))
        return
    say("Changed polling interval to 200ms")
    header = ("PORT", "ACTION", "DETECTION TIME", "RESTORATION TIME", "HISTORY")
    ports = [port for port in dump(config_db()).get("PFC_WD", {}) if port != "GLOBAL"]
    say(table(header, [(port, "drop", "200", "200", "disable") for port in ports], right=True))


def show(words: list[str]) -> None:
    say("{}" if "-j" in words else "  Port Tx    PFC0    PFC1")


def traffic_shift(isolated: str) -> None:
    merge(config_db(), {"BGP_DEVICE_GLOBAL": {"STATE": {"tsa_enabled": isolated}}})


def systemd_run(words: list[str]) -> None:
    """A timer: runs its command in a new session after a number of seconds, or at SIGUSR1."""
    options = dict(word.removeprefix("--").partition("=")[::2] for word in words if word.startswith("--"))
    command = [word for word in words if not word.startswith("--")]
    file = UNITS / f"{options['unit']}.timer"
    if file.exists():
        sys.exit(f"Failed to start transient timer unit: Unit {file.name} was already loaded")
    seconds, log = float(options["on-active"]) * SECOND_S, UNITS / f"{options['unit']}.log"
    script = f'trap : USR1; sleep {seconds} & wait; kill $!; rm {file}; exec "$@" >{log} 2>&1'
    with Path(os.devnull).open("r+") as null:
        timer = subprocess.Popen(
            ["sh", "-c", script, "timer", *command], start_new_session=True, stdin=null, stdout=null, stderr=null
        )
    file.write_text(str(timer.pid))


def systemctl(words: list[str]) -> None:
    file = UNITS / words[1]
    if words[0] != "stop" or not file.exists():
        sys.exit(5)
    os.killpg(int(file.read_text()), signal.SIGTERM)
    file.unlink(missing_ok=True)


COMMANDS = {
    "config": Config,
    "docker": docker,
    "pfc": pfc,
    "pfcwd": pfcwd,
    "show": show,
    "sonic-cfggen": sonic_cfggen,
    "sonic-db-cli": sonic_db_cli,
    "systemctl": systemctl,
    "systemd-run": systemd_run,
    "TSA": lambda words: traffic_shift("true"),
    "TSB": lambda words: traffic_shift("false"),
    "vtysh": vtysh,
}

if __name__ == "__main__":
    name, *words = sys.argv[2:]
    with (ROOT / "log").open("a") as log:
        log.write(" ".join([name, *(Path(word).name for word in words)]) + "\n")
    moment(f"{name} starts")
    COMMANDS[name](words)
    moment(f"{name} ends")
