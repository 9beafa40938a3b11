import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/base/json.ts';
import { builtinTools } from '../../../src/tools/index.ts';
import { makeWorkspace, tool } from '../workspace.ts';

/** The shortest valid call of each tool. */
const SHORTEST: Readonly<Record<string, JsonObject>> = {
  Read: { file_path: 'a' },
  Write: { file_path: 'a', content: '' },
  Edit: { file_path: 'a', old_string: 'x', new_string: 'y' },
  MultiEdit: { file_path: 'a', edits: [{ old_string: 'x', new_string: 'y' }] },
  LS: {},
  Glob: { pattern: '*' },
  Grep: { pattern: 'x' },
  Bash: { command: 'true' },
  TodoWrite: { todos: [{ content: 'a', status: 'pending' }] },
  WebFetch: { url: 'https://example.org' },
  HttpRequest: { url: 'https://example.org' },
  MemoryList: {},
  MemoryRead: { file: 'a' },
  MemoryWrite: { file: 'a', text: '' },
  MemoryPatch: { file: 'a', old: 'x', new: 'y' },
  MemoryAppend: { file: 'a', text: '' },
  MemoryDelete: { file: 'a' },
  CurrentTime: {},
  Sleep: { seconds: 0 },
  GetEnv: {},
  SetEnv: { name: 'A' },
  JsonParse: { text: '1' },
  JsonStringify: { value: '1' },
  Base64Encode: { text: '' },
  Base64Decode: { text: '' },
  FileInfo: { file_path: 'a' },
  MoveFile: { source: 'a', destination: 'b' },
  DeleteFile: { file_path: 'a' },
  PatchFiles: { patch: '*** Begin Patch\n*** Delete File: a\n*** End Patch' },
  FindPlaces: { question: 'what' },
};

/** The fields that accept values of other types, which become texts. */
const ANY_VALUE = new Set(['JsonStringify.value', 'HttpRequest.headers', 'HttpRequest.json']);

const TOOLS = builtinTools().map(({ name }) => name);

