"""Opens the database."""

import sqlite3

SCHEMA = """
CREATE TABLE IF NOT EXISTS people(id INTEGER PRIMARY KEY, name TEXT, phones TEXT, email TEXT, born TEXT);
CREATE TABLE IF NOT EXISTS notes(id INTEGER PRIMARY KEY, person INTEGER REFERENCES people(id) ON DELETE CASCADE, text TEXT);
"""


def open_database(path):
    connection = sqlite3.connect(path)
    connection.executescript(SCHEMA)
    return connection
