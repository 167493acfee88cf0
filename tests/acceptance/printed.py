"""What measuring programs print, line by line as their sources do, for tests of `accept` with files without test names.

Sources: perftest 00b55b6: src/write_bw.c main ("Waiting for client"), src/perftest_parameters.c ctx_print_test_info and
print_full_bw_report (RESULT_FMT_G, REPORT_FMT of perftest_parameters.h), src/perftest_communication.c
ctx_print_pingpong_data (BASIC_ADDR_FMT, RDMA_FMT, PERF_GID_FMT). nccl-tests a0b82b2: src/util.cu writeDeviceReport,
writeResultHeader, writeBenchmarkLinePreamble, writeBenchmarkLineBody. rccl-tests ae3e635: src/common.cu. NCCL 5067397c:
src/transport/net_ib/init.cc, src/transport/net.cc sendSetup, src/init.cc. OSU Micro-Benchmarks 7: osu_util.c
print_header, osu_bw.c, osu_allreduce.c. Linux: net/ethtool, ethtool 6 do_gstats ("NIC statistics:"). sonic-utilities
691b1bb: utilities_common/portstat.py cnstat_diff_print (header_errors_only, header_fec_only; tabulate, "simple"),
utilities_common/netstat.py ns_diff and table_as_json.
"""

import json
from collections.abc import Mapping, Sequence
from ipaddress import ip_address

LINE = "-" * 87


def gid(address: str) -> str:
    """PERF_GID_FMT: each byte as a decimal number of two digits."""
    found = ip_address(address)
    raw = found.packed if found.version == 6 else bytes(10) + b"\xff\xff" + found.packed
    return ":".join(f"{byte:02d}" for byte in raw)


def perftest_text(
    local: str, remote: str, value: float, *, device: str = "mlx5_0", server: bool = False, unit: str = "Gb/sec",
    title: str = "RDMA_Write BW", qps: int = 2,
) -> str:  # fmt: skip
    """ib_write_bw --report_gbits, or without it in MiB/sec."""
    stars = "*" * 36
    shown = value if unit == "Gb/sec" else value * 1e9 / 8 / 2**20
    lines = [] if not server else ["", stars, "* Waiting for client to connect... *", stars]
    lines += [
        LINE,
        f"                    {title} Test",
        f" Dual-port       : OFF\t\tDevice         : {device}",
        f" Number of qps   : {qps}\t\tTransport type : IB",
        " Connection type : RC\t\tUsing SRQ      : OFF",
        " PCIe relax order: ON\t\tLock-free      : OFF",
        " ibv_wr* API     : ON\t\tUsing Enhanced Reorder      : OFF",
        *([] if server else [" TX depth        : 128"]),
        " CQ Moderation   : 1",
        " CQE Poll Batch  : 16",
        " Mtu             : 4096[B]",
        " Link type       : Ethernet",
        " GID index       : 3",
        " Max inline data : 0[B]",
        " rdma_cm QPs\t : OFF",
        " Data ex. method : Ethernet",
        LINE,
    ]
    for side, address in (("local", local), ("remote", remote)):
        for number in range(qps):
            lines.append(
                f" {side} address: LID 0000 QPN {0x124 + number:#06x} PSN 0x9f2a{number:02x} RKey 0x1fbeef "
                "VAddr 0x007f1c5a400000"
            )
            lines.append(f" GID: {gid(address)}")
    row = f" {1048576:<7d}    {189000:<10d}       {shown * 1.001:<7.2f}            {shown:<7.2f}\t\t     {0.046:<7.6f}"
    lines += [LINE, f" #bytes     #iterations    BW peak[{unit}]    BW average[{unit}]   MsgRate[Mpps]", row, LINE]
    return "\n".join(lines) + "\n"


def perftest_json(value: float, device: str = "mlx5_0") -> str:
    """--out_json_file: REPORT_FMT_JSON."""
    info = {"test": "RDMA_Write_BW_Test", "Device": device, "Number_of_qps": 4, "Mtu": 4096}
    results = {"MsgSize": 1 << 20, "n_iterations": 9, "BW_peak": value, "BW_average": value, "MsgRate": 0.04}
    return json.dumps({"test_info": info, "results": results})


def nccl_text(
    program: str, ranks: Sequence[str], value: float, *, log: Sequence[str] = (), version: str = "2.19.6",
    is_rccl: bool = False, per_iteration: bool = False,
) -> str:  # fmt: skip
    """nccl-tests, with the lines of NCCL_DEBUG=INFO in front as mpirun mixes them."""
    head = "# nThread 1 nGpus 1 minBytes 1073741824 maxBytes 8589934592 step: 2(factor) warmup iters: 1 iters: 20"
    lines = [*log]
    if not is_rccl:
        lines += [f"# nccl-tests version {version} nccl-headers=23007 nccl-library=23007"]
        lines += [f"# Collective test starting: {program}_perf"]
    lines += [f"{head} agg iters: 1 validation: 1 graph: 0", "#"]
    lines += ["rccl-tests: Version develop:ae3e635"] if is_rccl else []
    lines += ["# Using devices"]
    lines += [
        f"#  Rank {number:2d} Group {0:2d} Pid {9000 + number:6d} on {host:>10} device {number % 8:2d} [0000:18:00] "
        "NVIDIA H100 80GB HBM3"
        for number, host in enumerate(ranks)
    ]
    where = "out-of-place (+ per-iteration)" if per_iteration else "out-of-place                       in-place"
    lines += ["#", f"#                                                          {where}"]
    more = "  4900.0  5100.0  5050.0    0.01" if per_iteration else ""
    for size, bus in ((1 << 30, value * 0.93), (1 << 33, value)):
        half = f"  {size / bus / 1e3:7.0f}  {bus / 1.875:6.2f}  {bus:6.2f}  {0:6g}{more}"
        lines.append(f"{size:12d}  {size // 4:12d}  {'float':>8}  {'sum':>6}  {'-1':>6}{half}{half}")
    lines += ["# Out of bounds values : 0 OK", f"# Avg bus bandwidth    : {value * 0.965:g} ", "#"]
    return "\n".join(lines) + "\n"


