"""`ports` of a tier or a device: the layout of a switch whose cages are in breakout modes of the inventory's choice."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from fabricgen.findings import Finding, Related
from fabricgen.inventory.mistakes import error
from fabricgen.inventory.part import Part
from fabricgen.platforms.model import Layout, SwitchPlatform
from fabricgen.platforms.port_modes import Mode, PortModes
from fabricgen.units import format_speed
from fabricgen.vocabulary import BufferModel, Technology


def configured(
    platform: SwitchPlatform,
    layouts: Sequence[Layout],
    part: Part,
    ports: Mapping[str, str],
    findings: list[Finding],
    speeds_mbps: Collection[int] = (),
) -> Layout | None:
    """The layout with the cages of `ports` in those modes; None, with findings, where `ports` is wrong.

    Of several `layouts` that is the first one that gets ports of all `speeds_mbps`, with buffers and with headroom rows
    for its speeds.
    """
    if platform.technology != Technology.ETHERNET:
        hint = "remove `ports`, and choose a `layout`"
        message = f"{platform.name} does not run SONiC: its ports are split by its layout"
        findings.append(error("FG240", message, part, "ports", hint=hint))
        return None
    first = PortModes(platform, layouts[0])
    modes = _wanted(first, part, ports, findings)
    if modes is None:
        return None
    made = [_with_names(PortModes(platform, layout), modes) for layout in layouts]
    wanted = set(speeds_mbps)
    return max(made, key=lambda each: (wanted <= set(each.speeds_mbps), _is_lossless(platform, each)))  # the first


def _with_names(known: PortModes, wanted: Mapping[str, str]) -> Layout:
    return known.with_modes({parent: mode for parent, text in wanted.items() if (mode := known.mode(parent, text))})


def _is_lossless(platform: SwitchPlatform, layout: Layout) -> bool:
    rows = {row.speed_mbps for row in layout.headroom}
    return bool(layout.buffers) and (platform.buffer_model == BufferModel.DYNAMIC or rows >= set(layout.speeds_mbps))


def _wanted(known: PortModes, part: Part, ports: Mapping[str, str], findings: list[Finding]) -> dict[str, str] | None:
    """Cage -> mode as written; None, with a finding for each mistake."""
    found: dict[str, str] = {}
    owner: dict[int, str] = {}
    before = len(findings)
    for key, text in ports.items():
        if wrong := _unknown(key, known.numbers):
            cages = _ranges(list(known.numbers))
            message = f"{known.platform.name} has no cage {wrong} for the fabric"
            findings.append(error("FG240", message, part, "ports", key, hint=f"its cages are {cages}"))
            continue
        numbers = _numbers(key)
        if twice := sorted(owner.keys() & set(numbers)):
            others = ", ".join(sorted({owner[number] for number in twice}))
            message = f"cage {_ranges(twice)} is in {key!r} and in {others!r} of `ports`"
            place = Related("the other one", part.at("ports", owner[twice[0]]))
            findings.append(error("FG102", message, part, "ports", key, hint="name each cage once", related=(place,)))
            continue
        owner |= dict.fromkeys(numbers, key)
        parents = [parent for number in numbers for parent in known.numbers[number]]
        refused = next((parent for parent in parents if known.mode(parent, text) is None), None)
        if refused is None:
            found |= dict.fromkeys(parents, text)
            continue
        number = known.cages[refused][0].ports[0].index
        message = f"cage {number} of {known.platform.name} has no breakout mode {text!r}"
        offered = ", ".join(dict.fromkeys(mode.text or "none is stated" for mode in known.cages[refused]))
        findings.append(error("FG202", message, part, "ports", key, hint=f"it has: {offered}"))
    return found if len(findings) == before else None


def _numbers(key: str) -> list[int]:
    """'1-3,7' to [1, 2, 3, 7]."""
    spans = (part.strip().partition("-") for part in key.split(","))
    return [number for low, _, high in spans for number in range(int(low), int(high or low) + 1)]


def _unknown(key: str, cages: Collection[int]) -> str:
    """The first part of the key that is not a range of these cages; "" where all are."""
    for part in key.split(","):
        low, _, high = part.strip().partition("-")
        first, last = int(low), int(high or low)
        if first > last or first not in cages or last not in cages:
            return part.strip()
        if missing := next((number for number in range(first, last + 1) if number not in cages), None):
            return str(missing)
    return ""


def _ranges(numbers: Sequence[int]) -> str:
    """[1, 2, 3, 7] to '1-3, 7'."""
    texts: list[str] = []
    start = previous = numbers[0]
    for number in [*numbers[1:], -2]:
        if number != previous + 1:
            texts.append(str(start) if start == previous else f"{start}-{previous}")
            start = number
        previous = number
    return ", ".join(texts)


def suggested(platform: SwitchPlatform, speeds_mbps: Collection[int]) -> str:
    """A `ports` with cages for all these speeds, in equal parts; "" if a cage cannot run at one of them."""
    if platform.technology != Technology.ETHERNET:
        return ""
    known = PortModes(platform, platform.layouts[0])
    numbers, wanted = list(known.numbers), sorted(set(speeds_mbps))
    share = len(numbers) // max(1, len(wanted))
    if not share or not wanted:
        return ""
    texts = []
    for place, speed in enumerate(wanted):
        own = numbers[place * share : (place + 1) * share if place + 1 < len(wanted) else None]
        mode = max(_modes_at(known, own, speed), key=lambda each: len(each.ports), default=None)
        if mode is None:
            return ""
        texts.append(f'"{_ranges(own)}": {len(mode.ports)}x{format_speed(speed)}')
    return f"ports: {{{', '.join(texts)}}}"


def _modes_at(known: PortModes, numbers: Sequence[int], speed_mbps: int) -> Iterator[Mode]:
    """The modes of the first of these cages with all ports at this speed that the others have, too."""
    parents = [parent for number in numbers for parent in known.numbers[number]]
    for mode in known.cages[parents[0]]:
        name = f"{len(mode.ports)}x{format_speed(speed_mbps)}"
        if all(known.mode(parent, name) for parent in parents):
            yield mode