interface PropertySchema {
  readonly type: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** The fields of a tool that are sent to the model. */
function listed(name: string): Readonly<Record<string, PropertySchema>> {
  const schema: { properties?: unknown } = tool(name).inputSchema;
  return schema.properties as Readonly<Record<string, PropertySchema>>;
}

function isRequired(name: string, field: string): boolean {
  return Object.hasOwn(SHORTEST[name] ?? {}, field);
}

describe.each(TOOLS)('%s', (name) => {
  const shortest = SHORTEST[name] ?? {};
  const parse = (input: JsonObject) => tool(name).parse(input);
  const fields = Object.entries(listed(name));

  test('accepts its shortest call', () => {
    expect(parse(shortest)).toMatchObject({ ok: true });
  });

  test('refuses an unknown argument and names the valid ones', () => {
    const parsed = parse({ ...shortest, colour: 'red', Farbe: null });
    const issue = parsed.ok ? '' : (parsed.issues[0] ?? '');
    expect(issue).toMatch(/^colour, Farbe: are not arguments; (?:valid: |there are none)/);
    for (const [field] of fields) expect(issue).toContain(field);
  });

  test('accepts an explanation, which changes nothing', () => {
    const explained = parse({ ...shortest, explanation: 'to see what is there' });
    expect(explained).toEqual(parse(shortest));
  });

  test('treats an empty text in an optional field as absent', () => {
    for (const [field] of fields.filter(([each]) => !isRequired(name, each))) {
      if (name === 'SetEnv') continue;
      expect([field, parse({ ...shortest, [field]: '' })]).toEqual([field, parse(shortest)]);
      expect([field, parse({ ...shortest, [field]: null })]).toEqual([field, parse(shortest)]);
    }
  });

  test('replaces a number out of range by the nearest valid one and says so', () => {
    for (const [field, { type, minimum, maximum }] of fields) {
      if (type !== 'integer' && type !== 'number') continue;
      const low = (minimum ?? 0) - 1;
      for (const given of maximum === undefined ? [low] : [low, maximum + 1]) {
        const parsed = parse({ ...shortest, [field]: given });
        expect(parsed).toMatchObject({ ok: true });
        expect(parsed.ok && parsed.notes).toEqual([
          expect.stringMatching(new RegExp(`^${field}: ${given} (is (above|below)|counts as)`)),
        ]);
      }
    }
  });

  test('reports a value of the wrong type', () => {
    for (const [field] of fields) {
      const value = { nothing: 'of the sort' };
      const parsed = parse({ ...shortest, [field]: value });
      if (ANY_VALUE.has(`${name}.${field}`)) continue;
      expect(parsed.ok ? [] : parsed.issues).toEqual([
        expect.stringMatching(new RegExp(`^${field}: is of the wrong type: `)),
      ]);
    }
  });

  test('accepts the names of its fields in any case and with any separator', () => {
    for (const [field, value] of Object.entries(shortest)) {
      const camel = field.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
      const others = Object.fromEntries(Object.entries(shortest).filter(([key]) => key !== field));
      expect(parse({ ...others, [camel]: value ?? null })).toEqual(parse(shortest));
    }
  });
});

test('the table above has every tool', () => {
  expect(TOOLS.toSorted()).toEqual(Object.keys(SHORTEST).toSorted());
});

test('a call with an unknown argument never runs', () => {
  const known = (name: string, key: string): boolean => {
    const parsed = tool(name).parse({ ...SHORTEST[name], [key]: 'x' });
    return parsed.ok || !parsed.issues.some((issue) => issue.includes('not an argument'));
  };
  const anything = fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<JsonValue>;
  fc.assert(
    fc.property(
      fc.constantFrom(...TOOLS),
      fc.string({ minLength: 1, maxLength: 12 }),
      anything,
      (name, key, value) => {
        fc.pre(!known(name, key));
        const parsed = tool(name).parse({ ...SHORTEST[name], [key]: value });
        expect(parsed.ok).toBe(false);
      },
    ),
    { numRuns: 2000 },
  );
});

test('the same holds for the objects in a list', () => {
  const item = { old_string: 'x', new_string: 'y', colour: 'red' };
  expect(tool('MultiEdit').parse({ file_path: 'a', edits: [item] })).toEqual({
    ok: false,
    issues: [
      'edits.0.colour: is not an argument; valid: old_string, new_string, replace_all, expected_replacements, cell_id, cell_type, edit_mode',
    ],
  });
  const todo = { content: 'a', status: 'pending', priority: 'high', id: '1' };
  expect(tool('TodoWrite').parse({ todos: [todo] })).toEqual({
    ok: true,
    input: { todos: [{ content: 'a', status: 'pending' }] },
  });
});

/** Calls as models write them for Claude Code, Codex, Gemini CLI, opencode, Cline, Cursor and Copilot. */
test.each<[string, JsonObject, JsonObject]>([
  ['Read', { absolute_path: 'a', limit: 5 }, { file_path: 'a', limit: 5 }],
  ['Read', { target_file: 'a' }, { file_path: 'a' }],
  ['Read', { filePath: 'a', startLine: 2, endLine: 3 }, { file_path: 'a', offset: 2, end_line: 3 }],
  [
    'Read',
    { command: 'view', path: 'a', view_range: [1, 2] },
    { file_path: 'a', view_range: [1, 2] },
  ],
  ['Write', { path: 'a', file_text: 'x' }, { file_path: 'a', content: 'x' }],
  [
    'Edit',
    {
      file_path: 'a',
      old_string: 'x',
      new_string: 'y',
      expected_replacements: 2,
      instruction: 'z',
    },
    { file_path: 'a', old_string: 'x', new_string: 'y', expected_replacements: 2 },
  ],
  [
    'Edit',
    { filePath: 'a', oldString: 'x', newString: 'y', replaceAll: true },
    { file_path: 'a', old_string: 'x', new_string: 'y', replace_all: true },
  ],
  ['Grep', { pattern: 'x', include: '*.ts' }, { pattern: 'x', glob: '*.ts' }],
  ['Grep', { pattern: 'x', case_sensitive: false }, { pattern: 'x', ignore_case: true }],
  ['Grep', { pattern: 'x', '-n': true, '-A': 1 }, { pattern: 'x', after: 1 }],
  ['Grep', { query: 'x', includePattern: '*.ts', isRegexp: true }, { pattern: 'x', glob: '*.ts' }],
  ['Grep', { pattern: 'x', head_limit: 5, offset: 0 }, { pattern: 'x', head_limit: 5 }],
  ['Glob', { glob_pattern: '*.ts', target_directory: 'src' }, { pattern: '*.ts', path: 'src' }],
  ['LS', { dir_path: 'src', recursive: false }, { path: 'src' }],
  [
    'Bash',
    { command: 'ls', workdir: 'a', timeout_ms: 5 },
    { command: 'ls', workdir: 'a', timeout: 5 },
  ],
  ['Bash', { cmd: 'ls', isBackground: false }, { command: 'ls', run_in_background: false }],
  ['Bash', { command: 'ls', dangerouslyDisableSandbox: false }, { command: 'ls' }],
  [
    'TodoWrite',
    { explanation: 'why', plan: [{ step: 'a', status: 'pending' }] },
    { todos: [{ content: 'a', status: 'pending' }] },
  ],
])('%s accepts %j', (name, given, expected) => {
  expect(tool(name).parse(given)).toEqual({ ok: true, input: expected });
});

test.each<[string, JsonObject, string]>([
  ['Bash', { dangerouslyDisableSandbox: true }, 'dangerouslyDisableSandbox: is not available here'],
  ['Bash', { requires_approval: true }, 'requires_approval: is not available here'],
  ['Bash', { shell: 'zsh' }, 'shell: is not available here'],
  ['Bash', { env: { A: '1' } }, 'env: is not an argument'],
  ['Grep', { offset: 10 }, 'offset: is not available here; leave it out (it acts as 0)'],
  ['Grep', { exclude_pattern: '*.js' }, 'exclude_pattern: is not an argument'],
  ['Read', { pages: '1-3' }, 'pages: is not an argument'],
  ['Read', { encoding: 'latin1' }, 'encoding: is not available here'],
  ['LS', { ignore: ['node_modules'] }, 'ignore: is not an argument'],
  ['LS', { recursive: true }, 'recursive: is not available here; leave it out (it acts as false)'],
  ['Write', { append: true }, 'append: is not available here'],
  ['Glob', { limit: 5 }, 'limit: is not an argument; valid: pattern, path'],
])('%s refuses %j', (name, extra, issue) => {
  const parsed = tool(name).parse({ ...SHORTEST[name], ...extra });
  expect(parsed.ok ? [] : parsed.issues).toEqual([expect.stringContaining(issue)]);
});

test.each<[JsonObject, string]>([
  [{ offset: 2, end_line: 3 }, '2\tb\n3\tc'],
  [{ view_range: [3, 4] }, '3\tc\n4\td'],
  [{ view_range: [4, -1] }, '4\td\n5\te'],
  [{ end_line: 1 }, '1\ta'],
  [{ offset: 4, limit: 2, end_line: 5 }, '4\td\n5\te'],
  [{ offset: 3, end_line: 2 }, 'end_line: line 2 comes before the first line, 3'],
  [{ limit: 3, end_line: 2 }, 'end_line: limit gives another number of lines; send one of them'],
  [
    { view_range: [1, 2], limit: 1 },
    'view_range: another argument gives the lines, too; send one of them',
  ],
  [
    { view_range: [1] },
    'view_range: is not a range of lines; valid: [first, last], from 1, last -1: all',
  ],
])('Read %j', async (range, expected) => {
  const at = makeWorkspace();
  at.write('a.txt', 'a\nb\nc\nd\ne\n');
  const { text } = await at.call('Read', { file_path: 'a.txt', ...range });
  expect(text.split('\n[')[0]).toBe(expected);
});

test.each<[number, string]>([
  [2, 'Edited a.txt: 2 replacements at lines 1, 2.'],
  [
    3,
    'a.txt: old_string occurs 2 times, at lines 1, 2, and expected_replacements is 3. Nothing was changed.',
  ],
  [
    1,
    'a.txt: old_string occurs 2 times, at lines 1, 2, and expected_replacements is 1. Nothing was changed.',
  ],
])(
  'Edit replaces as often as %i was expected, or not at all',
  async (expected_replacements, text) => {
    const at = makeWorkspace();
    at.write('a.txt', 'x\nx\n');
    await at.call('Read', { file_path: 'a.txt' });
    const edit = { file_path: 'a.txt', old_string: 'x', new_string: 'y', expected_replacements };
    expect((await at.call('Edit', edit)).text).toBe(text);
  },
);
