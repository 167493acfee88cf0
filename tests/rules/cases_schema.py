"""Bad cases of the schema rules: one of each kind of violation, and one secret."""

from tests.rules.cases import Case, drop, put

CASES = [
    Case("FG401", put({"a": "b"}, "leaf1", "WRED_PROFILES", "x"), "WRED_PROFILES", also=("FG592",)),
    Case("FG402", put("enable", "leaf1", "PORT_QOS_MAP", "Ethernet0", "pfc_watchdog_status")),
    Case("FG403", drop("leaf1", "PORT", "Ethernet508", "speed")),
    Case("FG404", put({"profile": "ingress_lossy_profile"}, "leaf1", "BUFFER_PG", "Ethernet0|9"), lenient=True),
    Case("FG405", put("166115492B", "leaf1", "BUFFER_POOL", "ingress_lossless_pool", "size")),
    Case("FG406", put("300", "leaf1", "SCHEDULER", "scheduler.1", "weight")),
    Case("FG407", put("turbo", "leaf1", "PORT", "Ethernet0", "fec")),
    Case("FG408", put("scheduler.9", "leaf1", "QUEUE", "Ethernet0|3", "scheduler")),
    Case(
        "FG409",
        put("4194304", "leaf1", "WRED_PROFILE", "AZURE_LOSSLESS", "green_min_threshold"),
        "WRED_PROFILE|AZURE_LOSSLESS|green_max_threshold",
        also=("FG592",),
    ),
    Case("FG411", put("[BUFFER_PROFILE|egress_lossless_profile]", "leaf1", "BUFFER_QUEUE", "Ethernet0|3-4", "profile")),
]
