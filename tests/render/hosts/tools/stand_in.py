"""Stand-ins for the tools that set up a NIC: they write their settings to a JSON file, and refuse and print the same as
the real ones. FORMS has the lines that each can print, with the source of the form. One process serves all calls,
because to start Python takes longer than all that a tool does: each call has a fork of it (`CALL` is the caller).
"""

import contextlib
import io
import itertools
import json
import os
import re
import signal
import socket
import sys
import traceback
from pathlib import Path

_ON_OFF = "(on|off)"
# tool -> (regular expression of a whole line, the statement that prints it). `say` refuses other lines.
FORMS: dict[str, list[tuple[str, str]]] = {
    "mlnx_qos": [
        (r"DCBX mode: (OS|Firmware) controlled", "Mellanox/mlnx-tools@8fbfd9c python/mlnx_qos, pretty_print"),
        (r"Priority trust state: (dscp|pcp)", "the same, pretty_print"),
        (r"dscp2prio mapping:", "the same, pretty_print"),
        (r"\tprio:[0-7] dscp:(\d\d,)+", "the same, print_dscp2prio_sysfs"),
        (r"Receive buffer size \(bytes\): (\d+,){8}max_buffer_size=\d+", "the same, pretty_print"),
        (r"Cable len: \d+", "the same, pretty_print"),
        (r"PFC configuration:", "the same, pretty_print"),
        (r"\tpriority    0   1   2   3   4   5   6   7", "the same, pretty_print"),
        (r"\t(enabled  |buffer   )   (\d   ){8}", "the same, pretty_print"),
        (r"tc: [0-7] ratelimit: unlimited, tsa: (vendor|strict|ets)", "the same, pretty_print"),
        (r"\t priority:  [0-7]", "the same, pretty_print"),
    ],
    "ethtool": [
        (r"Pause parameters for \w+:", "ethtool 6 netlink/pause.c, pause_reply_cb"),
        (rf"Autonegotiate:\t{_ON_OFF}", "the same"),
        (rf"RX:\t\t{_ON_OFF}", "the same"),
        (rf"TX:\t\t{_ON_OFF}", "the same"),
        ("", "the same, print_nl"),
        (r"pfc-prevention-tout: \d+", "ethtool 6 ethtool.c, print_tunable"),
    ],
    "dcb": [
        (
            rf"prio-pfc ([0-7]:{_ON_OFF} ){{8}}",
            "iproute2 dcb/dcb_pfc.c, dcb_pfc_print_prio_pfc; dcb.c, dcb_print_named_array",
        ),
        (r"dscp-prio (\d+:[0-7] )+", "iproute2 dcb/dcb_app.c, dcb_app_print_filtered, with -N"),
    ],
    # ROCm/node-scraper, unit test of its collector of NICs: NICCTL_SHOW_QOS_OUTPUT, a reading of `nicctl show qos`.
    "nicctl": [
        (r"NIC  : [0-9a-f-]+  \([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d\)", "nicctl show qos, as the head says"),
        (r"Port : [0-9a-f-]+", "the same"),
        (r"  Classification type         : (DSCP|PCP)", "the same"),
        (r"  DSCP-to-priority :", "the same"),
        (r"    DSCP                      : \d+(-\d+)?(, \d+(-\d+)?)* ==> priority : [0-7]", "the same"),
        (r"  PFC :", "the same"),
        (r"    PFC priority bitmap       : 0x[0-9a-f]+", "the same"),
        (r"    PFC no-drop priorities    : ?([0-7](,[0-7])*)?", "the same"),
        ("", "the same"),
        (r"    DSCP bitmap               : 0x[0-9a-f]{16} ==> priority : [0-7]", "AMD's MoRI guide: `nicctl show qos`"),
        (r"ROCE device                                : \w+", "AMD's MoRI guide, DCQCN: `nicctl show dcqcn`"),
        (r"  DCQCN profile id                         : \d+", "the same"),
        (r"  Status                                   : (Enabled|Disabled)", "the same"),
        (r"  DSCP value used for CNP                  : \d+", "the same; ROCm's cluster validation reads this label"),
    ],
    "mlxconfig": [
        (
            r"[ *](  |RO) {5}[A-Z0-9_]+ +(\d+|\w+\(\d+\)) *",
            "Mellanox/mstflint@b9d9e844 mlxconfig/mlxcfg_ui.cpp, printSingleParam and printValue",
        ),
    ],
    "lspci": [
        (r"[0-9a-f]{2}:[0-9a-f]{2}\.[0-7] [^:]+: .+", "pciutils lspci.c, show_terse"),
        (r"\t\t\tMaxPayload \d+ bytes, MaxReadReq \d+ bytes", "pciutils ls-caps.c, cap_express_dev"),
        (
            r"\t\tACSCtl:\tSrcValid[+-] TransBlk[+-] ReqRedir[+-] CmpltRedir[+-] UpstreamFwd[+-] EgressCtrl[+-] "
            r"DirectTrans[+-]",
            "pciutils ls-ecaps.c, cap_acs",
        ),
    ],
    "mlx5_tc": [
        # A new port has no line; DOCA-OFED prints the class with its name, never the digits alone.
        (r"(Global tclass=\d+)?", "MLNX_OFED mlx5_ib, traffic_class_show of tc/<port>/traffic_class"),
    ],
    "bnxt_re": [
        # No driver prints decimal digits alone, except 0.
        (r"0|0x[1-9a-f][0-9a-f]*", "bnxt_re configfs.c of Broadcom, roce_prio_show and its like: sprintf %#x"),
    ],
}


