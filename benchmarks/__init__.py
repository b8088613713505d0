"""Ratios against peers: one run, one table."""
