"""How the values of an inventory are written that several keys have: names, speeds, lengths, byte counts, GUIDs."""

import re
from typing import Annotated, Any

from fabricgen.inventory.nodes import Node, SecretReference
from fabricgen.inventory.part import Notation, any_of, list_of, map_of
from fabricgen.units import parse_bytes, parse_length_m, parse_speed_mbps

NAME = re.compile("[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")


def one_of(*words: object) -> Notation:
    """One of these words or numbers."""
    return Notation({"enum": list(words)})


def one_or_more(item: Notation, **limits: object) -> Notation:
    """A value, or a list of values, as a tuple."""
    listed = list_of(item, **limits)

    def read(node: Node, path: str) -> tuple[Any, ...]:
        given: tuple[Any, ...] = listed.read(node, path)
        return given or (item.read(node, path),)

    return Notation(any_of(item, listed, read=read).schema, read, item.definitions, lambda *_: ())


def _hexadecimal(given: object) -> int | None:
    """A number, as YAML reads 0x…, or a hexadecimal text in quotes; None for another text, such as '*'."""
    if isinstance(given, str):
        return int(given, 16) if given.startswith("0x") else None
    return given if isinstance(given, int) else None


TEXT = Notation({"type": "string"})
_NUMBER_OR_TEXT = Notation({"type": ["string", "integer"]}).then(str)
_BYTES = any_of(
    Notation({"type": "integer", "minimum": 0}),
    Notation({"type": "string", "pattern": "^[0-9]{1,15} ?(B|kB|KB|KiB|MB|MiB|GB|GiB)?$"}),
    read=lambda node, _: node.value if isinstance(node.value, int) else parse_bytes(str(node.value)),
    description="A number of bytes, or text, for example 256KiB.",
).named("bytes")
_HEX64 = any_of(
    Notation({"type": "integer", "minimum": 0, "maximum": 2**64 - 1}),
    Notation({"type": "string", "pattern": "^0x[0-9a-fA-F]{1,16}$"}),
    read=lambda node, _: _hexadecimal(node.value),
    description="For example 0xfec0000000000001.",
).named("hex64")
_P_KEY = any_of(
    Notation({"type": "integer", "minimum": 0, "maximum": 65535}),
    Notation({"type": "string", "pattern": "^0x[0-9a-fA-F]{1,4}$"}),
    read=lambda node, _: _hexadecimal(node.value),
)
_DEVICE_NAME = Notation(
    {
        "type": "string", "pattern": "^[A-Za-z0-9_.:{}-]*$",
        "description": "Letters, digits, _ . : - only: scripts of hosts contain it.",
    }
).named("device_name")  # fmt: skip
_PORTS = map_of(
    Notation(
        {
            "type": "string", "pattern": "^[0-9]{1,2}x[0-9]",
            "description": "Number and speed of the ports of each cage, for example 2x400G.",
        }
    ),
    Notation(
        {
            "pattern": "^[0-9]{1,4}(-[0-9]{1,4})?(, ?[0-9]{1,4}(-[0-9]{1,4})?)*$",
            "description": "Numbers of cages, for example 1-32, or 1-8,12.",
        }
    ),
    minProperties=1,
    description='Breakout mode of cages, for example {"1-32": 2x400G, "33-64": 1x800G}. '
    "Other cages keep the mode of the layout.",
).named("ports")  # fmt: skip

Name = Annotated[
    str,
    Notation(
        {
            "type": "string", "pattern": f"^{NAME.pattern}$",
            "description": "Letters, digits, - _ . with a letter or digit first, at most 63.",
        }
    ).named("name"),
]  # fmt: skip
TenantName = Annotated[
    str,
    Notation(
        {
            "type": "string", "pattern": "^[a-z][a-z0-9-]{0,30}$",
            "description": "A small letter, then small letters, digits, and -, at most 31: tables of switches have it.",
        }
    ),
]  # fmt: skip
Speed = Annotated[
    int,  # Mb/s
    Notation(
        {
            "type": "string",
            "pattern": r"^([1-9][0-9]{0,8}M|(?=[0-9.]*[1-9])[0-9]{1,6}(\.[0-9]{1,3})?[GT])$",
            "description": "For example 400G.",
        },
        lambda node, _: parse_speed_mbps(str(node.value)),
    ).named("speed"),
]
Length = Annotated[
    float,  # metres
    Notation(
        {
            "type": "string", "pattern": r"^[0-9]{1,6}(\.[0-9]{1,6})?(cm|m|km)$", "description": "For example 5m.",
        },
        lambda node, _: parse_length_m(str(node.value)),
    ).named("length"),
]  # fmt: skip
Bytes = Annotated[int, _BYTES]
ByteCount = Annotated[
    int,
    Notation(
        {"type": "integer", "minimum": 0, "maximum": 2**53 - 1, "description": "A number of bytes."}
    ).named("byte_count"),
]  # fmt: skip
Ratio = Annotated[
    float, Notation({"type": "number", "minimum": 0.1, "maximum": 64, "default": 1}).then(float).named("ratio")
]
Guid = Annotated[
    str,
    Notation(
        {
            "type": "string",
            "pattern": "^((0[xX])?[0-9a-fA-F]{16}|[0-9a-fA-F]{4}(:[0-9a-fA-F]{4}){3}"
            "|[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){7})$",
            "description": '16 hex digits in quotes, for example "0x0123456789abcdef".',
        }
    ).named("guid"),
]
Hex64 = Annotated[int, _HEX64]
HexOrAny = Annotated[
    int | None, any_of(Notation({"const": "*"}), _HEX64, read=lambda node, _: _hexadecimal(node.value))
]
PKey = Annotated[int, _P_KEY]
IbMtu = Annotated[
    int,
    Notation({"enum": [256, 512, 1024, 2048, 4096], "description": "MTU of the IPoIB group in bytes."}).named("ib_mtu"),
]
Folder = Annotated[
    str, Notation({"type": "string", "pattern": r"^/[^\s]*$"}).then(lambda folder: str(folder).rstrip("/"))
]
Ports = Annotated[dict[str, str], _PORTS]  # cages such as 1-32 -> breakout mode
NumberOrText = Annotated[str, _NUMBER_OR_TEXT]
Texts = Annotated[tuple[str, ...], one_or_more(TEXT, minItems=1).named("texts")]
Pair = Annotated[tuple[str, ...], one_or_more(TEXT, minItems=1, maxItems=2).named("pair")]
PerNic = Annotated[
    tuple[str, ...],
    one_or_more(_DEVICE_NAME, minItems=1)
    .but(description="A text, or a list with one text for each NIC of the row: all first ports, then all second ports.")
    .named("per_nic"),
]
Ends = Annotated[tuple[str, str], list_of(TEXT, minItems=2, maxItems=2)]  # each device:port

# `writeOnly` marks the values that are secrets: `literal_secrets` reports those that are not references.
Secret = Annotated[
    SecretReference,
    Notation(
        {"type": "string", "writeOnly": True, "description": "A !secret reference."},
        lambda node, _: node.value if isinstance(node.value, SecretReference) else None,
    ),
]
