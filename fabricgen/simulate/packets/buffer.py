"""The buffer of a switch: what a priority group may use, when it pauses its sender, and when it resumes it.

A group fills its reserve, then its share of its pool up to a threshold (alpha times the free part, or a static one),
then its headroom, which is separate or shared by all groups. Terms and order are those of SAI's buffer profile. A queue
may have a limit in an egress pool; it drops the packets above the limit even if the group has room.
"""

from fabricgen.physics import held_bytes
from fabricgen.simulate.compilation import inlined
from fabricgen.simulate.packets.intrinsics import whole
from fabricgen.simulate.packets.packet import push_pause
from fabricgen.simulate.packets.pause import repeat_later
from fabricgen.simulate.packets.records import NONE, PAUSE, RESUME
from fabricgen.simulate.packets.state import Run


@inlined
def threshold(run: Run, port: int, lane: int) -> int:
    """The bytes of the shared pool that a group may use now."""
    group = run.groups[port, lane]
    if group.static > 0:
        return int(group.static)
    pool = run.pools[group.pool]
    return int(max(0, ((pool.limit - pool.used) * group.alpha) >> 8))


@inlined
def shared_part(run: Run, port: int, lane: int) -> int:
    """The bytes of the shared pool that a group uses."""
    group = run.groups[port, lane]
    return int(max(0, group.used - group.reserve))


held = inlined(held_bytes)


@inlined
def admit(run: Run, port: int, lane: int, wire: int) -> bool:
    """Account for a packet that arrived; False if there is no room for it."""
    group = run.groups[port, lane]
    size = held(wire, whole(group.cell))
    limit = threshold(run, port, lane)
    if size + shared_part(run, port, lane) <= limit:
        _use(run, port, lane, size)
        return True
    node = run.nodes[run.ports[port].node]
    headroom_full = (
        group.headroom + size > run.profiles[port, lane].headroom_limit or node.pool + size > node.pool_limit
    )
    if headroom_full:
        return False
    if group.used + size - group.reserve > limit:
        group.headroom += size
        node.pool += size
        hold = run.holds[port, lane]
        hold.headroom_most = max(hold.headroom_most, group.headroom)
    else:
        _use(run, port, lane, size)
    return True


@inlined
def _use(run: Run, port: int, lane: int, size: int) -> None:
    """Add a packet to the reserve of a group, then to its pool."""
    group = run.groups[port, lane]
    group.used += size
    if group.used > group.reserve:
        run.pools[group.pool].used += min(size, group.used - group.reserve)


@inlined
def release(run: Run, port: int, lane: int, wire: int) -> None:
    """Account for a packet that leaves: it frees headroom first, the reserve last."""
    group = run.groups[port, lane]
    rest = size = held(wire, whole(group.cell))
    if group.headroom > 0:
        from_headroom = min(group.headroom, size)
        rest -= from_headroom
        group.headroom -= from_headroom
        run.nodes[run.ports[port].node].pool -= from_headroom
    run.pools[group.pool].used -= min(rest, shared_part(run, port, lane))
    group.used -= rest


@inlined
def fits(run: Run, port: int, lane: int, size: int) -> bool:
    """Whether a queue may take a packet, by the free part of its pool."""
    queue = run.queues[port, lane]
    if queue.pool == NONE:
        return True
    pool, profile = run.pools[queue.pool], run.profiles[port, lane]
    limit = whole(profile.limit)
    if profile.alpha:
        limit = (max(0, pool.limit - pool.used) * whole(profile.alpha)) >> 8
    return bool(queue.bytes + size <= profile.floor + limit)


@inlined
def resize(run: Run, port: int, lane: int, size: int) -> None:
    """Change the size of a queue; a negative size shrinks it."""
    queue = run.queues[port, lane]
    if queue.pool != NONE:
        floor = run.profiles[port, lane].floor
        run.pools[queue.pool].used += max(0, queue.bytes + size - floor) - max(0, queue.bytes - floor)
    queue.bytes += size
    queue.most = max(queue.most, queue.bytes)


@inlined
def pause_if_full(run: Run, port: int, lane: int, out: int) -> int:
    """Pause the peer if the group has reached its threshold with a packet for `out`; the port with a frame to send, or
    NONE."""
    group = run.groups[port, lane]
    if group.pausing or not group.lossless:
        return NONE
    if group.headroom == 0 and shared_part(run, port, lane) < threshold(run, port, lane):
        return NONE
    group.pausing = 1
    if run.settings.ecn and run.queues[out, lane].bytes <= run.queues[out, lane].kmin:
        run.holds[port, lane].early += 1
    push_pause(run, port, lane, PAUSE)
    if run.pfc[port].refresh > 0:
        repeat_later(run, port, lane)
    return port


@inlined
def resume_if_empty(run: Run, port: int, lane: int) -> int:
    """Resume a paused peer if the group is far enough below its threshold; the port with a frame to send, or NONE."""
    group = run.groups[port, lane]
    if not group.pausing:
        return NONE
    limit, profile = threshold(run, port, lane), run.profiles[port, lane]
    if run.settings.sai:
        if group.used + group.headroom > max(profile.xon, group.reserve + limit - profile.xon_offset):
            return NONE
    else:
        shared = shared_part(run, port, lane)
        if group.headroom > 0 or (shared > 0 and shared + profile.xon_offset > limit):
            return NONE
    group.pausing = 0
    push_pause(run, port, lane, RESUME)
    return port
