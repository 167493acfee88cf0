"""Values and words that readers of files rarely meet."""

from typing import Any

LONG_NUMBER = "9" * 5000
LATIN_TWO, ARABIC_THREE = "\u00b2", "\u0663"  # digits for str.isdigit; int() accepts only the second

VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 7, 48, 255, 65536, 2**31, 2**32, 2**63, 2**64, 10**30, 0.5, -0.0, 1e308, float("nan"),
    float("inf"), "", " ", "0", "-1", "00G", "400G", "1e9", "1_000", LATIN_TWO, ARABIC_THREE, LONG_NUMBER, "x" * 3000, "\x00",
    "\ud800", "\u202e", "a\nb", "|", "a|b", "a|b|c", "Ethernet", "Ethernet0", "Ethernet0|3-4", "Ethernet0|9-1", "{", "{x}",
    "{{ 1 }}", "%s", "%(x)s", "[x]", "[BUFFER_POOL|x]", "..", "../..", "/", "a/b", "0.0.0.0", "0.0.0.0/0", "10.0.0.0/33",
    "10.0.0.1/31", "::", "::/0", "fd00::1/127", "0x", "0xffffffffffffffff", "true", "3,4", "3,,4", ",", "0-", "-", "*", "?", "[",
    "!secret", "null", "up", "down", [], [[]], [None], [0], ["a"], ["a", "a"], [["a", "b"], "c"], {}, {"": ""}, {"a": 1},
    {"": {}}, {"a": {"b": []}}, [{}], {"profile": ["x"]},
)  # fmt: skip

# for texts of any grammar
WORDS = (
    "", " ", "\t", "\n", "\r", "\x00", "\ufeff", "\u2028", "\x85", "#", ";", ":", ",", ".", "..", "-", "=", "|", "/", "\\", "'", '"', "`",
    "{", "}", "[", "]", "(", ")", "&a", "*a", "<<: *a", "!x", "!!python/name:os.system", "!!binary x", "!!set", "? [a]", "---", "...",
    "0", "-1", "00", "256", "65536", "4294967296", "18446744073709551616", "1e9", "0x", "0xg", "0xffffffffffffffff", "NaN",
    "Infinity", "null", "true", "~", "2001-01-01", "12:30:45", "1_000", LATIN_TWO, ARABIC_THREE, LONG_NUMBER, "%s", "{{ 1 }}", "{% x",
    "10.0.0.1", "10.0.0.0/33", "::1", "Ethernet0", "400G", "00G", "=cmd()", "\U0001f600",
)  # fmt: skip

DEEP = 100_000
TEXTS: tuple[bytes, ...] = (
    b"", b"\n", b"null", b"[]", b"{}", b"0", b'"x"', b"NaN", b"\x00" * 64, b"\xff\xfe\x00", bytes(range(256)), b"[" * DEEP,
    b'{"a":' * DEEP, b"- " * DEEP, b"{a: " * 5000, b"9" * DEEP,
    b"a: &a [x,x,x,x,x,x,x,x,x]\n"
    + b"".join(b"%c: &%c [%s]\n" % (c, c, b",".join([b"*%c" % (c - 1)] * 9)) for c in range(ord("b"), ord("k"))),
)  # fmt: skip
