import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "todo.py")


class TodoTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.file = os.path.join(self.directory.name, "todo.json")

    def todo(self, *args, **variables):
        env = {k: v for k, v in os.environ.items() if k != "TODO_FILE"}
        done = subprocess.run([sys.executable, PROGRAM, *args], cwd=self.directory.name, capture_output=True, text=True, env={**env, **variables})
        return done.returncode, done.stdout, done.stderr

    def test_order_and_filters(self):
        for text, priority in [("a", "low"), ("b", "high"), ("c", "normal"), ("d", "high")]:
            self.assertEqual(self.todo("add", text, "--priority", priority)[0], 0)
        self.todo("done", "2", "1")
        self.assertEqual(self.todo("list"), (0, "4 [ ] high d\n3 [ ] normal c\n", ""))
        self.assertEqual(self.todo("list", "--all"), (0, "2 [x] high b\n4 [ ] high d\n3 [ ] normal c\n1 [x] low a\n", ""))
        self.assertEqual(self.todo("list", "--all", "--priority", "low"), (0, "1 [x] low a\n", ""))
        listed = json.loads(self.todo("list", "--json")[1])
        self.assertEqual(listed, [{"id": 4, "text": "d", "priority": "high", "done": False}, {"id": 3, "text": "c", "priority": "normal", "done": False}])
        self.assertEqual(json.loads(self.todo("list", "--json", "--priority", "low")[1]), [])

    def test_ids_are_never_given_twice(self):
        self.todo("add", "a")
        self.todo("add", "b")
        self.assertEqual(self.todo("rm", "2"), (0, "", ""))
        self.assertEqual(self.todo("add", "c")[1], "3\n")
        self.todo("rm", "1", "3")
        self.assertEqual(self.todo("add", "d")[1], "4\n")

    def test_unknown_ids_change_nothing(self):
        self.todo("add", "a")
        before = open(self.file).read()
        for command in ["done", "rm"]:
            self.assertEqual(self.todo(command, "1", "9"), (1, "", "todo: no item 9\n"))
            self.assertEqual(open(self.file).read(), before)

    def test_places(self):
        other = os.path.join(self.directory.name, "other.json")
        third = os.path.join(self.directory.name, "third.json")
        self.todo("--file", other, "add", "x", TODO_FILE=third)
        self.assertTrue(os.path.exists(other) and not os.path.exists(third) and not os.path.exists(self.file))
        self.todo("add", "y", TODO_FILE=third)
        self.assertEqual(self.todo("list", TODO_FILE=third)[1], "1 [ ] normal y\n")
        self.assertEqual(self.todo("list"), (0, "", ""))
        self.assertFalse(os.path.exists(self.file))

    def test_damaged(self):
        for content in ['[{"id": 1,', '{"x"', "7", '"text"']:
            with open(self.file, "w") as file:
                file.write(content)
            for command in [["add", "a"], ["list"], ["done", "1"]]:
                code, out, err = self.todo(*command)
                self.assertEqual((code, out), (1, ""), content)
                self.assertTrue(err.startswith(f"todo: cannot read todo.json: ") or err.startswith(f"todo: cannot read {self.file}: "), err)
                self.assertEqual(len(err.strip().splitlines()), 1)
            self.assertEqual(open(self.file).read(), content)

    def test_old_files(self):
        with open(self.file, "w") as file:
            json.dump([{"id": 3, "text": "old", "done": True}, {"id": 5, "text": "ä", "done": False}], file)
        self.assertEqual(self.todo("list", "--all")[1], "3 [x] normal old\n5 [ ] normal ä\n")
        self.assertEqual(self.todo("add", "new")[1], "6\n")
        self.assertEqual(self.todo("done", "5")[0], 0)

    def test_atomic(self):
        self.todo("add", "a")
        os.link(self.file, self.file + ".link")
        before = open(self.file).read()
        self.todo("add", "b")
        self.assertEqual(open(self.file + ".link").read(), before)
        self.assertEqual(sorted(os.listdir(self.directory.name)), ["todo.json", "todo.json.link"])

    def test_usage(self):
        for args in [[], ["add"], ["done"], ["done", "x"], ["add", "a", "--priority", "top"], ["nothing"]]:
            self.assertEqual(self.todo(*args)[0], 2, args)
        code, out, _ = self.todo("--help")
        self.assertEqual(code, 0)
        for word in ["add", "done", "rm", "list", "--file"]:
            self.assertIn(word, out)