def say(tool: str, text: str) -> str:
    """The lines of a text, if the tool can print them."""
    for line in text.splitlines():
        if not any(re.fullmatch(form, line) for form, _ in FORMS[tool]):
            raise AssertionError(f"{tool} cannot print {line!r}")
    return text


def main(tool: str, arguments: list[str]) -> None:
    with FILE.with_name("calls").open("a") as log:
        log.write(" ".join([tool, *arguments]) + "\n")
    globals()[tool](arguments)
    FILE.write_text(json.dumps(STATE))


def nic(name: str) -> dict:
    if name not in STATE:
        sys.exit(f"{name}: no such device")
    return STATE[name]


def mlnx_qos(arguments: list[str]) -> None:
    known = {"-i", "--dcbx", "--trust", "--dscp2prio", "--pfc", "--cable_len"}
    options = dict(zip(arguments[::2], arguments[1::2], strict=True))
    if not set(options) <= known or {"--trust", "--dscp2prio"} <= set(options):
        sys.exit("Bad arguments")
    one = nic(options["-i"])
    if "--dcbx" in options:
        one["dcbx"] = options["--dcbx"]
    if "--trust" in options:
        one["trust"] = {"dscp": "dscp", "pcp": "pcp"}[options["--trust"]]
    if "--dscp2prio" in options:
        action, dscp, priority = options["--dscp2prio"].split(",")
        assert action == "set" and int(dscp) < 64 and int(priority) < 8
        one["dscp"][dscp] = int(priority)
    if "--pfc" in options:
        bits = [int(bit) for bit in options["--pfc"].split(",")]
        assert len(bits) == 8
        one["pfc"] = bits
    if "--cable_len" in options:
        one["cable"] = int(options["--cable_len"])
    lines = [
        f"DCBX mode: {'OS' if one['dcbx'] == 'os' else 'Firmware'} controlled",
        f"Priority trust state: {one['trust']}",
    ]
    if one["trust"] == "dscp":
        lines.append("dscp2prio mapping:")
        by_priority: dict[int, str] = {}
        for dscp in range(63, -1, -1):
            priority = one["dscp"].get(str(dscp), dscp >> 3)
            by_priority[priority] = by_priority.get(priority, "") + f"{dscp:02d},"
        for priority, text in sorted(by_priority.items()):
            lines += [f"\tprio:{priority} dscp:{text[at : at + 24]}" for at in range(0, len(text), 24)]
    lines += [
        "Receive buffer size (bytes): 20016,156096,0,0,0,0,0,0,max_buffer_size=2097152",
        f"Cable len: {one['cable']}",
        "PFC configuration:",
        "\tpriority    0   1   2   3   4   5   6   7",
        "\tenabled     " + "".join(f"{bit}   " for bit in one["pfc"]),
        "\tbuffer      " + "0   " * 8,
        "tc: 0 ratelimit: unlimited, tsa: vendor",
        "\t priority:  1",
    ]
    print(say("mlnx_qos", "\n".join(lines)))


def ethtool(arguments: list[str]) -> None:
    option, name, *rest = arguments
    one = nic(name)
    if option == "-a":
        pause = one["pause"]
        shown = f"Pause parameters for {name}:\nAutonegotiate:\toff\nRX:\t\t{pause}\nTX:\t\t{pause}\n"
        print(say("ethtool", shown))
    elif option == "-A":
        assert rest == ["rx", "off", "tx", "off"]
        if one["pause"] == "off":
            sys.exit("rx unmodified, ignoring\ntx unmodified, ignoring\nno pause parameters changed, aborting")
        one["pause"] = "off"
    elif option == "--get-tunable":
        print(say("ethtool", f"{rest[0]}: {one['tunables'][rest[0]]}"))
    elif option == "--set-tunable":
        if rest[0] not in one["tunables"] or not 80 <= int(rest[1]) <= 8000:
            sys.exit("Cannot set tunable: Invalid argument")
        one["tunables"][rest[0]] = int(rest[1])
    else:
        sys.exit(f"bad option {option}")


