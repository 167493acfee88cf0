"""Several jobs on one fabric: a jobs file, the hosts of each job, and what the jobs send.

`read_jobs` reads a file, `jobs_on_planes` gives each job its hosts, `mix_of` makes the messages of all jobs on a plane.
"""

from fabricgen.simulate.workload.messages import Mix, mix_of, ranks_of
from fabricgen.simulate.workload.model import JobRequest, JobsFile, PlacedJob
from fabricgen.simulate.workload.placing import place_jobs
from fabricgen.simulate.workload.planes import JobPlanes, jobs_on_planes
from fabricgen.simulate.workload.read import read_jobs, whole_fabric
from fabricgen.simulate.workload.runs import runs_of
from fabricgen.simulate.workload.sites import PlaneSite, Unit, site_of
from fabricgen.simulate.workload.write import jobs_text

__all__ = [
    "JobPlanes", "JobRequest", "JobsFile", "Mix", "PlacedJob", "PlaneSite", "Unit", "jobs_on_planes", "jobs_text",
    "mix_of", "place_jobs", "ranks_of", "read_jobs", "runs_of", "site_of", "whole_fabric",
]  # fmt: skip
