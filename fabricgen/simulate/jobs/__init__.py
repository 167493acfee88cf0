"""Several jobs on one plane: how long each takes alone and with all others, and who slows whom.

A collective waits for its slowest flow, so the flows of a job progress together, and a job is as fast as its flow with
the least rate. Under this assumption the time of one job alone is that of `bandwidth`: of the port with the most bytes
for its speed. With several jobs, flows share each port fairly (max-min), and what a job cannot use is left to others.
"""
