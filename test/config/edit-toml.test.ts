import * as fc from 'fast-check';
import { parse as parseToml, type TomlTable } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { editToml, type NewValue } from '../../src/config/edit-toml.ts';

const parse = (text: string): TomlTable => parseToml(text);

const KEY = { section: 'terminal', name: 'detail' };

function edit(text: string, value: NewValue, key = KEY) {
  return editToml(text, key, value, parse);
}

describe('a key of a TOML document is set', () => {
  it.each([
    ['in an empty file', '', '[terminal]\ndetail = "short"\n'],
    ['after comments alone', '# mine\n', '# mine\n\n[terminal]\ndetail = "short"\n'],
    ['at an end without a newline', 'a = 1', 'a = 1\n\n[terminal]\ndetail = "short"\n'],
    [
      'in place of its value',
      '# one\n[terminal] # two\n  detail   =  "full"   # three\n# four\n',
      '# one\n[terminal] # two\n  detail   =  "short"   # three\n# four\n',
    ],
    [
      'below the last key of its table',
      '[terminal]\n  hints = true # yes\n\n# the rest\n[store]\nretention_days = 3\n',
      '[terminal]\n  hints = true # yes\n  detail = "short"\n\n# the rest\n[store]\nretention_days = 3\n',
    ],
    [
      'below the heading of an empty table',
      '[terminal] # mine\n[store]\n',
      '[terminal] # mine\ndetail = "short"\n[store]\n',
    ],
    [
      'with dotted keys',
      'terminal.hints = true\n',
      'terminal.hints = true\nterminal.detail = "short"\n',
    ],
    ['with quoted keys', `["terminal"]\n'detail'="full"`, `["terminal"]\n'detail'="short"`],
    [
      'with a quoted key that contains =',
      '"a=b" = 1\nterminal."detail" = 1\n',
      '"a=b" = 1\nterminal."detail" = "short"\n',
    ],
    [
      'in a file with the line ends of Windows',
      '[terminal]\r\nhints = true\r\n',
      '[terminal]\r\nhints = true\r\ndetail = "short"\r\n',
    ],
    [
      'in place of a text of several lines',
      '[terminal]\ndetail = """a\n# b\n[store]"""\nhints = true\n',
      '[terminal]\ndetail = "short"\nhints = true\n',
    ],
    [
      'in place of a list of several lines',
      '[terminal]\ndetail = [\n  "#",\n]\nhints = true\n',
      '[terminal]\ndetail = "short"\nhints = true\n',
    ],
  ])('%s', (_, before, after) => {
    expect(edit(before, 'short')).toEqual({ ok: true, text: after });
  });

  it.each<[NewValue, string]>([
    [true, 'true'],
    [0.5, '0.5'],
    [-3, '-3'],
    ['a "b"\n\u007f', String.raw`"a \"b\"\n\u007f"`],
    [['Bash(npm test:*)', 'x'], '["Bash(npm test:*)", "x"]'],
    [[], '[]'],
  ])('to %j', (value, text) => {
    expect(edit('', value)).toEqual({ ok: true, text: `[terminal]\ndetail = ${text}\n` });
  });
});

describe('a key of a TOML document is removed', () => {
  it.each([
    ['a file without it', '# mine\n[terminal]\n', '# mine\n[terminal]\n'],
    ['its line', '[terminal]\n  detail = "full"\nhints = true\n', '[terminal]\nhints = true\n'],
    ['the last line', '[terminal]\ndetail = "full"', '[terminal]\n'],
    ['a comment stays', '[terminal]\n  detail = 1 # why\n', '[terminal]\n  # why\n'],
    ['a dotted key', 'terminal.detail = 1\n', ''],
    ['lines of Windows', '[terminal]\r\ndetail = 1\r\n# x\r\n', '[terminal]\r\n# x\r\n'],
  ])('%s', (_, before, after) => {
    expect(edit(before, undefined)).toEqual({ ok: true, text: after });
  });
});

describe('a key is left to the user', () => {
  it.each([
    ['terminal = { hints = true }\n', 'terminal is an inline table'],
    ['terminal = 1\n', 'terminal is an inline table'],
    ['[terminal]\ndetail = [\n  "a", # why\n]\n', 'its value contains comments'],
    ['[[terminal]]\nhints = true\n', 'its layout is not one that can be changed safely'],
    ['[terminal.detail]\nx = 1\n', 'its layout is not one that can be changed safely'],
  ])('in %j', (before, problem) => {
    expect(edit(before, 'short')).toEqual({ ok: false, problem });
  });

  it.each(['terminal = { detail = 1 }\n', '[terminal]\ndetail.x = 1\n', '[terminal.detail]\n'])(
    'if it is removed from %j',
    (before) => {
      expect(edit(before, undefined)).toMatchObject({ ok: false });
    },
  );
});

