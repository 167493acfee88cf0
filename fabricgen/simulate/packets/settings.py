"""The settings of a run, from its scenario."""

from collections.abc import Sequence

from fabricgen.physics import CREDIT_BLOCK_BYTES
from fabricgen.results import Compat
from fabricgen.simulate.packets.next_hops import choice_of
from fabricgen.simulate.packets.queues import buffers_by_port
from fabricgen.simulate.packets.state import RunSettings
from fabricgen.simulate.packets.wheel import MOST_TICK_BITS
from fabricgen.simulate.packets.windows import window_of
from fabricgen.simulate.scenario import CongestionControl, Dcqcn, Scenario
from fabricgen.vocabulary import Recovery

_TIMEOUT_NS = 1_000_000
_HPCC_NAK_NS = 500_000  # HPCC's receivers ask again after this time
_NEVER = 1 << 60
_NO_DCQCN = Dcqcn(1 / 256, 1000, 4000, 300_000, 1, 0, 0, 100)


_LARGE_PORTS = 2048  # above, the records of a network exceed the cache of a processor core
_VERY_LARGE_PORTS = 8192  # above, those of the packets that come next as well
_EVENTS_PER_SLOT = {False: 4, True: 16}  # large networks prefetch the records of the events of a slot


def run_settings(
    scenario: Scenario, ports: int, classes: Sequence[int], ticks_per_ns: int, packet_ticks: int, seed: int
) -> RunSettings:
    """The settings of a run with some ports and classes. `packet_ticks` is the time of a packet on the fastest
    link."""
    transport, flows = scenario.transport, len(scenario.flows)
    dcqcn = transport.dcqcn or _NO_DCQCN
    first_flow = ports
    first_pause = first_flow + 3 * flows
    alpha_ns = dcqcn.alpha_timer_ns
    compat = scenario.compat is Compat.HPCC
    return RunSettings(
        payload=int(transport.payload_bytes),
        header=int(transport.header_bytes),
        ack_size=int(transport.ack_bytes),
        pause_size=int(transport.pfc_frame_bytes),
        first_packet=first_pause + 3 * ports * len(classes),
        first_flow=first_flow,
        first_pause=first_pause,
        classes=len(classes),
        responses=classes.index(scenario.response_priority) if scenario.response_priority in classes else 0,
        foresees=0 if scenario.is_spread else _steps_ahead(ports),  # spread packets have no steps
        slot_ticks=_slot_ticks(packet_ticks, ports),
        seed=seed,
        ticks_per_s=float(ticks_per_ns * 10**9),
        truncated=compat,
        data_acks=bool(transport.ack_lossless),
        round_robin=compat,
        sai=not compat,
        dcqcn=transport.congestion_control is CongestionControl.DCQCN,
        ecn=any(one is not None and one.ecn for each in classes for one in buffers_by_port(scenario, each)),
        alpha_interval=int(alpha_ns * ticks_per_ns),
        decrease_interval=int(dcqcn.rate_decrease_interval_ns * ticks_per_ns),
        increase_interval=int(dcqcn.increase_timer_ns * ticks_per_ns),
        notice_interval=int(dcqcn.cnp_interval_ns * ticks_per_ns),
        byte_counter=int(dcqcn.byte_counter_bytes),
        fast_recovery=int(dcqcn.fast_recovery_times),
        g=float(dcqcn.g),
        additive=dcqcn.rate_ai_mbps * 1e6,
        hyper=dcqcn.rate_hai_mbps * 1e6,
        least_rate=dcqcn.min_rate_mbps * 1e6,
        credits=scenario.credits is not None,
        credit_ticks=(scenario.credits.return_ns if scenario.credits else 0) * ticks_per_ns,
        full_blocks=-(-transport.packet_bytes // CREDIT_BLOCK_BYTES),
        timeout=int(_timeout_ns(scenario) * ticks_per_ns),
        refusal_interval=_HPCC_NAK_NS * ticks_per_ns if compat else _NEVER,
        choice=choice_of(scenario),
        flowlet_gap=scenario.balance.flowlet_gap_ns * ticks_per_ns,
        max_flows=scenario.balance.max_flows,
        selective=any(one is not Recovery.GO_BACK_N for one in scenario.recoveries),
        window=window_of(scenario),
        trimmed_lane=classes.index(scenario.trimming.priority) if scenario.trimming else 0,
        trimmed_size=scenario.trimming.bytes if scenario.trimming else 0,
    )


def _steps_ahead(ports: int) -> int:
    """How far the loop prefetches."""
    return (ports > _LARGE_PORTS) + (ports > _VERY_LARGE_PORTS)


def _slot_ticks(packet_ticks: int, ports: int) -> int:
    """The ticks of a slot of the wheel, as bits: each port sends at most one packet in `packet_ticks`."""
    ticks = _EVENTS_PER_SLOT[ports > _LARGE_PORTS] * packet_ticks // ports
    return min(MOST_TICK_BITS, max(0, ticks.bit_length() - 1))


def _timeout_ns(scenario: Scenario) -> int:
    """The timeout of retransmission; HPCC's senders do not have one."""
    given = scenario.transport.retransmission_timeout_ns
    return (0 if scenario.compat is Compat.HPCC else _TIMEOUT_NS) if given is None else given
