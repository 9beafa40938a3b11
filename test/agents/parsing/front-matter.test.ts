import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { parseFrontMatter, type FrontMatter } from '../../../src/agents/parsing/front-matter.ts';
import { parseSimple } from '../../../src/agents/parsing/simple-yaml.ts';
import { splitFrontMatter } from '../../../src/agents/parsing/split-front-matter.ts';
import { parseStrict } from '../../../src/agents/parsing/strict-yaml.ts';

const KNOWN = new Set(['name', 'description', 'tools', 'model']);

function front(text: string): Promise<FrontMatter> {
  return parseFrontMatter(text, { fieldTest: () => (key) => KNOWN.has(key) });
}

/** Values and lines by key. */
async function fieldsOf(text: string): Promise<Record<string, unknown>> {
  const result = await front(text);
  if (result.kind !== 'fields') throw new Error(JSON.stringify(result));
  return Object.fromEntries([...result.fields].map(([key, { value }]) => [key, value]));
}

describe('splitting', () => {
  const found = { kind: 'found', yaml: 'name: a\n', yamlLine: 2, body: 'Hi\n' };
  test.each([
    ['plain', '---\nname: a\n---\nHi\n', found],
    ['byte order mark', '\uFEFF---\nname: a\n---\nHi\n', found],
    ['CRLF', '---\r\nname: a\r\n---\r\nHi\r\n', found],
    ['CR', '---\rname: a\r---\rHi\r', found],
    ['blanks after the fences', '--- \nname: a\n---\t\nHi\n', found],
    ['blank first lines', '\n  \n---\nname: a\n---\nHi\n', { ...found, yamlLine: 4 }],
    ['a shared indent', '  ---\n  name: a\n  ---\n\n  Hi\n', { ...found, body: '\nHi\n' }],
    ['a later fence', '---\nname: a\n---\nHi\n---\nx\n', { ...found, body: 'Hi\n---\nx\n' }],
    ['no body', '---\nname: a\n---', { ...found, body: '' }],
    ['empty', '---\n---\n', { kind: 'found', yaml: '', yamlLine: 2, body: '' }],
    ['not closed', '---\nname: a\n', { kind: 'unclosed', line: 1 }],
    ['a fence alone', '---', { kind: 'unclosed', line: 1 }],
    ['none', '# Hi\n---\nname: a\n---\n', { kind: 'none' }],
    ['four dashes', '----\nname: a\n---\n', { kind: 'none' }],
    ['an indent not shared', '  ---\nname: a\n---\n', { kind: 'none' }],
    ['nothing', '', { kind: 'none' }],
    ['blank lines', '\n\n', { kind: 'none' }],
  ])('%s', (_, text, expected) => {
    expect(splitFrontMatter(text)).toEqual(expected);
  });
});

