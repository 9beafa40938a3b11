"""Reads the logs of the application server."""

from dataclasses import dataclass, field
from datetime import datetime


@dataclass
class Entry:
    time: datetime
    thread: str
    level: str
    logger: str
    message: str
    details: list = field(default_factory=list)


def parse(lines):
    """Yields the entries of a log."""
    raise NotImplementedError


def summarize(entries):
    """Counts entries by logger and level."""
    raise NotImplementedError
