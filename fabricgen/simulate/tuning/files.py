"""The setting of the files of a plane, and the files with another setting, in memory."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fabricgen.bundle.read import Bundle, ObservedDevice
from fabricgen.results import Setting
from fabricgen.same import Same
from fabricgen.sonic.image import rows, text
from fabricgen.sonic.references import reference_name
from fabricgen.sonic.tables import Row
from fabricgen.units import signed_number, whole_number
from fabricgen.vocabulary import ECN_REFERENCE_MBPS

_WRED, _DEFAULTS, _PROFILES = "WRED_PROFILE", "DEFAULT_LOSSLESS_BUFFER_PARAMETER", "BUFFER_PROFILE"
_ALPHA_FIELDS = {_DEFAULTS: "default_dynamic_th", _PROFILES: "dynamic_th"}
_COLOURS = ("green", "yellow", "red")


@dataclass(frozen=True)
class TunedFiles:
    """The switches of a plane, and the setting that most of their profiles have."""

    bundle: Bundle
    switches: Sequence[str]
    present: Setting

    @property
    def portable(self) -> "TunedFiles":
        """The same without the texts of files, for another machine."""
        devices = {name: one.with_config(one.config, b"") for name, one in self.bundle.devices.items()}
        return replace(self, bundle=replace(self.bundle, devices=devices))

    def with_setting(self, setting: Setting) -> Bundle:
        """The bundle with a setting on the switches of the plane. Parts that are equal to the present setting stay as
        the files have them. Equal tables stay one object."""
        marks = (setting.kmin_bytes, setting.kmax_bytes, setting.pmax_percent)
        present = (self.present.kmin_bytes, self.present.kmax_bytes, self.present.pmax_percent)
        new_marks = None if marks == present else marks
        new_alpha = None if setting.dynamic_th == self.present.dynamic_th else setting.dynamic_th
        if new_marks is None and new_alpha is None:
            return self.bundle
        devices, made = dict(self.bundle.devices), _Tables()
        for name in self.switches:
            device = devices[name]
            tables = dict(device.config)
            if new_marks is not None:
                tables[_WRED] = made.marks(device, new_marks)
            if new_alpha is not None:
                tables |= made.alphas(device, new_alpha)
            devices[name] = device.reshaped(tables)
        return replace(self.bundle, devices=devices)


class _Tables:
    """Changed tables; those of equal tables are made once."""

    def __init__(self) -> None:
        self._made: dict[tuple[object, ...], dict[str, Any]] = {}

    def marks(self, device: ObservedDevice, marks: tuple[int, int, int]) -> dict[str, Any]:
        speeds = marking_profiles(device)
        key = (Same(device.config[_WRED]), *speeds.items())
        if key not in self._made:
            table: dict[str, Any] = dict(device.table(_WRED))
            for name, mbps in speeds.items():
                table[name] = _marked(table[name], marks, mbps)
            self._made[key] = table
        return self._made[key]

    def alphas(self, device: ObservedDevice, exponent: int) -> dict[str, Any]:
        found = {}
        for table, field in _ALPHA_FIELDS.items():
            names = [name for name, _ in _alpha_rows(device, table)]
            if names:
                key = (Same(device.config[table]), *names)
                if key not in self._made:
                    own = device.table(table)
                    changed = {name: {**own[name], field: str(exponent)} for name in names}
                    self._made[key] = {**own, **changed}
                found[table] = self._made[key]
        return found


def present_setting(bundle: Bundle, switches: Iterable[str], queue_pairs: int) -> Setting | None:
    """The setting that most profiles of the switches have; None if no queue marks."""
    marks: Counter[tuple[int, int, int]] = Counter()
    alphas: Counter[int] = Counter()
    for name in switches:
        device = bundle.devices[name]
        for profile, mbps in marking_profiles(device).items():
            row = device.row(_WRED, profile)
            kmin, kmax = (_at_reference(row, f"green_{end}_threshold", mbps) for end in ("min", "max"))
            marks[kmin, kmax, whole_number(text(row, "green_drop_probability")) or 0] += 1
        for table in _ALPHA_FIELDS:
            alphas.update(exponent for _, exponent in _alpha_rows(device, table))
    if not marks:
        return None
    kmin, kmax, pmax = _most(marks)
    return Setting(kmin, kmax, pmax, _most(alphas) if alphas else None, queue_pairs)


def marking_profiles(device: ObservedDevice) -> dict[str, int]:
    """WRED profile -> the highest speed in Mb/s of the ports whose queues it marks."""
    profiles, ports = rows(device.config, _WRED), rows(device.config, "PORT")
    found: dict[str, int] = {}
    for key, row in rows(device.config, "QUEUE").items():
        name = reference_name(text(row, "wred_profile"))
        if name in profiles and text(profiles[name], "ecn") not in ("", "ecn_none"):
            speeds = (whole_number(text(ports.get(port, {}), "speed")) for port in key.split("|")[0].split(","))
            found[name] = max(found.get(name, 0), *(speed or 0 for speed in speeds))
    return {name: mbps for name, mbps in sorted(found.items()) if mbps}


def changed_rows(files: TunedFiles, setting: Setting) -> dict[str, dict[str, dict[str, str]]]:
    """Table -> row -> field -> value of alpha, where a setting differs from the present one, for an inventory's
    `overrides`."""
    if setting.dynamic_th is None or setting.dynamic_th == files.present.dynamic_th:
        return {}
    found: dict[str, dict[str, dict[str, str]]] = {}
    for switch in files.switches:
        for table, field in _ALPHA_FIELDS.items():
            for name, _ in _alpha_rows(files.bundle.devices[switch], table):
                found.setdefault(table, {})[name] = {field: str(setting.dynamic_th)}
    return found


def _alpha_rows(device: ObservedDevice, table: str) -> Iterator[tuple[str, int]]:
    """(row, exponent of alpha) of the rows for lossless groups; a profile with xoff is one."""
    for name, row in rows(device.config, table).items():
        exponent = signed_number(text(row, _ALPHA_FIELDS[table]))
        if exponent is not None and (table == _DEFAULTS or "xoff" in row):
            yield name, exponent


def _marked(row: Row, marks: tuple[int, int, int], mbps: int) -> dict[str, Any]:
    kmin, kmax = (size * mbps // ECN_REFERENCE_MBPS for size in marks[:2])
    values = {"min_threshold": kmin, "max_threshold": kmax, "drop_probability": marks[2]}
    changed = {
        f"{colour}_{field}": str(value)
        for colour in _COLOURS
        for field, value in values.items()
        if colour == "green" or f"{colour}_{field}" in row
    }
    return {**row, **changed}


def _at_reference(row: Row, field: str, mbps: int) -> int:
    """The threshold of a 400G port that is scaled to that of a row."""
    return -(-(whole_number(text(row, field)) or 0) * ECN_REFERENCE_MBPS // mbps)


def _most(counted: Mapping[Any, int]) -> Any:
    """The most frequent value, of equally frequent ones the least."""
    return min(counted, key=lambda value: (-counted[value], value))