describe('the fast path', () => {
  test('reads flat lines with their line numbers', () => {
    expect(parseSimple('name: a b\n\nmax-turns: 3\nx: true\ny: yes\n', 2)).toEqual(
      new Map([
        ['name', { value: 'a b', line: 2 }],
        ['max-turns', { value: 3, line: 4 }],
        ['x', { value: true, line: 5 }],
        ['y', { value: 'yes', line: 6 }],
      ]),
    );
  });

  test('reads quotes, lists in brackets and other letters', () => {
    const yaml = [
      String.raw`a: "say \"hi\"\n\tto \\ 'it' # no: comment"`,
      "b: 'it''s: \"so\" # far'",
      'c: [Read, web-fetch , true]',
      'd: Prüft, 日本語 – und 🎉',
    ].join('\n');
    expect([...(parseSimple(yaml, 1)?.values() ?? [])].map(({ value }) => value)).toEqual([
      'say "hi"\n\tto \\ \'it\' # no: comment',
      'it\'s: "so" # far',
      ['Read', 'web-fetch', true],
      'Prüft, 日本語 – und 🎉',
    ]);
  });

  test('reads blocks of text', () => {
    const yaml =
      'a: |\n  one: x\n    two # y\n\n  three\n\nb: >-\n  one\n  two\n\n\n  three\nc: >\n  one\n  two\n';
    expect([...(parseSimple(yaml, 1)?.entries() ?? [])]).toEqual([
      ['a', { value: 'one: x\n  two # y\n\nthree\n', line: 1 }],
      ['b', { value: 'one two\n\nthree', line: 7 }],
      ['c', { value: 'one two\n', line: 13 }],
    ]);
  });

  test('reads lists of plain values', () => {
    expect(parseSimple('tools:\n  - Read\n  - Web Fetch\nskills:\n- a\n- 3\nx: y\n', 2)).toEqual(
      new Map([
        ['tools', { value: ['Read', 'Web Fetch'], line: 2 }],
        ['skills', { value: ['a', 3], line: 5 }],
        ['x', { value: 'y', line: 8 }],
      ]),
    );
  });

  test.each([
    ['', 'nothing'],
    ['a: b: c', 'a mapping inside'],
    ['a: b #c', 'a comment'],
    ['a: b:', 'a colon at the end'],
    [String.raw`a: "\x41"`, 'an escape by number'],
    ['a: "b" # c', 'a comment behind quotes'],
    ['a: "b', 'an open quote'],
    ["a: 'b'c'", 'a quote inside'],
    ['a: [b, "c"]', 'a list with quotes'],
    ['a: [b, null]', 'a list with null'],
    ['a: []', 'an empty list'],
    ['a: {b: c}', 'a mapping'],
    ['a:', 'nothing after the key'],
    ['a:\n  b', 'a block'],
    ['a: |+\n  b', 'a block that keeps its line ends'],
    ['a: |2\n  b', 'a block with its indent given'],
    ['a: |\n\n  b', 'a block that begins with a blank line'],
    ['a: >\n  b\n   c', 'a folded block with a further indent'],
    ['a: |\n  b\n c', 'a block with less indent'],
    ['a: |\nb: c', 'an empty block'],
    ['a:\n  - b\n   - c', 'another indent'],
    ['a:\n  - b\n    c', 'a second line of an item'],
    ['a:\n  - b\n\n  - c', 'a list with a blank line'],
    ['a:\n  - b: c', 'a list of mappings'],
    ['a:\n  - - b', 'a list of lists'],
    ['a: b\n  c', 'a second line'],
    ['a: b\na: c', 'a key that stands twice'],
    ['a: null', 'null'],
    ['a: True', 'another true'],
    ['a: 1.5', 'a fraction'],
    ['a: 0x1f', 'hexadecimal'],
    ['a: 007', 'leading zeros'],
    ['a: 12345678901234567890', 'a number too large'],
    ['a: b\tc', 'a tab'],
    ['a: –b', 'a sign first'],
    ['a: b\u2028c', 'a line separator'],
    ['a: b\u0085c', 'a next line'],
  ])('leaves %j to the library: %s', (yaml) => {
    expect(parseSimple(yaml, 1)).toBeUndefined();
  });

  const piece = fc.constantFrom(
    'a',
    'true',
    'null',
    'False',
    '0',
    '7',
    '12',
    '1e3',
    '0x1',
    '0o7',
    '.',
    '-',
    '+',
    '_',
    ' ',
    ':',
    ': ',
    ' #',
    '#',
    ',',
    '*',
    '&',
    '!',
    '|',
    '>',
    "'",
    '"',
    '%',
    '@',
    '`',
    '{',
    '}',
    '[',
    ']',
    '?',
    '\t',
    '\\',
    'é',
    '~',
    '=',
    '<<',
  );
  const word = fc.array(piece, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''));
  const quoted = fc
    .tuple(
      fc.constantFrom('"', "'", '['),
      fc.array(fc.oneof(piece, fc.constantFrom('\\n', '\\"', "''", 'ü', '日', '\u2028', ', ')), {
        maxLength: 5,
      }),
      fc.constantFrom('"', "'", ']', ' ] ', '" '),
    )
    .map(([open, parts, close]) => `${open}${parts.join('')}${close}`);
  const text = fc.oneof(
    fc
      .tuple(
        fc.constantFrom('', 'a', 'b c', '1'),
        fc.oneof(word, fc.string(), fc.string({ unit: 'binary' })),
      )
      .map((parts) => parts.join('')),
    quoted,
  );
  const key = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom('name', 'true', 'null', 'y', 'A-b', 'max_turns') },
    word,
  );
  const line = fc.tuple(key, fc.constantFrom(': ', ':  ', ':'), text);
  const item = fc.tuple(fc.constantFrom('- ', '  - ', '  - ', '    -  ', ' '), text);
  const head = fc.constantFrom<string>('tools:', 'skills:', 'tools: ');
  const lines = fc
    .array(
      fc.oneof(
        line.map((parts) => [parts.join('')]),
        fc
          .tuple(
            fc.constantFrom('a: |', 'b: >', 'c: |-', 'd: >-', 'e: |+'),
            fc.array(
              fc.tuple(
                fc.constantFrom('  ', '  ', '  ', '   ', ' ', '', '    '),
                fc.oneof(fc.constant(''), text),
              ),
              { maxLength: 5 },
            ),
          )
          .map(([first, rest]) => [[first], rest.map((parts) => parts.join(''))].flat()),
        fc.tuple(head, fc.array(item, { maxLength: 3 })).map(([first, items]) => {
          return [[first], items.map((parts) => parts.join(''))].flat();
        }),
      ),
      { minLength: 1, maxLength: 4 },
    )
    .map((parts) => parts.flat());

  test('gives the same result as the library, or none', async () => {
    let read = 0;
    await fc.assert(
      fc.asyncProperty(lines, async (lines) => {
        const yaml = `${lines.join('\n')}\n`;
        const simple = parseSimple(yaml, 1);
        if (simple === undefined) return;
        read += 1;
        const strict = await parseStrict(yaml, 1);
        expect({ ok: true, fields: simple, problems: [] }).toEqual(strict);
        const plain: unknown = parse(yaml, { stringKeys: true });
        expect(Object.fromEntries([...simple].map(([k, { value }]) => [k, value]))).toEqual(plain);
      }),
      { numRuns: 4000 },
    );
    expect(read).toBeGreaterThan(0);
  });
});

