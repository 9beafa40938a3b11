import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

from contacts import migrations, people, report
from contacts.database import SCHEMA_VERSION, open_database

TABLES = """
CREATE TABLE people(id INTEGER PRIMARY KEY, name TEXT, phones TEXT, email TEXT, born TEXT);
CREATE TABLE notes(id INTEGER PRIMARY KEY, person INTEGER REFERENCES people(id) ON DELETE CASCADE, text TEXT);
"""
PEOPLE = [
    (1, "Anna  Maria Muster ", "044 123-45/67; 0041 (79) 1;;,+41791,0441234567", " Anna@Example.com ", "31.12.1999"),
    (2, "Muster,  Bert , jun.", None, "", ""),
    (3, "Cher", " ; , ", None, "1.2.2000"),
    (4, None, "1", "x@y.z", None),
    (5, "  ", "", "   ", "30.2.2000"),
    (7, "Zoe Zett", "2;1;3", "X@Y.Z", "2001-02-03"),
    (9, "Xaver Zett", "4, 0041791", "x@y.z ", "29.2.2000"),
    (12, ", Only First", "00", "b@c.d", " 2000-02-29 "),
    (13, "Last,", "0 0 41 5", "B@C.D", "soon; 'maybe'"),
    (14, "Émile Ö", None, "é@c.d", "2001-02-29"),
    (15, "a\tb", None, "E@C.D", "1999-1-1"),
]
NOTES = [(1, 1, "one"), (2, 9, "nine"), (3, 4, "four"), (4, 99, "nobody's"), (5, 7, "seven"), (6, None, "of nobody")]


def old_database(path, people_rows=PEOPLE, notes_rows=NOTES):
    connection = sqlite3.connect(path)
    connection.executescript(TABLES)
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", people_rows)
    connection.executemany("INSERT INTO notes VALUES (?, ?, ?)", notes_rows)
    connection.commit()
    connection.close()


def dump(path):
    connection = sqlite3.connect(path)
    names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    content = {name: sorted(connection.execute(f"SELECT * FROM {name}").fetchall(), key=repr) for name in names}
    columns = {name: [row[1] for row in connection.execute(f"PRAGMA table_info({name})")] for name in names}
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    problems = connection.execute("PRAGMA foreign_key_check").fetchall()
    connection.close()
    return version, columns, content, problems


