"""CONFIG_DB in Redis as sonic-swss-common keeps it (common/configdb.h, configdb.cpp): what the stand-in's commands and
the tests themselves read and write."""

import socket
from pathlib import Path
from typing import Any

NUMBERS = {"APPL_DB": 0, "ASIC_DB": 1, "COUNTERS_DB": 2, "CONFIG_DB": 4, "FLEX_COUNTER_DB": 5, "STATE_DB": 6}
READY = "CONFIG_DB_INITIALIZED"

Tables = dict[str, dict[str, dict[str, Any]]]


class Redis:
    """One database of a redis-server behind a socket."""

    def __init__(self, path: Path, database: str = "CONFIG_DB") -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(path))
        self._stream = self._socket.makefile("rb")
        self("SELECT", str(NUMBERS[database]))

    def __call__(self, *words: str) -> Any:
        self._socket.sendall(_request(words))
        return self._reply()

    def close(self) -> None:
        """End the connection."""
        self._stream.close()
        self._socket.close()

    def all(self, requests: list[tuple[str, ...]]) -> list[Any]:
        """The replies to several requests at once."""
        self._socket.sendall(b"".join(map(_request, requests)))
        return [self._reply() for _ in requests]

    def _reply(self) -> Any:
        line = self._stream.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise RuntimeError(rest.decode())
        if kind == b"$":
            return None if rest == b"-1" else self._stream.read(int(rest) + 2)[:-2].decode()
        if kind == b"*":
            return [self._reply() for _ in range(int(rest))]
        return int(rest) if kind == b":" else rest.decode()


def _request(words: tuple[str, ...]) -> bytes:
    parts = (word.encode() for word in words)
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)


def raw(row: dict[str, Any]) -> dict[str, str]:
    """A row as Redis holds it: lists under a name with @, a placeholder for a row without fields."""
    found = {
        f"{name}@" if isinstance(value, list) else name: ",".join(value) if isinstance(value, list) else str(value)
        for name, value in row.items()
    }
    return found or {"NULL": "NULL"}


def typed(fields: dict[str, str]) -> dict[str, Any]:
    """A row as sonic-cfggen prints it."""
    return {
        name.removesuffix("@"): value.split(",") if name.endswith("@") else value
        for name, value in fields.items()
        if name != "NULL"
    }


def dump(redis: Redis) -> Tables:
    """All tables."""
    tables: Tables = {}
    keys = sorted(key for key in redis("KEYS", "*") if "|" in key)
    for place, found in zip(keys, redis.all([("HGETALL", key) for key in keys]), strict=True):
        table, _, key = place.partition("|")
        tables.setdefault(table, {})[key] = typed(dict(zip(found[::2], found[1::2], strict=True)))
    return tables


def merge(redis: Redis, tables: Tables) -> None:
    """`mod_config`: fields that are not named stay."""
    requests = [
        ("HSET", f"{table.upper()}|{key}", *(part for item in raw(row).items() for part in item))
        for table, rows in tables.items()
        for key, row in rows.items()
    ]
    redis.all(requests)


def set_row(redis: Redis, table: str, key: str, row: dict[str, Any] | None) -> None:
    """`set_entry`: exactly these fields; None removes the row."""
    place = f"{table}|{key}"
    if row is None:
        redis("DEL", place)
        return
    fields = raw(row)
    left = set(redis("HKEYS", place)) - fields.keys()
    requests = [("HSET", place, *(part for item in fields.items() for part in item))]
    redis.all([*requests, *([("HDEL", place, *sorted(left))] if left else [])])
