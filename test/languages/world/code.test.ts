import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { envelopeOf, runMuster } from '../../e2e/muster.ts';
import { needs } from '../../needs.ts';
import { call, runCalls } from './code-world.ts';

const PROGRAMS = resolve(import.meta.dirname, '../../../node_modules');
const TSCONFIG =
  '{"compilerOptions":{"strict":true,"noEmit":true,"module":"nodenext","types":[]},"include":["src"]}\n';
const FILES = {
  'tsconfig.json': TSCONFIG,
  'src/a.ts': 'export function add(a: number, b: number): number {\n  return a + b;\n}\n',
  'src/b.ts': 'import { add } from "./a.js";\n\nexport const total = add(1, 2);\n',
};
const RENAME = { action: 'rename', file_path: 'src/a.ts', symbol: 'add', new_name: 'sum' };

it('Code answers questions and renames a symbol in all files', async () => {
  const { results, run, left } = await runCalls({
    files: FILES,
    calls: [
      call('Code', { action: 'definition', file_path: 'src/b.ts', symbol: 'add', line: 3 }),
      call('Code', { action: 'references', file_path: 'src/a.ts', symbol: 'add' }),
      call('Code', { action: 'symbols', file_path: 'src/a.ts' }),
      call('Code', { action: 'symbols', symbol: 'total' }),
      call('Code', { action: 'diagnostics', file_path: 'src/a.ts' }),
      call('Code', RENAME),
      call('Code', { action: 'definition', file_path: 'src/b.ts', symbol: 'sum' }),
      call('Edit', { file_path: 'src/b.ts', old_string: 'sum(1, 2)', new_string: 'sum(1)' }),
      call('Code', { ...RENAME, symbol: 'nothing' }),
      call('Code', { action: 'references', file_path: 'src/a.ts' }),
    ],
  });
  expect(run).toMatchObject({ code: 0, stderr: '' });
  expect(left).toEqual([]);
  expect(results).toEqual([
    'src/a.ts:1  export function add(a: number, b: number): number {',
    `src/a.ts:1  export function add(a: number, b: number): number {
src/b.ts:1  import { add } from "./a.js";
src/b.ts:3  export const total = add(1, 2);`,
    'src/a.ts:1  add (function)',
    'src/b.ts:3  total (variable)',
    'No problems (tsc).',
    'Renamed add to sum in 2 files: src/a.ts, src/b.ts.',
    'src/a.ts:1  export function sum(a: number, b: number): number {',
    'src/b.ts has not been read in this task: Read it first.',
    'nothing does not stand in src/a.ts: Read the file first.',
    'Code: symbol: is missing; references needs it',
  ]);
  const { receipt, files_modified: modified } = envelopeOf(run).data;
  expect(modified).toHaveLength(2);
  expect(receipt.filesChanged.map(({ path }) => path)).toEqual(modified);
});

it('a rename needs the rights of Edit for each file', async () => {
  const denied = await runCalls({
    files: FILES,
    calls: [call('Code', RENAME)],
    flags: ['--deny', 'Edit(src/b.ts)'],
  });
  expect(denied.results).toEqual([expect.stringContaining('The deny rule `Edit(src/b.ts)`')]);
  expect(envelopeOf(denied.run).data.files_modified).toEqual([]);
  const hidden = await runCalls({
    files: FILES,
    calls: [call('Code', { ...RENAME, action: 'references' })],
    flags: ['--deny', 'Read(src/b.ts)'],
  });
  expect(hidden.results).toEqual([
    'src/a.ts:1  export function add(a: number, b: number): number {',
  ]);
  const planning = await runCalls({
    files: FILES,
    calls: [call('Code', RENAME)],
    flags: ['--permission-mode', 'plan'],
  });
  expect(planning.results).toEqual([
    expect.stringContaining("Edit is not one of this task's tools"),
  ]);
  expect(envelopeOf(planning.run).data.files_modified).toEqual([]);
});