class Contacts(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name
        self.path = os.path.join(directory.name, "contacts.db")

    def open(self, path=None):
        connection = open_database(path or self.path)
        self.addCleanup(connection.close)
        return connection

    def rows(self, connection, sql):
        return connection.execute(sql).fetchall()

    def at(self, version):
        path = os.path.join(self.directory, f"reference{version}.db")
        if not os.path.exists(path):
            old_database(path)
            connection = sqlite3.connect(path)
            migrations.migrate(connection, version)
            connection.close()
        return path

    def test_names(self):
        connection = sqlite3.connect(self.at(1))
        names = self.rows(connection, "SELECT id, first_name, last_name FROM people ORDER BY id")
        self.assertEqual(
            names,
            [(1, "Anna Maria", "Muster"), (2, "Bert , jun.", "Muster"), (3, "", "Cher"), (4, "", ""), (5, "", ""), (7, "Zoe", "Zett"),
             (9, "Xaver", "Zett"), (12, "Only First", ""), (13, "", "Last"), (14, "Émile", "Ö"), (15, "", "a\tb")],
        )
        self.assertEqual(set(r[1] for r in self.rows(connection, "PRAGMA table_info(people)")), {"id", "first_name", "last_name", "phones", "email", "born"})
        self.assertEqual(self.rows(connection, "SELECT id, person, text FROM notes ORDER BY id"), [n for n in NOTES if n[1] in (1, 4, 7, 9)] + [(6, None, "of nobody")])
        connection.close()

    def test_phones(self):
        connection = sqlite3.connect(self.at(2))
        self.assertEqual(
            self.rows(connection, "SELECT person, position, number FROM phones ORDER BY person, position"),
            [(1, 1, "0441234567"), (1, 2, "+41791"), (4, 1, "1"), (7, 1, "2"), (7, 2, "1"), (7, 3, "3"), (9, 1, "4"), (9, 2, "+41791"), (12, 1, "+"), (13, 1, "+415")],
        )
        self.assertEqual(set(r[1] for r in self.rows(connection, "PRAGMA table_info(people)")), {"id", "first_name", "last_name", "email", "born"})
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("DELETE FROM people WHERE id = 1")
        self.assertEqual(self.rows(connection, "SELECT count(*) FROM phones WHERE person = 1"), [(0,)])
        with self.assertRaises(sqlite3.IntegrityError):
            connection.execute("INSERT INTO phones(person, position, number) VALUES (9, 1, '7')")
        connection.close()

    def test_merged_people(self):
        connection = sqlite3.connect(self.at(3))
        self.assertEqual(
            self.rows(connection, "SELECT id, first_name, last_name, email, born FROM people WHERE id IN (1, 2, 4, 5, 7, 9, 12, 13, 14, 15) ORDER BY id"),
            [(1, "Anna Maria", "Muster", "anna@example.com", "31.12.1999"), (2, "Bert , jun.", "Muster", None, ""), (4, "Zoe", "Zett", "x@y.z", "2001-02-03"),
             (5, "", "", None, "30.2.2000"), (12, "Only First", "", "b@c.d", " 2000-02-29 "), (14, "Émile", "Ö", "é@c.d", "2001-02-29"), (15, "", "a\tb", "e@c.d", "1999-1-1")],
        )
        self.assertEqual(self.rows(connection, "SELECT position, number FROM phones WHERE person = 4 ORDER BY position"), [(1, "1"), (2, "2"), (3, "3"), (4, "4"), (5, "+41791")])
        self.assertEqual(self.rows(connection, "SELECT number FROM phones WHERE person = 12 ORDER BY position"), [("+",), ("+415",)])
        self.assertEqual(self.rows(connection, "SELECT count(*) FROM phones WHERE person NOT IN (SELECT id FROM people)"), [(0,)])
        self.assertEqual(self.rows(connection, "SELECT person, text FROM notes WHERE id IN (2, 3, 5) ORDER BY id"), [(4, "nine"), (4, "four"), (4, "seven")])
        with self.assertRaises(sqlite3.IntegrityError):
            connection.execute("UPDATE people SET email = 'x@y.z' WHERE id = 1")
        connection.close()

    def test_dates(self):
        connection = sqlite3.connect(self.at(4))
        self.assertEqual(
            self.rows(connection, "SELECT id, born FROM people ORDER BY id"),
            [(1, "1999-12-31"), (2, None), (3, "2000-02-01"), (4, "2001-02-03"), (5, None), (12, "2000-02-29"), (14, None), (15, None)],
        )
        self.assertEqual(
            self.rows(connection, "SELECT person, text FROM notes WHERE text LIKE 'born: %' ORDER BY person"),
            [(5, "born: 30.2.2000"), (14, "born: 2001-02-29"), (15, "born: 1999-1-1")],
        )
        connection.close()

    def test_wrong_date_text_is_kept_as_it_was(self):
        old_database(self.path, [(1, "A B", None, None, "  soon;  'maybe' "), (2, "C D", None, None, "12.13.1999"), (3, "E F", None, None, "  ")], [])
        connection = self.open()
        self.assertEqual(people.find(connection, 1)["notes"], ["born:   soon;  'maybe' "])
        self.assertEqual([people.find(connection, each)["born"] for each in (1, 2, 3)], [None, None, None])
        self.assertEqual(people.find(connection, 3)["notes"], [])

    def test_steps(self):
        old_database(self.path)
        connection = sqlite3.connect(self.path)
        self.assertEqual(migrations.migrate(connection, 0), [])
        self.assertEqual(migrations.migrate(connection, 2), [1, 2])
        self.assertEqual(dump(self.path), dump(self.at(2)))
        for wrong in (1, 5, -1):
            with self.assertRaises(ValueError):
                migrations.migrate(connection, wrong)
        self.assertEqual(migrations.migrate(connection), [3, 4])
        self.assertEqual(migrations.migrate(connection), [])
        connection.close()
        self.assertEqual(dump(self.path), dump(self.at(4)))
        self.assertEqual((SCHEMA_VERSION, dump(self.path)[0], dump(self.path)[3]), (4, 4, []))

    def test_with_foreign_keys_and_any_isolation_level(self):
        for number, level in enumerate((None, "", "DEFERRED", "IMMEDIATE", "EXCLUSIVE")):
            for keys in ("ON", "OFF"):
                path = os.path.join(self.directory, f"level{number}{keys}.db")
                old_database(path)
                connection = sqlite3.connect(path, isolation_level=level)
                connection.execute(f"PRAGMA foreign_keys = {keys}")
                migrations.migrate(connection)
                self.assertEqual(connection.isolation_level, level)
                self.assertFalse(connection.in_transaction)
                connection.close()
                self.assertEqual(dump(path), dump(self.at(4)))

    def test_new_and_newer_databases(self):
        connection = self.open()
        self.assertEqual(self.rows(connection, "PRAGMA foreign_keys"), [(1,)])
        self.assertEqual(dump(self.path)[:2], dump(self.at(4))[:2])
        connection.execute("PRAGMA user_version = 5")
        connection.close()
        before = dump(self.path)
        with self.assertRaises(migrations.NewerSchemaError):
            open_database(self.path)
        self.assertEqual(dump(self.path), before)
        self.assertTrue(issubclass(migrations.NewerSchemaError, Exception))

    def test_a_failure_leaves_a_whole_version(self):
        seen = set()
        for allowed in range(0, 5000, 6):
            path = os.path.join(self.directory, f"fail{allowed}.db")
            old_database(path)
            connection = sqlite3.connect(path)
            left = [allowed]

            def authorize(action, *_):
                # Transactions are always allowed, so that a step can be undone.
                if action in (22, 32):
                    return sqlite3.SQLITE_OK
                left[0] -= 1
                return sqlite3.SQLITE_OK if left[0] >= 0 else sqlite3.SQLITE_DENY

            connection.set_authorizer(authorize)
            failed = False
            try:
                migrations.migrate(connection)
            except sqlite3.DatabaseError:
                failed = True
                self.assertFalse(connection.in_transaction)
            connection.close()
            state = dump(path)
            self.assertEqual(state, dump(self.at(state[0])) if state[0] > 0 else dump_of_old(self), f"after {allowed} actions")
            seen.add(state[0])
            os.remove(path)
            if not failed:
                break
        self.assertTrue({0, 4} <= seen and len(seen) >= 3, seen)

    def test_two_processes(self):
        rows = [(i, f"First{i} Last", f"{i};{i + 1}", f"{i % 500}@x.y", "1.1.2000") for i in range(1, 2001)]
        old_database(self.path, rows, [])
        code = "import sys; from contacts.database import open_database; open_database(sys.argv[1]).close()"
        processes = [subprocess.Popen([sys.executable, "-B", "-c", code, self.path], stderr=subprocess.PIPE, text=True) for _ in range(4)]
        for process in processes:
            _, errors = process.communicate(timeout=60)
            self.assertEqual((process.returncode, errors), (0, ""))
        connection = self.open()
        self.assertEqual(self.rows(connection, "SELECT count(*) FROM people"), [(500,)])
        self.assertEqual(self.rows(connection, "SELECT count(*) FROM phones WHERE person = 1"), [(8,)])

    def test_people(self):
        connection = self.open()
        anna = people.add(connection, "Anna", "Muster", ["0041 79 1", "", "+41791", "2"], " A@B.C ", "2000-02-29")
        self.assertEqual(
            people.find(connection, anna),
            {"id": anna, "first_name": "Anna", "last_name": "Muster", "phones": ["+41791", "2"], "email": "a@b.c", "born": "2000-02-29", "notes": []},
        )
        for born in ("29.2.2000", "2001-02-29", "2000-2-9", ""):
            with self.assertRaises(ValueError):
                people.add(connection, "B", "C", ["5"], None, born)
        with self.assertRaises(sqlite3.IntegrityError):
            people.add(connection, "B", "C", ["5"], "A@b.c")
        self.assertEqual(self.rows(connection, "SELECT count(*) FROM people"), [(1,)])
        self.assertEqual(self.rows(connection, "SELECT count(*) FROM phones"), [(2,)])
        self.assertFalse(connection.in_transaction)
        people.add_note(connection, anna, "x")
        self.assertEqual(people.find(connection, anna)["notes"], ["x"])
        other = people.add(connection, "", "Cher", email="  ")
        self.assertIsNone(people.find(connection, other)["email"])
        self.assertEqual(people.find(connection, other)["phones"], [])
        people.remove(connection, anna)
        self.assertIsNone(people.find(connection, anna))
        self.assertEqual(self.rows(connection, "SELECT (SELECT count(*) FROM notes), (SELECT count(*) FROM phones)"), [(0, 0)])

    def test_reports(self):
        connection = self.open()
        people.add(connection, "Zoe", "Zett", ["1", "2"], None, "1999-12-03")
        people.add(connection, "Bert", "Muster", ["3"], None, "2001-12-20")
        people.add(connection, "Anna", "Muster", ["10", "9", "8", "7", "6", "5", "4", "33", "22", "11"], None, "1980-11-03")
        people.add(connection, "", "Cher", ["5"], None, "1970-12-10")
        people.add(connection, "No", "Number")
        self.assertEqual(
            report.phone_list(connection),
            ["Cher: 5", "Muster, Anna: 10, 9, 8, 7, 6, 5, 4, 33, 22, 11", "Muster, Bert: 3", "Zett, Zoe: 1, 2"],
        )
        self.assertEqual(report.birthdays(connection, 12), ["Zoe Zett", "Cher", "Bert Muster"])
        self.assertEqual(report.birthdays(connection, 1), [])


def dump_of_old(test):
    path = os.path.join(test.directory, "old.db")
    if not os.path.exists(path):
        old_database(path)
    return dump(path)


if __name__ == "__main__":
    unittest.main()
