"""Jobs in packet runs: their messages, a slice of them, and the flows of each."""

from fabricgen.results import PacketFlow
from fabricgen.simulate.packets.slicing import TrafficChoice, sliced_traffic
from fabricgen.simulate.workload import runs_of
from tests.simulate.jobs.small_fabrics import placed, small_plane

JOBS = (placed("a", [0, 5, 9], start_ns=100.0), placed("b", [1, 2], "all-to-all"))


def test_messages_of_all_jobs_and_a_slice_of_them() -> None:
    plane = small_plane(3, 4, 2)
    whole, note = sliced_traffic(plane, TrafficChoice("jobs", 1, 0, 10**9, jobs=JOBS), 1)
    assert (len(whole), note) == (5, "")
    assert sorted(set(whole.start_ns.tolist())) == [0.0, 100.0]
    part, note = sliced_traffic(plane, TrafficChoice("jobs", 1, 0, 500, jobs=JOBS), 1)
    factor = round(float(whole.bytes[0] / part.bytes[0]))
    assert len(part) == 5 and f"messages of all jobs divided by {factor};" in note and factor & (factor - 1) == 0
    assert factor > 1 and (whole.bytes / part.bytes == factor).all()


def test_flows_belong_to_the_job_at_either_end() -> None:
    def flow(src: str, dst: str, fct_ns: int | None) -> PacketFlow:
        return PacketFlow(src, dst, 1, 100 if src == "h0|nic0" else 0, fct_ns)

    plane = small_plane(3, 4, 2)
    flows = [flow("h0|nic0", "h5|nic0", 50), flow("h1|nic0", "h2|nic0", 70), flow("h11|nic0", "h2|nic0", None)]
    first, second = runs_of(plane.adapters, JOBS, flows)
    assert (first.name, first.flows, first.finished, first.start_ns, first.time_ns) == ("a", 1, 1, 100, 50)
    assert (second.name, second.flows, second.finished, second.time_ns) == ("b", 2, 1, None)
