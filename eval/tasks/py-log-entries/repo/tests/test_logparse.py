import unittest
from datetime import datetime, timezone

from tools.logparse import Entry, parse, summarize

LOG = """\
2026-03-01T12:00:00.250+02:00 [main] ERROR com.acme.Pool: no connection
java.io.IOException: refused
\tat com.acme.Pool.get(Pool.java:3)
2026-03-01T10:00:01Z [w 1] INFO com.acme.Web: started
"""


class LogTest(unittest.TestCase):
    def test_entries(self):
        time = datetime(2026, 3, 1, 10, 0, 0, 250000, timezone.utc)
        details = ["java.io.IOException: refused", "\tat com.acme.Pool.get(Pool.java:3)"]
        first, second = parse(LOG.splitlines(keepends=True))
        self.assertEqual(first, Entry(time, "main", "ERROR", "com.acme.Pool", "no connection", details))
        self.assertEqual(second.thread, "w 1")

    def test_summary(self):
        self.assertEqual(
            summarize(parse(LOG.splitlines())),
            {"com.acme.Pool": {"ERROR": 1}, "com.acme.Web": {"INFO": 1}},
        )
