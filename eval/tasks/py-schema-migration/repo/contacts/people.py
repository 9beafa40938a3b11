"""Adds and finds people."""


def add(connection, name, phones=(), email=None, born=None):
    """Adds a person and returns the id."""
    with connection:
        cursor = connection.execute(
            "INSERT INTO people(name, phones, email, born) VALUES (?, ?, ?, ?)",
            (name, ";".join(phones), email, born),
        )
    return cursor.lastrowid


def find(connection, person):
    """Returns a person as a dict, or None."""
    row = connection.execute("SELECT id, name, phones, email, born FROM people WHERE id = ?", (person,)).fetchone()
    if row is None:
        return None
    notes = connection.execute("SELECT text FROM notes WHERE person = ? ORDER BY id", (person,))
    return {
        "id": row[0],
        "name": row[1],
        "phones": [number for number in (row[2] or "").split(";") if number],
        "email": row[3],
        "born": row[4],
        "notes": [text for (text,) in notes],
    }


def remove(connection, person):
    with connection:
        connection.execute("DELETE FROM people WHERE id = ?", (person,))


def add_note(connection, person, text):
    with connection:
        connection.execute("INSERT INTO notes(person, text) VALUES (?, ?)", (person, text))
