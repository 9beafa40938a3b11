"""Runs the tests against right versions, which they must accept, and against wrong ones, which they must refuse."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
SOURCE = (HERE / "pages.txt").read_text()
TESTS = HERE.parent / "tests"

# The name of a version, and pairs of a text that occurs once and what replaces it.
RIGHT = [
    ("the given module",),
    ("other messages", '"a document has at least one page"', '"no"', '"there is no page 0"', '"zero"', '"a page comes twice"', '"twice"'),
    ("a subclass of the error", "class RangeError(ValueError):", "class _Base(ValueError):\n    pass\n\n\nclass RangeError(_Base):"),
    ("other helpers", "_run_end(pages, index, 1)", "_run(pages, index, 1)", "_run_end(pages, index, -1)", "_run(pages, index, -1)", "def _run_end(", "def _run("),
]

WRONG = [
    ("a document without pages", "if last < 1:", "if last < 0:"),
    ("one page is refused", "if last < 1:", "if last < 2:"),
    ("a wrong last is a RangeError", 'raise ValueError("a document has at least one page")', 'raise RangeError("no", 0)'),
    ("an empty text is nothing", "        return list(range(1, last + 1))\n", "        return []\n"),
    ("only the really empty text is all", 'if text.strip(" ") == "":', 'if text == "":'),
    ("a tab is blank", 'if text.strip(" ") == "":', 'if text.strip() == "":'),
    ("a tab is skipped", 'and text[position] == " ":', 'and text[position].isspace():'),
    ("pages come twice", "    pages = {}\n", "    pages = _Many()\n", "def _skip(", "class _Many(list):\n    def setdefault(self, page):\n        self.append(page)\n\n\ndef _skip("),
    ("pages are sorted", "return list(pages)\n\n\ndef _parse_part", "return sorted(pages)\n\n\ndef _parse_part"),
    ("the later place counts", "pages.setdefault(page)", "pages.pop(page, None)\n            pages[page] = None"),
    ("the position within the part", "_parse_part(text, start, start + len(part), last)", "_parse_part(part, 0, len(part), last)"),
    ("positions are one less after a comma", "start += len(part) + 1", "start += len(part)"),
    ("all in lower case only", '.rstrip(" ").lower() == "all"', '.rstrip(" ") == "all"'),
    ("no blanks behind all", 'text[position:end].rstrip(" ").lower()', "text[position:end].lower()"),
    ("no blanks at the start of a part", "    position = _skip(text, start, end)\n    if text", "    position = start\n    if text"),
    ("no blanks before a hyphen", "    position = _skip(text, position, end)\n    if position < end and text", "    if position < end and text"),
    ("no blanks behind a hyphen", "position = _skip(text, position + 1, end)", "position += 1"),
    ("no blanks behind a range", "        second, second_at, position = _number(text, position, end)\n        position = _skip(text, position, end)\n", "        second, second_at, position = _number(text, position, end)\n"),
    ("a hyphen alone is all pages", "if first is None and second is None:", "if False:", "return range(1, min(second, last) + 1)", "return range(1, min(second or last, last) + 1)"),
    ("the position of the hyphen", "min(hyphen_at + 1, end)", "hyphen_at"),
    ("an empty part is ignored", 'raise RangeError("a page is missing", position)', "return []"),
    ("an empty part is at its start", 'raise RangeError("a page is missing", position)', 'raise RangeError("a page is missing", start)'),
    ("what follows is ignored", "    if position < end:\n        raise", "    if False:\n        raise"),
    ("page 0 is 1", "        if number == 0:\n            raise RangeError", "        if number is None:\n            continue\n        if number < 0:\n            raise RangeError"),
    ("page 0 only as the first number", "for number, at in ((first, first_at), (second, second_at)):", "for number, at in ((first, first_at),):"),
    ("page 0 at the start of the part", '"there is no page 0", at)', '"there is no page 0", start)'),
    ("-3 begins at 2", "return range(1, min(second, last) + 1)", "return range(2, min(second, last) + 1)"),
    ("-9 goes beyond the last page", "return range(1, min(second, last) + 1)", "return range(1, second + 1)"),
    ("8- beyond the last page is nothing", "        if first > last:\n            raise", "        if False:\n            raise"),
    ("8- at the last page is an error", "        if first > last:\n            raise", "        if first >= last:\n            raise"),
    ("8- ends before the last page", "return range(first, last + 1)", "return range(first, last)"),
    ("one number beyond is an error", "if first > last and second > last:", "if first > last or second > last:"),
    ("a range beyond is nothing", "if first > last and second > last:", "if False:"),
    ("the position of the second number", '    if first > last and second > last:\n        raise RangeError("beyond the last page", first_at)', '    if first > last and second > last:\n        raise RangeError("beyond the last page", second_at)'),
    ("3-9 goes beyond the last page", "    if first <= second:\n        return range(first, min(second, last) + 1)", "    if first <= second:\n        return range(first, second + 1)"),
    ("9-3 goes beyond the last page", "range(min(first, last), second - 1, -1)", "range(first, second - 1, -1)"),
    ("9-3 gives 3 to 9", "return range(min(first, last), second - 1, -1)", "return range(second, min(first, last) + 1)"),
    ("3-3 is nothing", "    if first <= second:\n", "    if first < second:\n", "range(min(first, last), second - 1, -1)", "range(min(first, last), second, -1)"),
    ("other digits", 'text[position] in "0123456789"', "text[position].isdigit()"),
    ("leading zeros are octal", "int(text[start:position])", "int(text[start:position], 8 if text[start] == '0' and position > start + 1 else 10)"),
    ("leading zeros are refused", "    return int(text[start:position]), start, position", "    if text[start] == '0' and position > start + 1:\n        raise RangeError('zero', start)\n    return int(text[start:position]), start, position"),
    ("write accepts a page twice", "if len(set(pages)) < len(pages):", "if False:"),
    ("write accepts a page 0", "page < 1 for page", "page < 0 for page"),
    ("write sorts", "    pages = list(pages)\n    if len(set", "    pages = sorted(pages)\n    if len(set"),
    ("write never goes down", "        if end == index:\n            end = _run_end(pages, index, -1)\n", ""),
    ("write uses a range from four pages on", "if end - index >= 2:", "if end - index >= 3:"),
    ("write loses the page behind a range", "            index = end + 1\n", "            index = end + 2\n"),
    ("write repeats the end of a range", "            index = end + 1\n", "            index = end\n"),
    ("write needs a list", "    pages = list(pages)\n    if len(set", "    if len(set"),
    ("write puts blanks", '    return ",".join(parts)', '    return ", ".join(parts)'),
    ("sides without pages are allowed", "    if per_sheet < 1:\n        raise ValueError(\"a side has at least one page\")\n", "    per_sheet = max(per_sheet, 1)\n"),
    ("one page on a side is refused", "if per_sheet < 1:", "if per_sheet < 2:"),
    ("the last side is left out", "for i in range(0, len(pages), per_sheet)]", "for i in range(0, len(pages) - len(pages) % per_sheet, per_sheet)]"),
    ("the last side is always full", "sides = [pages[i : i + per_sheet] for i", "sides = [(pages[i : i + per_sheet] + [None] * per_sheet)[:per_sheet] for i"),
    ("duplex is the default", "duplex=False", "duplex=True"),
    ("never duplex", "count = 2 if duplex else 1", "count = 1"),
    ("an empty second side", "return [sides[i : i + count] for i in range(0, len(sides), count)]", "return [(sides[i : i + count] + [[]])[:count] for i in range(0, len(sides), count)]"),
    ("sheets needs a list", "    pages = list(pages)\n    sides", "    sides"),
]


def build(version):
    name, *replacements = version
    text = SOURCE
    for old, new in zip(replacements[::2], replacements[1::2]):
        if text.count(old) != 1:
            sys.exit(f"{name}: this text does not occur once: {old!r}")
        text = text.replace(old, new)
    return text


def passes(version):
    with tempfile.TemporaryDirectory() as directory:
        shutil.copytree(TESTS, os.path.join(directory, "tests"))
        (pathlib.Path(directory) / "pages.py").write_text(build(version))
        code = "import sys, unittest; p = unittest.main('tests.test_pages', exit=False, failfast=True); sys.stdout = sys.__stdout__; print('VERDICT', p.result.testsRun > 0 and p.result.wasSuccessful())"
        try:
            end = subprocess.run([sys.executable, "-B", "-c", code], cwd=directory, capture_output=True, text=True, timeout=15)
        except subprocess.TimeoutExpired:
            return False
        return end.stdout.splitlines()[-1:] == ["VERDICT True"]


def main():
    refused = [name for name, *rest in RIGHT if not passes((name, *rest))]
    for name in refused:
        print(f"the tests fail with a right version: {name}")
    accepted = [] if refused else [name for name, *rest in WRONG if passes((name, *rest))]
    for name in accepted:
        print(f"the tests pass although: {name}")
    return 1 if refused or accepted else 0


sys.exit(main())
