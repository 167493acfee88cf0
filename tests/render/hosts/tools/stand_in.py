"""Stand-ins for the tools that set up a NIC: they write their settings to a JSON file, and refuse the same as the real
tools (mlnx-tools@8fbfd9c python/mlnx_qos, ethtool, iproute2 dcb). Called as TOOL ARGUMENTS…
"""

import json
import os
import sys
from pathlib import Path

FILE = Path(os.environ["NIC_STATE"])
STATE = json.loads(FILE.read_text())


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
    print(f"DCBX mode: {'OS' if one['dcbx'] == 'os' else 'Firmware'} controlled")
    print(f"Priority trust state: {one['trust']}")
    if one["trust"] == "dscp":
        print("dscp2prio mapping:")
        by_priority: dict[int, str] = {}
        for dscp in range(63, -1, -1):
            priority = one["dscp"].get(str(dscp), dscp >> 3)
            by_priority[priority] = by_priority.get(priority, "") + f"{dscp:02d},"
        for priority, text in sorted(by_priority.items()):
            for at in range(0, len(text), 24):
                print(f"\tprio:{priority} dscp:{text[at : at + 24]}")
    print("Receive buffer size (bytes): 20016,156096,0,0,0,0,0,0,max_buffer_size=2097152")
    print(f"Cable len: {one['cable']}")
    print("PFC configuration:")
    print("\tpriority    0   1   2   3   4   5   6   7")
    print("\tenabled     " + "".join(f"{bit}   " for bit in one["pfc"]))
    print("\tbuffer      " + "0   " * 8)
    print("tc: 0 ratelimit: unlimited, tsa: vendor\n\t priority:  1")


def ethtool(arguments: list[str]) -> None:
    option, name, *rest = arguments
    one = nic(name)
    if option == "-a":
        print(f"Pause parameters for {name}:\nAutonegotiate:\toff\nRX:\t\t{one['pause']}\nTX:\t\t{one['pause']}\n")
    elif option == "-A":
        assert rest == ["rx", "off", "tx", "off"]
        if one["pause"] == "off":
            sys.exit("rx unmodified, ignoring\ntx unmodified, ignoring\nno pause parameters changed, aborting")
        one["pause"] = "off"
    elif option == "--get-tunable":
        print(f"{rest[0]}: {one['tunables'][rest[0]]}")
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
        print("prio-pfc " + " ".join(f"{n}:{'on' if bit else 'off'}" for n, bit in enumerate(one["pfc"])) + " ")
    elif (part, verb, what) == ("pfc", "set", "prio-pfc"):
        for pair in rest:
            number, state = pair.split(":")
            one["pfc"][int(number)] = {"on": 1, "off": 0}[state]
    elif (part, verb, what) == ("app", "show", "dscp-prio"):
        if one["dscp"]:
            print("dscp-prio " + " ".join(f"{dscp}:{priority}" for dscp, priority in one["dscp"].items()) + " ")
    elif (part, verb, what) == ("app", "replace", "dscp-prio"):
        one["dscp"].update(pair.split(":") for pair in rest)
    else:
        sys.exit(f"dcb does not know {arguments}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
