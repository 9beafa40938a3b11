import unittest
from datetime import datetime, timedelta, timezone

from tools.logparse import Entry, parse, summarize


def one(line):
    entries = list(parse([line]))
    assert len(entries) == 1, (line, entries)
    return entries[0]


class LogTest(unittest.TestCase):
    def test_times(self):
        for text, expected in [
            ("2026-03-01T12:00:00Z", datetime(2026, 3, 1, 12)),
            ("2026-03-01T12:00:00.5Z", datetime(2026, 3, 1, 12, 0, 0, 500000)),
            ("2026-03-01T12:00:00.123456Z", datetime(2026, 3, 1, 12, 0, 0, 123456)),
            ("2026-03-01T00:30:00+02:00", datetime(2026, 2, 28, 22, 30)),
            ("2026-03-01T22:30:00.25-05:30", datetime(2026, 3, 2, 4, 0, 0, 250000)),
        ]:
            time = one(f"{text} [t] INFO a.B: m").time
            self.assertEqual(time, expected.replace(tzinfo=timezone.utc))
            self.assertEqual(time.utcoffset(), timedelta(0))

    def test_fields(self):
        line = "2026-03-01T12:00:00Z [pool [1] x] WARN com.acme.Pool: a ] ERROR x: y: z "
        entry = one(line + "\r\n")
        self.assertEqual((entry.thread, entry.level, entry.logger, entry.message),
                         ("pool [1] x", "WARN", "com.acme.Pool", "a ] ERROR x: y: z "))
        empty = one("2026-03-01T12:00:00Z [t] DEBUG a: \n")
        self.assertEqual(empty.message, "")
        self.assertEqual(one("2026-03-01T12:00:00Z [t] DEBUG a:").message, "")
        self.assertEqual(one("2026-03-01T12:00:00Z [a] INFO b: [c] ERROR d: e").thread, "a")

    def test_details(self):
        lines = ["junk\n", "2026-03-01T12:00:00Z [t] ERROR a: m\r\n", "one\r\n", "\n", "\ttwo\n", "  \n", "\n",
                 "2026-03-01T12:00:00Z [t] INFO b: n\n", "2026-13-01T12:00:00Z [t] INFO c: o\n",
                 "2026-03-01T12:00:00Z [t] TRACE c: o\n", "2026-03-01T12:00:00 [t] INFO c: o\n",
                 "2026-02-30T12:00:00Z [t] INFO c: o\n", "2026-03-01T12:00:00.1234567Z [t] INFO c: o"]
        first, second = parse(lines)
        self.assertEqual(first.details, ["one", "", "\ttwo"])
        self.assertEqual(second.logger, "b")
        self.assertEqual(len(second.details), 5)
        self.assertEqual(second.details[-1], "2026-03-01T12:00:00.1234567Z [t] INFO c: o")

    def test_nothing(self):
        self.assertEqual(list(parse([])), [])
        self.assertEqual(list(parse(["a\n", "\n"])), [])

    def test_streams(self):
        taken = []

        def lines():
            for n in range(10**9):
                taken.append(n)
                yield f"2026-03-01T12:00:00Z [t] INFO a: {n}\n"

        entries = parse(lines())
        self.assertEqual(next(entries).message, "0")
        self.assertEqual(len(taken), 2)

    def test_summary(self):
        def entry(logger, level):
            return Entry(None, "t", level, logger, "m")

        entries = [entry("b", "INFO"), entry("a", "INFO"), entry("z", "ERROR"), entry("z", "ERROR"), entry("y", "ERROR"), entry("b", "INFO"), entry("z", "WARN")]
        summary = summarize(iter(entries))
        self.assertEqual(summary, {"z": {"ERROR": 2, "WARN": 1}, "y": {"ERROR": 1}, "a": {"INFO": 1}, "b": {"INFO": 2}})
        self.assertEqual(list(summary), ["z", "y", "a", "b"])
