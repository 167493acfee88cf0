"""What to write under `buffers:` for a SKU whose files do not make it lossless."""

from fabricgen.platforms.model import Layout
from fabricgen.units import format_length, format_speed

_SOURCE = 'source: "DOCUMENT OF THE VENDOR"'
_PROFILE = "{pool: POOL, size: BYTES, dynamic_th: N}"


def row_lines(layout: Layout, speed_mbps: int, length_m: float) -> str:
    """The line that states a row of headroom. Words in capitals are for the person to replace."""
    return f"buffers: {{{layout.hwsku}: {{{_SOURCE}, headroom: [{_row(speed_mbps, length_m)}]}}}}"


def table_lines(layout: Layout, role: str, *, dynamic: bool) -> str:
    """The lines that state the buffers of a role, with rows of headroom where the SKU has none for its speeds."""
    missing = sorted(set(layout.speeds_mbps) - {row.speed_mbps for row in layout.headroom})
    rows = "" if dynamic else ", ".join(_row(speed, 5) for speed in missing)
    tables = (
        f"{{roles: [{role}], "
        "pools: {ingress_lossless_pool: {type: ingress, mode: dynamic, size: BYTES, xoff: BYTES}, "
        "egress_lossless_pool: {type: egress, mode: static, size: BYTES}}, "
        f"profiles: {{egress_lossless_profile: {_PROFILE}, egress_lossy_profile: {_PROFILE}, "
        f"ingress_lossy_profile: {_PROFILE}}}, lossless_queue_profile: egress_lossless_profile, "
        "lossy_queue_profile: egress_lossy_profile, lossy_pg_profile: ingress_lossy_profile}"
    )
    headroom = f", headroom: [{rows}]" if rows else ""
    return f"buffers: {{{layout.hwsku}: {{{_SOURCE}{headroom}, tables: [{tables}]}}}}"


def _row(speed_mbps: int, length_m: float) -> str:
    numbers = "size: BYTES, xon: BYTES, xoff: BYTES, dynamic_th: N"
    return f"{{speed: {format_speed(speed_mbps)}, cable: {format_length(length_m)}, {numbers}}}"
