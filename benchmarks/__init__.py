"""Speed and memory, beside a bare Channels consumer on the same server, machine and run. `make bench` prints JSON."""