describe('strictly', () => {
  test('reads YAML with the line of each key', async () => {
    const text = '---\n# who\nname: "a"\ntools:\n  - Read\n  - {x: .inf}\nmodel: ~\n---\n\n Hi \n';
    expect(await front(text)).toEqual({
      kind: 'fields',
      fields: new Map([
        ['name', { value: 'a', line: 3 }],
        ['tools', { value: ['Read', { x: 'Infinity' }], line: 4 }],
        ['model', { value: null, line: 7 }],
      ]),
      body: 'Hi',
      problems: [],
    });
  });

  test('takes the last of two equal keys, and reports it', async () => {
    expect(await front('---\nname: a\nname: b\n---\n')).toEqual({
      kind: 'fields',
      fields: new Map([['name', { value: 'b', line: 3 }]]),
      body: '',
      problems: [
        { code: 'duplicate-key', message: '`name` occurs twice; the last one counts.', line: 3 },
      ],
    });
  });

  test('an empty front matter has no fields', async () => {
    const empty = { kind: 'fields', fields: new Map(), body: 'Hi', problems: [] };
    expect(await front('---\n---\nHi')).toEqual(empty);
    expect(await front('---\n# nothing\n---\nHi')).toEqual(empty);
  });
});

describe('line by line', () => {
  test('keeps a value that a colon made invalid, and reports the line and the cause', async () => {
    const text = '---\nname: a\ndescription: Use it: often\ntools: [Read, Grep]\n---\nHi';
    const result = await front(text);
    expect(result).toEqual({
      kind: 'fields',
      fields: new Map<string, unknown>([
        ['name', { value: 'a', line: 2 }],
        ['description', { value: 'Use it: often', line: 3 }],
        ['tools', { value: ['Read', 'Grep'], line: 4 }],
      ]),
      body: 'Hi',
      problems: [
        { code: 'invalid-yaml', message: expect.stringContaining('line by line'), line: 3 },
      ],
    });
  });

  test('starts an entry at a known field only, once, and never inside an example', async () => {
    const text = [
      '---',
      'description: Use: this',
      'Note: not a field',
      '<example>',
      'model: inside',
      '</example>',
      'model: outside',
      'description: again',
      '---',
    ].join('\n');
    expect(await fieldsOf(text)).toEqual({
      description: 'Use: this\nNote: not a field\n<example>\nmodel: inside\n</example>',
      model: 'outside\ndescription: again',
    });
  });

  test('an example that is never closed hides nothing', async () => {
    const text = '---\ndescription: Use: <example>\nmodel: fast\n---\n';
    expect(await fieldsOf(text)).toEqual({ description: 'Use: <example>', model: 'fast' });
  });

  test('front matter without a known field cannot be read', async () => {
    expect(await front('---\n"a\nb: c: d\n---\n')).toEqual({
      kind: 'unreadable',
      code: 'invalid-yaml',
      message: expect.stringContaining('no line of it starts with a known field'),
      line: expect.any(Number),
    });
  });
});