/** TOML documents with comments, empty lines and keys in many forms. Most of them are valid. */
const names = fc.constantFrom('detail', 'hints', 'theme', '"detail"', "'hints'", 'x.y', 'other');
const values = fc.oneof(
  fc.integer({ min: -999, max: 999 }).map(String),
  fc.boolean().map(String),
  fc
    .double({ noNaN: true, noDefaultInfinity: true, min: -9, max: 9 })
    .map((each) => each.toFixed(3)),
  fc.string({ maxLength: 12 }).map((each) => JSON.stringify(each)),
  fc.constantFrom(
    "'a # b'",
    '"""\n# no\n[terminal]\ndetail = 1"""',
    "'''[x]\n= 1'''",
    '[ 1, 2 ]',
    '[\n  "a", # one\n  "[",\n]',
    '[\n  "#"\n]',
    '{ a = 1, b = "}" }',
    '1979-05-27T07:32:00Z',
  ),
);
const blanks = fc.constantFrom('', ' ', '  ', '\t');
const comments = fc.oneof(
  fc.constant(''),
  fc.constantFrom('# a comment', '#', '# [terminal]', '# detail = 1', '# "', "# '''"),
);
const assignments = fc
  .tuple(blanks, names, blanks, blanks, values, blanks, comments)
  .map(([a, name, b, c, value, d, comment]) => `${a}${name}${b}=${c}${value}${d}${comment}`);
const headings = fc
  .tuple(
    blanks,
    fc.constantFrom('[terminal]', '[ "terminal" ]', '[store]', '[terminal.sub]', '[[list]]'),
    comments,
  )
  .map(([a, heading, comment]) => `${a}${heading} ${comment}`);
const dotted = fc
  .tuple(fc.constantFrom('terminal', '"terminal"', 'store'), names, values)
  .map(([section, name, value]) => `${section}.${name} = ${value}`);
const documents = fc
  .record({
    lines: fc.array(
      fc.oneof(
        { arbitrary: assignments, weight: 4 },
        { arbitrary: headings, weight: 3 },
        { arbitrary: comments, weight: 2 },
        { arbitrary: dotted, weight: 1 },
      ),
      { maxLength: 12 },
    ),
    newline: fc.constantFrom('\n', '\r\n'),
    end: fc.constantFrom('', '\n'),
  })
  .map(({ lines, newline, end }) => lines.join('\n').replaceAll('\n', newline) + end);

/** The comments of a valid document, without those that are a part of a text. */
function commentsOf(text: string): readonly string[] {
  const tokens = /"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#[^\r\n]*/g;
  return [...text.matchAll(tokens)].flatMap(([token]) => (token.startsWith('#') ? [token] : []));
}

it('nothing but the key changes in any document, and no comment is lost', () => {
  let edits = 0;
  const newValues = fc.constantFrom<NewValue[]>(undefined, 'short', 7, true, ['a', '# b']);
  fc.assert(
    fc.property(documents, newValues, (before, value) => {
      let old: TomlTable;
      try {
        old = parse(before);
      } catch {
        // Only valid documents are edited.
        return;
      }
      const edited = edit(before, value);
      if (!edited.ok) return;
      edits += 1;
      const now = parse(edited.text);
      const withoutKey = (document: TomlTable) => {
        const { terminal = {}, ...others } = document;
        const { detail, ...rest } = terminal as Record<string, unknown>;
        return { detail, others, rest };
      };
      expect(withoutKey(now)).toEqual({ ...withoutKey(old), detail: value });
      expect(commentsOf(edited.text)).toEqual(commentsOf(before));
      // All other lines stay as they are.
      const lines = (text: string) => text.split('\n').map((line) => line.trim());
      const added = lines(edited.text).filter(
        (line) => line !== '' && !lines(before).includes(line),
      );
      expect(added.length).toBeLessThanOrEqual(2);
      // A second edit changes nothing, and the old value can be removed again.
      expect(edit(edited.text, value)).toEqual(edited);
    }),
    { numRuns: 3_000 },
  );
  expect(edits).toBeGreaterThan(300);
});