it('a problem that a change causes in another open file is reported, too', async () => {
  const { results } = await runCalls({
    files: FILES,
    calls: [
      call('Read', { file_path: 'src/b.ts' }),
      call('Edit', { file_path: 'src/b.ts', old_string: 'total', new_string: 'all' }),
      call('Read', { file_path: 'src/a.ts' }),
      call('Edit', {
        file_path: 'src/a.ts',
        old_string: 'a: number, b',
        new_string: 'a: string, b',
      }),
    ],
  });
  expect(results.at(-1)).toBe(`Edited src/a.ts: 1 replacement at line 1.
New problems in src/a.ts (tsc):
  2:3 error: Type 'string' is not assignable to type 'number'. [2322]
New problems in src/b.ts (tsc):
  3:24 error: Argument of type 'number' is not assignable to parameter of type 'string'. [2345]`);
});

it('files are formatted as the settings of the project say, and the next edit is not stale', async () => {
  const scene = {
    files: { '.oxfmtrc.json': '{"singleQuote":true}\n', 'a.ts': "const a = 'x';\n" },
    calls: [
      call('Write', { file_path: 'b.ts', content: 'const b   = "x"\nconst c = 2\n' }),
      call('Edit', { file_path: 'b.ts', old_string: "'x';", new_string: "'y';" }),
      call('Read', { file_path: 'a.ts' }),
      call('Edit', { file_path: 'a.ts', old_string: "'x'", new_string: "'y'" }),
    ],
    prepare: (workspace: string) => {
      symlinkSync(PROGRAMS, `${workspace}/node_modules`);
      return Promise.resolve();
    },
  };
  const trusted = await runCalls({
    ...scene,
    flags: ['--trust-project'],
    env: { PATH: '/usr/bin:/bin' },
  });
  const [written, edited, , own] = trusted.results;
  expect([written, edited, own]).toEqual([
    'Created b.ts: 2 lines.\nb.ts was formatted by oxfmt: 2 lines.',
    'Edited b.ts: 1 replacement at line 1.',
    'Edited a.ts: 1 replacement at line 1.',
  ]);
  const untrusted = await runCalls({ ...scene, env: { PATH: '/usr/bin:/bin' } });
  expect(untrusted.results[0]).toBe('Created b.ts: 2 lines.');
  const off = await runCalls({
    ...scene,
    flags: ['--trust-project'],
    env: { PATH: '/usr/bin:/bin', MUSTER_CODE_FORMAT: 'false' },
  });
  expect(off.results[0]).toBe('Created b.ts: 2 lines.');
});

it('without a language server the configured commands check the project', async () => {
  const { results, run } = await runCalls({
    files: {
      'a.sh': 'old\nfi\n',
      'check.sh': 'grep -n bad *.sh | sed "s/\\([^:]*:[0-9]*\\):/\\1: error: /"; exit 1\n',
    },
    calls: [
      call('Read', { file_path: 'a.sh' }),
      call('Edit', { file_path: 'a.sh', old_string: 'old', new_string: 'new\nbad line' }),
      call('Edit', { file_path: 'a.sh', old_string: 'new\n', new_string: '' }),
      call('Write', { file_path: 'notes.md', content: 'bad\n' }),
    ],
    env: { MUSTER_CODE_CHECK: '["sh check.sh"]' },
  });
  expect(run.code).toBe(0);
  expect(results.slice(1)).toEqual([
    `Edited a.sh: 1 replacement at line 1.
New problems in a.sh (sh check.sh):
  2:1 error: bad line`,
    'Edited a.sh: 1 replacement at line 1.',
    'Created notes.md: 1 line.',
  ]);
});

it('Code is offered only where a language server is installed', async () => {
  const offered = async (env: Readonly<Record<string, string>>): Promise<readonly string[]> => {
    const { requests } = await runCalls({ files: FILES, calls: [], env });
    return (requests[0]?.tools ?? []).map(({ name }) => name);
  };
  const without = await offered({ PATH: '/usr/bin:/bin' });
  expect(without).not.toContain('Code');
  expect(await offered({})).toEqual([...without, 'Code']);
  expect(await offered({ MUSTER_CODE_FEEDBACK: 'false' })).toEqual(without);
});

it.runIf(needs('gofmt', 'golang-go'))('gofmt formats files of a Go module', async () => {
  const { results } = await runCalls({
    files: { 'go.mod': 'module x\n' },
    calls: [call('Write', { file_path: 'a.go', content: 'package x\nvar   A = 1\n' })],
    env: { PATH: '/usr/bin:/bin', MUSTER_CODE_FEEDBACK: 'false' },
  });
  expect(results).toEqual(['Created a.go: 2 lines.\na.go was formatted by gofmt: 2 lines.']);
});

