"""Time and memory beside peers: one run, one table."""
