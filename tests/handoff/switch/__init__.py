"""A SONiC switch of real processes: sshd, redis-server, and SONiC's commands as one program over that Redis."""
