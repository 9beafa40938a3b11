import os
import sqlite3
import tempfile
import unittest

from contacts import migrations, people, report
from contacts.database import SCHEMA_VERSION, open_database

OLD = """
CREATE TABLE people(id INTEGER PRIMARY KEY, name TEXT, phones TEXT, email TEXT, born TEXT);
CREATE TABLE notes(id INTEGER PRIMARY KEY, person INTEGER REFERENCES people(id) ON DELETE CASCADE, text TEXT);
INSERT INTO people VALUES (1, 'Anna Muster', '044 123 45 67; 0041 79 1', 'Anna@Example.com', '31.12.1999');
INSERT INTO notes VALUES (1, 1, 'a note');
"""


class ContactsTest(unittest.TestCase):
    def test_an_old_database(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "contacts.db")
            old = sqlite3.connect(path)
            old.executescript(OLD)
            old.close()
            connection = open_database(path)
            self.assertEqual(connection.execute("PRAGMA user_version").fetchone(), (SCHEMA_VERSION,))
            self.assertEqual(
                people.find(connection, 1),
                {
                    "id": 1,
                    "first_name": "Anna",
                    "last_name": "Muster",
                    "phones": ["0441234567", "+41791"],
                    "email": "anna@example.com",
                    "born": "1999-12-31",
                    "notes": ["a note"],
                },
            )
            self.assertEqual(report.phone_list(connection), ["Muster, Anna: 0441234567, +41791"])
            self.assertEqual(migrations.migrate(connection), [])
            connection.close()