def dcb(arguments: list[str]) -> None:
    words = [word for word in arguments if not word.startswith("-")]
    part, verb, _, name, what, *rest = words
    one = nic(name)
    if (part, verb, what) == ("pfc", "show", "prio-pfc"):
        states = " ".join(f"{n}:{'on' if bit else 'off'}" for n, bit in enumerate(one["pfc"]))
        print(say("dcb", f"prio-pfc {states} "))
    elif (part, verb, what) == ("pfc", "set", "prio-pfc"):
        for pair in rest:
            number, state = pair.split(":")
            one["pfc"][int(number)] = {"on": 1, "off": 0}[state]
    elif (part, verb, what) == ("app", "show", "dscp-prio"):
        if one["dscp"]:
            pairs = " ".join(f"{dscp}:{priority}" for dscp, priority in one["dscp"].items())
            print(say("dcb", f"dscp-prio {pairs} "))
    elif (part, verb, what) == ("app", "replace", "dscp-prio"):
        one["dscp"].update(pair.split(":") for pair in rest)
    else:
        sys.exit(f"dcb does not know {arguments}")


def nicctl(arguments: list[str]) -> None:
    """One state of all NICs, `nicctl` of the state: class, map, no_drop, cnp and schedule. `slots` are of NICs."""
    one = STATE.setdefault("nicctl", {"class": "PCP", "map": {}, "no_drop": [], "cnp": 46, "schedule": None})
    options = dict(itertools.pairwise(arguments))
    if arguments[:2] == ["show", "qos"]:
        print(say("nicctl", _qos(one)))
    elif arguments[:2] == ["show", "dcqcn"]:
        assert options["-i"] == "1"
        lines = [f"NIC  : 1111111-4c32  ({STATE['slots'][0]})", ""]
        lines += [f"ROCE device                                : {options['-r']}"]
        lines += [
            "  DCQCN profile id                         : 1",
            "  Status                                   : Enabled",
        ]
        print(say("nicctl", "\n".join([*lines, f"  DSCP value used for CNP                  : {one['cnp']}"])))
    elif arguments[:3] == ["update", "qos", "--classification-type"]:
        one["class"] = {"pcp": "PCP", "dscp": "DSCP"}[arguments[3]]
        one["map"] = {} if arguments[3] == "pcp" else one["map"]
    elif arguments[:3] == ["update", "qos", "dscp-to-priority"]:
        one["map"][options["--dscp"]] = int(options["--priority"])
    elif arguments[:3] == ["update", "qos", "pfc"]:
        number = int(options["--priority"])
        others = [each for each in one["no_drop"] if each != number]
        one["no_drop"] = others + ([number] if options["--no-drop"] == "enable" else [])
    elif arguments[:3] == ["update", "qos", "scheduling"]:
        one["schedule"] = _schedule(one, options)
    elif arguments[:2] == ["update", "dcqcn"]:
        one["cnp"] = int(options["--cnp-dscp"])
    elif arguments[:2] != ["update", "port"]:
        sys.exit(f"nicctl does not know {arguments}")


def _qos(one: dict) -> str:
    lines = []
    for slot in STATE["slots"]:
        by: dict[int, list[int]] = {}
        for dscp in range(64):
            by.setdefault(one["map"].get(str(dscp), 0), []).append(dscp)
        lines += [f"NIC  : 1111111-4c32  ({slot})", "", "Port : 0490814a-6c40", ""]
        lines += [f"  Classification type         : {one['class']}", "", "  DSCP-to-priority :"]
        if one["class"] == "DSCP":
            for priority, values in by.items():
                bitmap = sum(1 << dscp for dscp in values)
                lines.append(f"    DSCP bitmap               : 0x{bitmap:016x} ==> priority : {priority}")
            for priority, values in by.items():
                lines.append(f"    DSCP                      : {_ranges(values)} ==> priority : {priority}")
        bits = sum(1 << number for number in one["no_drop"])
        lines += ["", "  PFC :", f"    PFC priority bitmap       : {bits:#x}"]
        lines.append(f"    PFC no-drop priorities    : {','.join(map(str, sorted(one['no_drop'])))}")
    return "\n".join(lines)


def _schedule(one: dict, options: dict[str, str]) -> list[int]:
    """The lanes. A priority without a DSCP, and a strict lane without a limit, are refused."""
    lanes, weights, limits = (
        list(map(int, options[name].split(","))) for name in ("--priority", "--dwrr", "--rate-limit")
    )
    strict = [limit for weight, limit in zip(weights, limits, strict=True) if weight == 0]
    if not set(lanes) <= {0, *one["map"].values()} or 0 in strict or sum(weights) != 100:
        sys.exit("Invalid input")
    return lanes


