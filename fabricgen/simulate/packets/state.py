"""The whole state of a run as one value: arrays of records, and settings that never change."""

from typing import Any, NamedTuple

from numpy.typing import NDArray

Records = Any  # a numpy array of one of the records


class Settings(NamedTuple):
    """What is alike for all. Rates are bit/s, times ticks; every field keeps its type, or the loop compiles anew."""

    payload: int  # bytes
    header: int
    ack_size: int
    pause_size: int
    first_packet: int  # events from here on are packets
    first_wake: int  # event of node 0's wake-up; the others follow
    first_flow: int  # three events for each flow: start or timeout, decrease, increase
    first_pause: int  # three events for each port and class: end of a pause, its repetition, flush of the queue
    classes: int
    ticks_per_s: float
    data_acks: bool  # whether ACKs travel in the class of their flow
    round_robin: bool  # between classes, else strict and DWRR
    sai: bool  # XON as SAI defines it
    dcqcn: bool
    ecn: bool
    older_acks: int  # 1 where an ACK comes before the alpha tick of its time
    alpha_interval: int
    decrease_interval: int
    increase_interval: int
    notice_interval: int  # least time between two notifications of a flow
    byte_counter: int  # bytes between two increases; 0: by time alone
    fast_recovery: int
    g: float
    additive: float
    hyper: float
    least_rate: float
    timeout: int  # 0: none
    refusal_interval: int  # least time between two requests to repeat the same packet


class Run(NamedTuple):
    """One run. `order` holds, host by host, the flows that it is sending; `durations[speed, size]` are the ticks that a
    packet takes on the wire."""

    settings: Settings
    clock: Records  # one
    events: Records
    slots: Records
    epochs: Records
    words: NDArray[Any]  # uint64
    summary: NDArray[Any]
    ports: Records
    queues: Records  # [port, class]
    groups: Records  # [port, class]
    holds: Records  # [port, class]: what pauses did to the queue
    pools: Records  # what queues share
    nodes: Records
    flows: Records
    order: NDArray[Any]  # int32
    steps: Records
    durations: NDArray[Any]  # int64
    frames: Records
