"""Marks of processes, which tell what a killed one left from what a living one uses."""

from __future__ import annotations

import os
import socket
from pathlib import Path

__all__ = ["is_alive", "own_mark"]


def own_mark(separator: str = "/") -> str:
    """Return a mark of this process: host, number, and when it began."""
    return separator.join((socket.gethostname(), str(os.getpid()), _born(os.getpid())))


def is_alive(mark: str, separator: str = "/") -> bool:
    """Return whether the process of a mark may still run; of another host nobody can tell, so that it may."""
    try:
        host, process, born = mark.rsplit(separator, 2)
        number = int(process)
    except ValueError:
        return True
    if host != socket.gethostname():
        return True
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return _born(number) == born


def _born(process: int) -> str:
    """Return when a process began, where the system knows it, since numbers of processes are given anew."""
    try:
        # The name in parentheses may hold blanks; the start is the 20th field after it.
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""
