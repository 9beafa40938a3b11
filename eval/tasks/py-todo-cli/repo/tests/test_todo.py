import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "todo.py")


class TodoTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def todo(self, *args):
        done = subprocess.run([sys.executable, PROGRAM, *args], cwd=self.directory.name, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    def test_list(self):
        self.assertEqual(self.todo("add", "buy milk"), (0, "1\n", ""))
        self.assertEqual(self.todo("add", "pay rent", "--priority", "high"), (0, "2\n", ""))
        self.assertEqual(self.todo("done", "1"), (0, "", ""))
        self.assertEqual(self.todo("list", "--all"), (0, "2 [ ] high pay rent\n1 [x] normal buy milk\n", ""))

    def test_unknown_id(self):
        self.assertEqual(self.todo("done", "7"), (1, "", "todo: no item 7\n"))
