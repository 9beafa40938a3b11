"""Page ranges of a print dialog, such as "1-3,7,10-"."""


class RangeError(ValueError):
    """A wrong text. `position` is the index of the first wrong character in the text (its length: something is missing)."""

    def __init__(self, message, position):
        super().__init__(message)
        self.position = position


def parse(text, last):
    """Return the pages that a text names: a list of numbers in the order of the text, each once (where it comes first).

    The text holds parts with commas between them. A part is a page ("7"), a range ("3-5", or backwards "5-3", which gives
    5, 4, 3), a range that is open at one side ("-3" begins at 1, "8-" ends at `last`), or "all" in any case. Blanks (spaces)
    are allowed around numbers, hyphens, commas and "all", but not within a number. An empty text, or only blanks, is all pages.

    Pages go from 1 to `last`. A number beyond `last` is allowed if the range that it belongs to, read in either direction,
    contains at least one page of the document; the pages beyond `last` are left out. A page alone or a range that is wholly
    beyond `last`, and a page 0, are errors at the first digit of the (first) number that is wrong. An open range that
    begins beyond `last` is such an error, too. Leading zeros are allowed. Only ASCII digits are digits.

    Raises RangeError with the position, and ValueError (not RangeError) if `last` is below 1.
    """
    if last < 1:
        raise ValueError("a document has at least one page")
    if text.strip(" ") == "":
        return list(range(1, last + 1))
    pages = {}
    start = 0
    for part in text.split(","):
        for page in _parse_part(text, start, start + len(part), last):
            pages.setdefault(page)
        start += len(part) + 1
    return list(pages)


def _parse_part(text, start, end, last):
    position = _skip(text, start, end)
    if text[position:end].rstrip(" ").lower() == "all":
        return range(1, last + 1)
    first, first_at, position = _number(text, position, end)
    position = _skip(text, position, end)
    if position < end and text[position] == "-":
        hyphen_at = position
        position = _skip(text, position + 1, end)
        second, second_at, position = _number(text, position, end)
        position = _skip(text, position, end)
        if first is None and second is None:
            raise RangeError("a number is missing", min(hyphen_at + 1, end))
    elif first is None:
        raise RangeError("a page is missing", position)
    else:
        second, second_at = first, first_at
    if position < end:
        raise RangeError("unexpected character", position)
    for number, at in ((first, first_at), (second, second_at)):
        if number == 0:
            raise RangeError("there is no page 0", at)
    if first is None:
        return range(1, min(second, last) + 1)
    if second is None:
        if first > last:
            raise RangeError("beyond the last page", first_at)
        return range(first, last + 1)
    if first > last and second > last:
        raise RangeError("beyond the last page", first_at)
    if first <= second:
        return range(first, min(second, last) + 1)
    return range(min(first, last), second - 1, -1)


def _skip(text, position, end):
    while position < end and text[position] == " ":
        position += 1
    return position


def _number(text, position, end):
    start = position
    while position < end and text[position] in "0123456789":
        position += 1
    if start == position:
        return None, start, position
    return int(text[start:position]), start, position


def write(pages):
    """Return the shortest text of pages in this order: runs of three or more that go up or down by one become ranges.

    Raises ValueError for a number below 1, and for a number that comes twice.
    """
    pages = list(pages)
    if len(set(pages)) < len(pages):
        raise ValueError("a page comes twice")
    if any(page < 1 for page in pages):
        raise ValueError("a page is below 1")
    parts = []
    index = 0
    while index < len(pages):
        end = _run_end(pages, index, 1)
        if end == index:
            end = _run_end(pages, index, -1)
        if end - index >= 1:
            parts.append(f"{pages[index]}-{pages[end]}")
            index = end + 1
        else:
            parts.append(str(pages[index]))
            index += 1
    return ",".join(parts)


def _run_end(pages, index, step):
    while index + 1 < len(pages) and pages[index + 1] == pages[index] + step:
        index += 1
    return index


def sheets(pages, per_sheet, duplex=False):
    """Return how the pages are laid on sheets of paper: a list of sheets, each a list of sides, each a list of pages.

    A side has `per_sheet` pages, the last one maybe fewer. A sheet has one side, or two with `duplex`; the second side of
    the last sheet is left out if it would be empty. No pages give no sheets. Raises ValueError if `per_sheet` is below 1.
    """
    if per_sheet < 1:
        raise ValueError("a side has at least one page")
    pages = list(pages)
    sides = [pages[i : i + per_sheet] for i in range(0, len(pages), per_sheet)]
    count = 2 if duplex else 1
    return [sides[i : i + count] for i in range(0, len(sides), count)]
