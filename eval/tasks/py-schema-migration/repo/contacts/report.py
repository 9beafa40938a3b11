"""Prints lists."""


def phone_list(connection):
    """One line for each person with a number: `NAME: NUMBER, NUMBER`, sorted by name."""
    rows = connection.execute("SELECT name, phones FROM people WHERE phones <> '' ORDER BY name, id")
    return [f"{name}: {', '.join(phones.split(';'))}" for name, phones in rows]


def birthdays(connection, month):
    """The names of those born in a month (1 to 12), by day."""
    rows = connection.execute("SELECT name, born FROM people WHERE born IS NOT NULL ORDER BY id")
    found = [(born.split(".")[0], name) for name, born in rows if int(born.split(".")[1]) == month]
    return [name for _, name in sorted(found)]