it('a file that a command has created is known to the server', async () => {
  const { results } = await runCalls({
    files: FILES,
    calls: [
      call('Read', { file_path: 'src/b.ts' }),
      call('Edit', { file_path: 'src/b.ts', old_string: 'total', new_string: 'all' }),
      call('Bash', { command: 'echo "export const c: string = 1 + String();" > src/c.ts' }),
      call('Edit', {
        file_path: 'src/b.ts',
        old_string: '"./a.js";',
        new_string: '"./a.js";\nimport { c } from "./c.js";\nexport const d: number = c;',
      }),
    ],
    flags: ['--permission-mode', 'autonomous'],
  });
  expect(results.at(-1)).toBe(`Edited src/b.ts: 1 replacement at line 1.
New problems in src/b.ts (tsc):
  3:14 error: Type 'string' is not assignable to type 'number'. [2322]`);
});

it('what a checker writes stands in the receipt, and is undone with the edit', async () => {
  const { run } = await runCalls({
    files: {
      'a.sh': 'old\n',
      'runs.txt': 'earlier\n',
      'check.sh': 'echo run >> runs.txt; echo cache > cache.txt\n',
    },
    calls: [
      call('Read', { file_path: 'a.sh' }),
      call('Edit', { file_path: 'a.sh', old_string: 'old', new_string: 'new' }),
    ],
    env: { MUSTER_CODE_CHECK: '["sh check.sh"]' },
    after: async ({ sandbox }) => {
      expect(readFileSync(join(sandbox.workspace, 'runs.txt'), 'utf8')).toBe('earlier\nrun\nrun\n');
      const log = readdirSync(join(sandbox.data, 'tasks')).find((name) => name.endsWith('.jsonl'));
      const id = log?.replace('.jsonl', '') ?? '';
      const undone = await runMuster(sandbox, ['tasks', 'rewind', id, '--to', '0', '--yes']);
      expect(undone).toMatchObject({ code: 0, stderr: '' });
      expect(readdirSync(sandbox.workspace).toSorted()).toEqual(['a.sh', 'check.sh', 'runs.txt']);
      expect(readFileSync(join(sandbox.workspace, 'runs.txt'), 'utf8')).toBe('earlier\n');
    },
  });
  const { receipt } = envelopeOf(run).data;
  expect(receipt.filesChanged.map((each) => [basename(each.path), each.byCommand])).toEqual([
    ['a.sh', undefined],
    ['cache.txt', true],
    ['runs.txt', true],
  ]);
});

it('a rename works in a workspace behind a link, and in another root only if it is one', async () => {
  const inLib = { action: 'rename', file_path: '../lib/a.ts', symbol: 'add', new_name: 'plus' };
  const scene = {
    files: {
      'app/tsconfig.json': TSCONFIG.replace('"src"', '"."'),
      'app/b.ts': 'import { add } from "../lib/a.js";\nexport const total = add(1, 2);\n',
      'lib/a.ts': FILES['src/a.ts'],
    },
    prepare: (workspace: string) => {
      symlinkSync(join(workspace, 'app'), join(workspace, 'link'));
      return Promise.resolve();
    },
    directory: (workspace: string) => join(workspace, 'link'),
  };
  const { results, left } = await runCalls({
    ...scene,
    calls: [
      call('Code', { action: 'rename', file_path: 'b.ts', symbol: 'total', new_name: 'all' }),
      call('Code', { action: 'definition', file_path: 'b.ts', symbol: 'add', line: 2 }),
      call('Code', inLib),
    ],
    flags: ['--add-dir', '../lib'],
  });
  expect(left).toEqual([]);
  expect(results).toEqual([
    'Renamed total to all in 1 file: b.ts.',
    expect.stringMatching(/lib\/a\.ts:1 {2}export function add/),
    expect.stringMatching(/^Renamed add to plus in 1 file: \S*lib\/a\.ts\.$/),
  ]);
  const without = await runCalls({ ...scene, calls: [call('Code', inLib)] });
  expect(without.results).toEqual([expect.stringContaining('outside the workspace roots')]);
  expect(envelopeOf(without.run).data.files_modified).toEqual([]);
});
