"""An address book in a SQLite database."""
