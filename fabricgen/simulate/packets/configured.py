"""The settings of a class of traffic on a switch, as the buffers of a scenario."""

from dataclasses import replace

from fabricgen.simulate.plane.switch import SwitchClass
from fabricgen.simulate.scenario import Scheduler, SwitchBuffers

_LARGEST_BYTES = (1 << 31) - 1


def switch_buffers(switch: SwitchClass) -> SwitchBuffers:
    """What the ports of a switch share, with the pool of its lossless groups."""
    headroom = switch.buffers.headroom_pool_bytes
    return SwitchBuffers(
        buffer_bytes=min(switch.pool_bytes(switch.buffers.lossless_pool) + headroom, _LARGEST_BYTES),
        pg_reserve_bytes=0,
        pg_headroom_bytes=0,
        alpha=1.0,
        xon_offset_bytes=0,
        headroom_pool_bytes=headroom,
        cell_bytes=switch.buffers.cell_bytes,
    )


def port_buffers(switch: SwitchClass, port: str) -> SwitchBuffers:
    """The settings of one port, over those of its switch."""
    group = switch.group(port)
    strict, weight = switch.scheduling(port)
    buffers = replace(
        switch_buffers(switch),
        pfc=group.lossless,
        ingress_pool=group.pool,
        ingress_pool_bytes=min(switch.pool_bytes(group.pool), _LARGEST_BYTES),
        alpha=group.alpha,
        static_threshold_bytes=0 if group.static_bytes is None else max(1, group.static_bytes),
        pg_reserve_bytes=group.reserve_bytes,
        pg_headroom_bytes=group.headroom_bytes,
        xon_bytes=group.xon_bytes,
        xon_offset_bytes=group.xon_offset_bytes,
        ecn=switch.marking(port),
        watchdog=switch.watchdog(port),
        scheduler=Scheduler.STRICT if strict else Scheduler.DWRR,
        weight=weight,
        trims=switch.trims(port),
    )
    return _with_queue_limit(buffers, switch, port)


def _with_queue_limit(buffers: SwitchBuffers, switch: SwitchClass, port: str) -> SwitchBuffers:
    """The buffers with the limit of the queue. A static limit of at least the pool does not limit the queue."""
    profile = switch.queue_profile(port)
    if profile is None:
        return buffers
    size = switch.buffers.shared_bytes(profile.pool) or buffers.buffer_bytes
    buffers = replace(
        buffers, egress_pool=profile.pool, egress_pool_bytes=size, egress_reserve_bytes=profile.reserve_bytes
    )
    if profile.is_dynamic:
        return replace(buffers, egress_alpha=profile.alpha)
    static = profile.static_bytes or 0
    return replace(buffers, egress_static_bytes=static if static < size else 0)