describe('hostile files', () => {
  test('a __proto__ key has no special meaning', async () => {
    const text =
      '---\nname: a\n__proto__: {admin: true}\nx: {__proto__: {admin: true}, y: 1}\n---\n';
    const result = await front(text);
    if (result.kind !== 'fields') throw new Error(result.kind);
    expect(result.fields.get('__proto__')?.value).toEqual({ admin: true });
    expect(result.fields.get('x')?.value).toEqual({ y: 1 });
    expect('admin' in {}).toBe(false);
  });

  test('nested aliases that would fill the memory are read as text', async () => {
    const nine = (name: string): string => Array.from({ length: 9 }, () => `*${name}`).join(', ');
    const levels = ['ab', 'bc', 'cd', 'de', 'ef', 'fg', 'gh', 'hi'].map(
      ([from = '', to = '']) => `${to}: &${to} [${nine(from)}]`,
    );
    const text = ['---', 'name: bomb', 'a: &a [x]', ...levels, '---', ''].join('\n');
    const result = await front(text);
    expect(result.kind === 'fields' && result.problems.map(({ code }) => code)).toEqual([
      'invalid-yaml',
    ]);
    expect(JSON.stringify(await fieldsOf(text)).length).toBeLessThan(2 * text.length);
  });

  test.each([
    ['a value that refers to itself', 'name: a\nx: &x [*x, *x]'],
    ['deep nesting', `name: a\nx: ${'['.repeat(50_000)}`],
    ['deep closed nesting', `name: a\nx: ${'['.repeat(200)}${']'.repeat(200)}`],
    ['a key that is a list', 'name: a\n? [x, y]\n: z'],
    ['a second document', 'name: a\n...\nb: c'],
    ['very many values', `name: a\nx: [${'1,'.repeat(120_000)}]`],
    ['very many lines', `name: a\n${'b: [c]\n'.repeat(60_000)}`],
  ])('%s leaves the name readable', async (_, yaml) => {
    const fields = await fieldsOf(`---\n${yaml}\n---\n`);
    expect(String(fields['name']).startsWith('a')).toBe(true);
  });

  test('front matter over 2 MB is refused', async () => {
    expect(await front(`---\nname: ${'a'.repeat(2 * 1024 * 1024)}\n---\n`)).toEqual({
      kind: 'unreadable',
      code: 'front-matter-too-large',
      message: 'The front matter is larger than 2097152 characters.',
      line: 2,
    });
  });

  test('a description of 1 MB is kept in full', async () => {
    const long = `"${'very '.repeat(200_000)}long"`;
    const fields = await fieldsOf(`---\nname: a\ndescription: ${long}\n---\n`);
    expect(fields['description']).toHaveLength(1_000_004);
  });

  test('never throws, whatever the text', async () => {
    const part = fc.constantFrom(
      '---',
      '\n',
      'name',
      ':',
      ' ',
      '- ',
      '[',
      '{',
      '&a',
      '*a',
      '!!binary',
      '"',
      "'",
      '|',
      '\u0000',
      '\uFEFF',
      '\r\n',
      '\t',
      '__proto__',
      '<<',
      '<example>',
      '%YAML 9.9',
      '? ',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 30 }), async (parts) => {
        await front(`---\n${parts.join('')}\n---\nHi`);
      }),
      { numRuns: 500 },
    );
  });
});
