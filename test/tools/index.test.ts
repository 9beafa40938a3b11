import { expect, test } from 'vitest';
import {
  CORE_TOOLS,
  MEMORY_TOOLS,
  CODE_SEARCH,
  TOOL_NAMES,
} from '../../src/protocol/tool-names.ts';
import { PATCH_TOOL } from '../../src/protocol/file-tools.ts';
import { NO_ACCESS } from '../../src/protocol/permission.ts';
import { builtinTools } from '../../src/tools/index.ts';
import { tool } from './workspace.ts';

const NAMES = [
  'Read',
  'Write',
  'Edit',
  'MultiEdit',
  'LS',
  'Glob',
  'Grep',
  'Bash',
  'TodoWrite',
  'WebFetch',
];

/** Tools that a definition asks for by name; no agent has them by default. */
const UTILITY = [
  'CurrentTime',
  'Sleep',
  'GetEnv',
  'SetEnv',
  'JsonParse',
  'JsonStringify',
  'Base64Encode',
  'Base64Decode',
  'FileInfo',
  'MoveFile',
  'DeleteFile',
];

function requestBytes(names: readonly string[]): number {
  const chosen = builtinTools().filter(({ name }) => names.includes(name));
  return JSON.stringify(
    chosen.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
  ).length;
}

test('the tools are in the order of a request', () => {
  const all: readonly string[] = [
    ...NAMES,
    'HttpRequest',
    ...MEMORY_TOOLS,
    ...UTILITY,
    CODE_SEARCH,
    PATCH_TOOL,
  ];
  expect(builtinTools().map(({ name }) => name)).toEqual(all);
  expect(TOOL_NAMES.filter((name) => all.includes(name))).toEqual(all);
  expect(CORE_TOOLS.filter((name) => all.includes(name))).toEqual(NAMES);
});

test('the definitions sent to the model stay small', () => {
  expect(requestBytes(NAMES)).toBeLessThanOrEqual(4500);
  expect(requestBytes(['Read', 'LS', 'Glob', 'Grep'])).toBeLessThanOrEqual(1800);
  expect(requestBytes(['Bash'])).toBeLessThanOrEqual(650);
  expect(requestBytes(UTILITY)).toBeLessThanOrEqual(2750);
  expect(requestBytes(['HttpRequest'])).toBeLessThanOrEqual(520);
  expect(requestBytes([CODE_SEARCH])).toBeLessThanOrEqual(550);
});

test('a schema is plain JSON Schema of an object, without lower bounds and empty lists', () => {
  expect(tool('Read').inputSchema).toEqual({
    type: 'object',
    properties: {
      file_path: { type: 'string' },
      offset: { type: 'integer', description: 'first line, from 1' },
      limit: { type: 'integer' },
      column: { type: 'integer' },
    },
    required: ['file_path'],
  });
  expect(tool('LS').inputSchema).toEqual({
    type: 'object',
    properties: { path: { type: 'string', description: 'default: working directory' } },
  });
});

test.each([
  ['Read', { path: 'a', offset: '3', limit: null }, { file_path: 'a', offset: 3 }],
  ['Read', { file_path: 'a', path: 'a' }, { file_path: 'a' }],
  ['Bash', { cmd: 'ls' }, { command: 'ls' }],
  [
    'Grep',
    { pattern: 'x', '-i': 'true', '-C': 2 },
    { pattern: 'x', ignore_case: true, context: 2 },
  ],
  [
    'MultiEdit',
    { filePath: 'a', edits: '[{"oldString":"x","newString":"y","replaceAll":true}]' },
    { file_path: 'a', edits: [{ old_string: 'x', new_string: 'y', replace_all: true }] },
  ],
  [
    'TodoWrite',
    { todos: [{ content: 'a', status: 'pending', activeForm: 'doing a' }] },
    { todos: [{ content: 'a', status: 'pending' }] },
  ],
])('%s accepts %j', (name, given, expected) => {
  expect(tool(name).parse(given)).toEqual({ ok: true, input: expected });
});

test.each([
  ['Read', {}, ['file_path: is missing; valid: string, not empty']],
  ['Read', { file_path: '' }, ['file_path: is empty; valid: string, not empty']],
  [
    'Read',
    { file_path: 'a', path: 'b' },
    ['path: means file_path, which is given as well; send one of them'],
  ],
  [
    'Read',
    { file_path: 'a', offset: 1.5 },
    ['offset: is of the wrong type: 1.5; valid: integer of at least 1'],
  ],
  ['Read', { file_path: 7 }, ['file_path: is of the wrong type: 7; valid: string, not empty']],
  ['Read', { __proto__: { file_path: 'a' } }, ['file_path: is missing; valid: string, not empty']],
  [
    'Bash',
    { command: 'a', timeout: 'long' },
    ['timeout: is of the wrong type: "long"; valid: integer of at least 1 and at most 600000'],
  ],
  [
    'TodoWrite',
    { todos: [{ content: 'a', status: 'later' }, 3] },
    [
      'todos.0.status: is not known: "later"; valid: pending, in_progress, completed',
      'todos.1: is of the wrong type: 3; valid: object with content, status',
    ],
  ],
  ['MultiEdit', { file_path: 'a', edits: [] }, ['edits: is empty; valid: list, not empty']],
  ['LS', 'src', ['input: is not an object; valid: an object of arguments']],
])('%s refuses %j', (name, given, issues) => {
  expect(tool(name).parse(given)).toEqual({ ok: false, issues });
});

test.each([
  ['Read', { file_path: 'a/../b' }, { reads: ['/w/b'] }],
  ['Write', { file_path: '/x/y', content: '' }, { writes: ['/x/y'] }],
  [
    'Edit',
    { file_path: 'a', old_string: 'x', new_string: 'y' },
    { reads: ['/w/a'], writes: ['/w/a'] },
  ],
  ['LS', {}, { reads: ['/w'] }],
  ['Glob', { pattern: '*.ts' }, { reads: ['/w'] }],
  ['Glob', { pattern: '../other/**/*.ts', path: 'src' }, { reads: ['/w/other'] }],
  ['Glob', { pattern: '/etc/*' }, { reads: ['/etc'] }],
  ['Grep', { pattern: 'x', path: 'src' }, { reads: ['/w/src'] }],
  ['FindPlaces', { question: 'x', path: 'src' }, { reads: ['/w/src'] }],
  ['Bash', { command: 'rm -rf /' }, { commands: ['rm -rf /'] }],
  ['TodoWrite', { todos: [] }, {}],
])('%s %j describes its access', (name, input, access) => {
  const parsed = tool(name).parse(input);
  expect(parsed.ok && tool(name).describe?.(parsed.input, { cwd: '/w' })).toEqual({
    ...NO_ACCESS,
    ...access,
  });
});