def nccl_json(program: str, ranks: Sequence[str], value: float) -> str:
    """nccl-tests -J."""
    half = {"time": 41000.0, "alg_bw": value / 1.9, "bus_bw": value, "nwrong": 0.0}
    devices = [{"rank": number, "group": 0, "hostname": host, "device": 0} for number, host in enumerate(ranks)]
    row = {"size": 1 << 33, "count": 1 << 31, "type": "float", "redop": "sum", "root": "-1"}
    content = {
        "version": 1, "args": [f"/opt/nccl-tests/build/{program}_perf", "-e", "8G"], "env": [], "nccl_version": 23007,
        "config": {}, "devices": devices, "results": [{**row, "out_of_place": half, "in_place": half}],
    }  # fmt: skip
    return json.dumps(content)


def rccl_json(name: str, nodes: int, ranks: int, value: float) -> str:
    """rccl-tests -Z json: a line for each size and place."""
    row = {"name": name, "nodes": nodes, "ranks": ranks, "size": 1 << 33, "type": "float", "busBw": value, "wrong": "0"}
    return "\n".join(json.dumps({**row, "inPlace": place}) for place in (0, 1))


def nccl_log(
    host: str, devices: Sequence[str], *, gdr: bool = True, sends: int = 16, channels: int = 16, transport: str = "IB",
    version: str = "",
) -> list[str]:  # fmt: skip
    """Lines of NCCL_DEBUG=INFO of one rank."""
    start = f"{host}:9000:9100 [0] NCCL INFO"
    used = " ".join(f"[{number}]{device}:1/RoCE" for number, device in enumerate(devices))
    lines = [f"{start} NET/IB : Using {used} [RO]; OOB eth0:10.0.0.1<0>"] if devices else []
    lines += [
        f"{start} Channel {number:02d}/0 : 8[0] -> 0[0] [send] via NET/{transport}/{number % max(1, len(devices))}"
        f"{'/GDRDMA' if gdr else ''}"
        for number in range(sends)
    ]
    others = "16 collnet channels, 0 nvls channels, 32 p2p channels, 2 p2p channels per peer"
    return [*([version] if version else []), *lines, f"{start} {channels} coll channels, {others}"]


def osu_bw(value: float, accelerator: str = "-CUDA") -> str:
    """osu_bw: MB/s of 10^6 bytes."""
    rows = [(1 << 20, value * 0.96), (1 << 22, value)]
    lines = [f"# OSU MPI{accelerator} Bandwidth Test v7.4", "# Datatype: MPI_CHAR.", "# Size      Bandwidth (MB/s)"]
    return "\n".join([*lines, *(f"{size:<10d}{speed * 125:>18.2f}" for size, speed in rows)]) + "\n"


def osu_collective(title: str, times: Mapping[int, float]) -> str:
    """osu_allreduce and others: size and microseconds."""
    lines = [f"# OSU MPI-CUDA {title} Latency Test v7.4", "# Datatype: MPI_FLOAT.", "# Size       Avg Latency(us)"]
    return "\n".join([*lines, *(f"{size:<10d}{time:>18.2f}" for size, time in times.items())]) + "\n"


def ethtool(counters: Mapping[str, int]) -> str:
    """ethtool -S."""
    return "NIC statistics:\n" + "".join(f"     {name}: {value}\n" for name, value in counters.items())


ERRORS = ("STATE", "RX_ERR", "RX_DRP", "RX_OVR", "TX_ERR", "TX_DRP", "TX_OVR")
FEC = ("STATE", "FEC_CORR", "FEC_UNCORR", "FEC_SYMBOL_ERR", "FEC_PRE_BER", "FEC_POST_BER", "FEC_PRE_BER_MAX", "FLR(O)",
       "FLR(P) (Accuracy)", "FEC_MAX_T")  # fmt: skip


def portstat(titles: Sequence[str], ports: Mapping[str, Mapping[str, int]], *, as_json: bool = False) -> str:
    """`show interfaces counters errors` or `fec-stats`, with -j as JSON; numbers that are not given are N/A."""
    rows = {
        port: ["U", *(f"{values[title]:,}" if title in values else "N/A" for title in titles[1:])]
        for port, values in ports.items()
    }
    if as_json:
        return json.dumps({port: dict(zip(titles, row, strict=True)) for port, row in rows.items()}, indent=4)
    table = [["IFACE", *titles], *([port, *row] for port, row in rows.items())]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in table]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]]) + "\n"