def _ranges(values: list[int]) -> str:
    """0-23, 25: as nicctl lists DSCP."""
    starts = [value for value in values if value - 1 not in values]
    ends = [value for value in values if value + 1 not in values]
    pairs = zip(starts, ends, strict=True)
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in pairs)


def mlxconfig(arguments: list[str]) -> None:
    """`mlxconfig -d SLOT query NAME`; the values are in the state."""
    assert arguments[0] == "-d" and arguments[2] == "query"
    print(say("mlxconfig", f"        {arguments[3]:<48}{STATE['mlxconfig'][arguments[3]]}"))


def lspci(arguments: list[str]) -> None:
    """A bridge, and a NIC, with `-vvv`. `acs` of the state is + where the bridge has access control."""
    acs = STATE.get("acs", "-")
    control = f"SrcValid{acs} TransBlk- ReqRedir{acs} CmpltRedir{acs} UpstreamFwd{acs} EgressCtrl- DirectTrans-"
    bridge = ["18:00.0 PCI bridge: Broadcom / LSI PEX890xx PCIe Gen 5 Switch", f"\t\tACSCtl:\t{control}"]
    size = STATE.get("read_bytes", 4096)
    nic = [
        "19:00.0 Ethernet controller: Mellanox Technologies MT2910",
        f"\t\t\tMaxPayload 512 bytes, MaxReadReq {size} bytes",
    ]
    print(say("lspci", "\n".join(nic if "-s" in arguments else bridge + nic)))


def mlx5_store(arguments: list[str]) -> None:
    """A write to tc/1/traffic_class of DOCA-OFED: what is read has another form than what is written."""
    Path(arguments[0]).write_text(say("mlx5_tc", f"Global tclass={int(arguments[1])}") + "\n")


def bnxt_store(arguments: list[str]) -> None:
    """A write to a file of bnxt_re's configfs: `bnxt` of the state is its version, old or new, and whether the firmware
    has service profiles. roce_prio_store and its like, of two versions of the driver: is_qport_service_type_supported
    refuses a priority, and a DSCP that the firmware does not carry; old: sscanf %x, new: kstrtouint with base 0."""
    file, text = Path(arguments[0]), arguments[1]
    driver = STATE.get("bnxt", {"version": "new"})
    refused = driver.get("profiles") and (file.name.endswith("_prio") or file.name in driver.get("uncarried", ()))
    digits = text.strip()
    is_hex = digits.lower().startswith("0x")
    if refused or (driver["version"] == "new" and not is_hex and not digits.isdecimal()):
        file.write_text(say("bnxt_re", f"{driver.get('kept', {}).get(file.name, 0):#x}".replace("0x0", "0")) + "\n")
        sys.exit("sh: printf: I/O error: Invalid argument")
    value = int(digits, 16 if driver["version"] == "old" else 0)
    shown = "0" if value == 0 else f"{value:#x}"  # %#x of 0 has no 0x
    file.write_text(say("bnxt_re", shown) + "\n")


# A caller, in bash: it sends the file of the settings, the tool and its arguments; it gets a code, errors and output.
CALL = r"""exec {call}<>"/dev/tcp/127.0.0.1/$STAND_INS"
printf '%s\0' "$#" "$NIC_STATE" "${0##*/}" "$@" >&"$call"
for part in code errors output; do IFS= read -r -d '' "$part" <&"$call"; done
printf '%s' "$errors" >&2
printf '%s' "$output"
exit "$code" """


def serve() -> None:
    """Print the port, then answer each call in another process."""
    listener = socket.create_server(("127.0.0.1", 0))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    print(listener.getsockname()[1], flush=True)
    while True:
        call, _ = listener.accept()
        if not os.fork():
            answer(call)
        call.close()


def answer(call: socket.socket) -> None:
    """Run a tool for a caller."""
    global FILE, STATE
    text = b""
    while text.count(b"\0") < 3 + int(text.partition(b"\0")[0] or 0):
        text += call.recv(1 << 16)
    _, file, tool, *arguments = text.decode().split("\0")[:-1]
    FILE = Path(file)
    STATE = json.loads(FILE.read_text())
    code, errors, output = 1, "", io.StringIO()
    try:
        with contextlib.redirect_stdout(output):
            main(tool, arguments)
        code = 0
    except SystemExit as end:
        errors = f"{end.code}\n"
    except Exception:  # noqa: BLE001 (the caller shows it)
        errors = traceback.format_exc()
    call.sendall("".join(f"{part}\0" for part in (code, errors, output.getvalue())).encode())
    os._exit(0)


if __name__ == "__main__":
    serve()
