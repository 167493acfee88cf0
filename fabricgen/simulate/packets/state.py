"""The state of a run: arrays of records that the loop changes, and settings that never change."""

from typing import Any, NamedTuple

from numpy.typing import NDArray

Records = Any  # a numpy array of one of the records


class RunSettings(NamedTuple):
    """Settings of the whole run. Rates are in bit/s, times in ticks. A field of another type compiles a new loop."""

    payload: int  # bytes
    header: int
    ack_size: int
    pause_size: int
    first_packet: int  # the first event that is a packet
    first_flow: int  # three events for each flow: start or timeout, decrease, increase
    first_pause: int  # three events for each port and class: end of a pause, its repetition, flush of the queue
    classes: int
    responses: int  # the class of CNPs, and of ACKs without `data_acks`
    foresees: int  # how far records are prefetched; 0: the network fits in the cache
    slot_ticks: int  # of the wheel, as bits
    seed: int
    ticks_per_s: float
    truncated: bool  # compat hpcc: times in seconds are truncated to 2^-64 s, events are in order of scheduling
    data_acks: bool  # whether ACKs travel in the class of their flow
    round_robin: bool  # between classes, else strict and DWRR
    sai: bool  # XON as SAI defines it
    dcqcn: bool
    ecn: bool
    alpha_interval: int
    decrease_interval: int
    increase_interval: int
    notice_interval: int  # minimum time between two notifications of a flow
    byte_counter: int  # bytes between two increases; 0: by time alone
    fast_recovery: int
    g: float
    additive: float
    hyper: float
    least_rate: float
    timeout: int  # 0: none
    credits: bool  # whether ports send by credits instead of pauses
    credit_ticks: int  # from when a buffer is free until its credits are sent
    full_blocks: int  # credits of a full packet
    refusal_interval: int  # minimum time between two NAKs for the same packet
    choice: int  # how switches select among next hops, as `choice.py` numbers it; 0: flows have one path
    flowlet_gap: int
    max_flows: int
    selective: bool  # whether any sender repeats single packets
    window: int  # packets
    trimmed_lane: int  # class of packets that a switch has cut; 0 if no switch does
    trimmed_size: int


class NextHopChoices(NamedTuple):
    """Next hops by destination, for runs in which switches select among them. `number` is the place of a switch among
    the switches by name, and the column of a host; `groups[switch, column]` numbers `choices`."""

    number: NDArray[Any]  # int64 [node]
    groups: NDArray[Any]  # uint32 [switch, column]
    choices: Records
    members: NDArray[Any]  # uint32: ports, one time for each unit of their weight
    memory: Records  # flows with their last next hop
    made: NDArray[Any]  # uint64 [switch]: random choices so far
    bands: NDArray[Any]  # int64: bytes at which a queue counts as longer


class Selected(NamedTuple):
    """What selective repeat needs of flows and packets; empty if all senders go back."""

    flows: Records  # [flow]
    numbers: NDArray[Any]  # int32 [event]: of an answer, the packet that it answers
    received: NDArray[Any]  # uint64 [flow, word]: bits of packets by their number modulo the window
    acked: NDArray[Any]
    repeated: NDArray[Any]  # packets to repeat


class Run(NamedTuple):
    """The state of one run. `order` has the flows that each host is sending, host by host; `durations[speed, size]` are
    the ticks of a packet on the wire."""

    settings: RunSettings
    clock: Records  # one
    events: Records
    far: Records  # events in the far future
    slots: Records
    chunk_keys: NDArray[Any]  # int64 [chunk, place]: events of slots, by keys
    chunks: NDArray[Any]  # uint32 [chunk, place]
    links: NDArray[Any]  # uint32: the chunk before, or the next free one
    present_keys: NDArray[Any]  # int64 [2, place]: the events of the present slot, and room to sort them
    present: NDArray[Any]  # uint32 [2, place]
    places: NDArray[Any]  # int64 [digit]: room to sort the present slot
    turns: Records
    words: NDArray[Any]  # uint64
    summary: NDArray[Any]
    ports: Records
    pfc: Records  # [port]
    queues: Records  # [port, class]
    groups: Records  # [port, class]
    profiles: Records  # [port, class]
    holds: Records  # [port, class]: the pauses of the queue, and what is counted
    credits: NDArray[Any]  # int64 [port, class]: blocks that the port may still send
    pools: Records  # the buffer of each node, then other ingress pools, then egress pools
    nodes: Records
    flows: Records
    order: NDArray[Any]  # uint32
    steps: Records
    durations: NDArray[Any]  # int64
    frames: Records
    streams: NDArray[Any]  # uint64 [component, 3]: the next random stream of compat hpcc
    spread: NextHopChoices
    selected: Selected
