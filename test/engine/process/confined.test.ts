import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { Deadlines } from '../../../src/base/deadlines.ts';
import { createFileAccess } from '../../../src/engine/permissions/file-access.ts';
import { TaskProcess } from '../../../src/engine/process/task-process.ts';
import type { ProcessProgram } from '../../../src/engine/task/call-process.ts';
import type { AnyTool } from '../../../src/protocol/tool.ts';
import { globTool } from '../../../src/tools/glob/glob.ts';
import { grepTool } from '../../../src/tools/grep/grep.ts';
import { lsTool } from '../../../src/tools/ls.ts';
import { readTool } from '../../../src/tools/read/read.ts';
import { writeTool } from '../../../src/tools/write.ts';
import { HAS_BUBBLEWRAP, Place } from '../../sys/sandbox/support.ts';
import { HOSTILE_TOOLS } from './hostile-tools.ts';
import {
  bareContext,
  confineTo,
  LIMITS,
  rightsIn,
  UNCONFINED,
  type Surroundings,
} from './support.ts';

const HOSTILE: ProcessProgram = {
  path: fileURLToPath(new URL('hostile-process.ts', import.meta.url)),
  tools: HOSTILE_TOOLS,
};

function startProcess(surroundings: Surroundings, program?: ProcessProgram): TaskProcess {
  const started = new TaskProcess({
    taskId: 'task1234',
    limits: LIMITS,
    ...surroundings,
    ...(program === undefined ? {} : { program }),
    deadlines: new Deadlines(systemClock),
    onFailure: (error) => {
      throw error;
    },
  });
  onTestFinished(() => started.end());
  return started;
}

/** A workspace with a repository, a home with a key, and a server: everything that an attack wants. */
async function openTarget() {
  const at = new Place();
  execFileSync('git', ['init', '-q'], { cwd: at.root });
  at.write('home/.ssh/id_rsa', 'key\n');
  at.write('work/.env', 'secret\n');
  at.write('work/a.txt', 'one\n');
  at.write('outside.txt', 'mine\n');
  const server = createServer((socket) => socket.end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { at, port };
}

/** Tries each attack in the process of a task. Returns what came of it. */
async function attack(
  surroundings: Surroundings,
  { at, port }: Awaited<ReturnType<typeof openTarget>>,
): Promise<Readonly<Record<string, string>>> {
  const started = startProcess(surroundings, HOSTILE);
  const attempts: readonly (readonly [what: string, tool: string, input: object])[] = [
    ['write a file of the workspace', 'WriteFile', { path: join(at.root, 'a.txt') }],
    ['read a key', 'ReadFile', { path: join(at.home, '.ssh/id_rsa') }],
    ['read a secret of the workspace', 'ReadFile', { path: join(at.root, '.env') }],
    ['write outside', 'WriteFile', { path: join(at.base, 'outside.txt') }],
    ['write a hook', 'WriteFile', { path: join(at.root, '.git/hooks/pre-commit') }],
    ['write a new file of git', 'WriteFile', { path: join(at.root, '.git/commondir') }],
    ['reach a server', 'Connect', { port }],
    ['see Muster', 'SeeProcess', { pid: process.pid }],
    ['signal Muster', 'SignalProcess', { pid: process.pid }],
  ];
  const outcomes: Record<string, string> = {};
  const { signal } = new AbortController();
  for (const [what, name, input] of attempts) {
    const tool = HOSTILE_TOOLS.find((each) => each.name === name);
    if (tool === undefined) throw new Error(`there is no attack ${name}`);
    const call = { tool, input, context: bareContext(signal), basis: null };
    outcomes[what] = (await started.run({ ...call, describeStop: () => 'x' })).text;
  }
  return outcomes;
}

interface CallPaths {
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
}

/** Runs a call of one of Muster's own tools that somebody has allowed. */
async function runAllowed(
  started: TaskProcess,
  at: Place,
  tool: AnyTool,
  input: object,
  { reads = [], writes = [] }: CallPaths,
): Promise<string> {
  const resolve = (paths: readonly string[]) =>
    paths.map((path) => ({ asked: path, real: path, insideRoots: true }));
  const access = createFileAccess({
    call: {
      tool: tool.name,
      kind: tool.kind,
      inToolSet: true,
      access: { reads: resolve(reads), writes: resolve(writes), commands: [], hosts: [] },
    },
    rights: rightsIn(at.root),
    home: at.home,
    stateDirectories: [],
  });
  const { signal } = new AbortController();
  const context = { ...bareContext(signal), ...access, cwd: at.root };
  const { basis } = access;
  const output = await started.run({ tool, input, basis, context, describeStop: () => 'x' });
  return output.text;
}

describe.runIf(HAS_BUBBLEWRAP)('the process of a task in the sandbox', () => {
  test('can do nothing outside of the workspace when it is taken over', async () => {
    const target = await openTarget();
    const { at } = target;
    expect(await attack(confineTo(at), target)).toEqual({
      'write a file of the workspace': 'written',
      'read a key': expect.stringMatching(/^(?:ENOENT|EACCES)/),
      'read a secret of the workspace': '',
      'write outside': expect.stringMatching(/^EROFS/),
      'write a hook': expect.stringMatching(/^EROFS/),
      'write a new file of git': expect.stringMatching(/^EROFS/),
      'reach a server': expect.stringMatching(/ECONNREFUSED/),
      'see Muster': 'no such process',
      'signal Muster': expect.stringMatching(/ESRCH/),
    });
    expect(readFileSync(join(at.base, 'outside.txt'), 'utf8')).toBe('mine\n');
    expect(existsSync(join(at.root, '.git/hooks/pre-commit'))).toBe(false);
    expect(existsSync(join(at.root, '.git/commondir'))).toBe(false);
  });

  test('could do all of it without the sandbox', async () => {
    const target = await openTarget();
    expect(await attack(UNCONFINED, target)).toEqual({
      'write a file of the workspace': 'written',
      'read a key': 'key\n',
      'read a secret of the workspace': 'secret\n',
      'write outside': 'written',
      'write a hook': 'written',
      'write a new file of git': 'written',
      'reach a server': 'connected',
      'see Muster': 'seen',
      'signal Muster': 'signalled',
    });
  });

  test('leaves it to Muster to run allowed calls that need more than the sandbox shows', async () => {
    const { at } = await openTarget();
    const started = startProcess(confineTo(at));
    const write = (path: string) =>
      runAllowed(started, at, writeTool, { file_path: path, content: 'new\n' }, { writes: [path] });
    const read = (path: string) =>
      runAllowed(started, at, readTool, { file_path: path }, { reads: [path] });
    const paths = ['work/b.txt', 'work/.git/info/attributes', 'work/.npmrc', 'later.txt'];
    for (const path of paths) await write(join(at.base, path));
    expect(paths.map((path) => readFileSync(join(at.base, path), 'utf8'))).toEqual(
      paths.map(() => 'new\n'),
    );
    expect(await read(join(at.home, '.ssh/id_rsa'))).toContain('key');
    expect(await read(join(at.root, '.env'))).toContain('secret');
    expect(await read(new Place({ below: '/tmp' }).write('x', 'temporary\n'))).toContain(
      'temporary',
    );
  });

  test('finds and lists hidden files as Muster does', async () => {
    const { at } = await openTarget();
    const inside = startProcess(confineTo(at));
    const outside = startProcess(UNCONFINED);
    const calls = [
      [grepTool, { pattern: 'secret|one' }],
      [grepTool, { pattern: 'nothing' }],
      [globTool, { pattern: '**' }],
    ] as const;
    for (const [tool, input] of calls) {
      const run = (process: TaskProcess) =>
        runAllowed(process, at, tool, input, { reads: [at.root] });
      expect(await run(inside)).toBe(await run(outside));
    }
    expect(await runAllowed(inside, at, lsTool, {}, { reads: [at.root] })).toBe(
      '.env  0 B\n.git/\na.txt  4 B',
    );
  });

  test('lets the user create protected files while it runs', async () => {
    const { at } = await openTarget();
    const started = startProcess(confineTo(at));
    await runAllowed(started, at, lsTool, {}, { reads: [at.root] });
    at.write('work/.vscode/settings.json', '{}\n');
    await started.end();
    expect(existsSync(join(at.root, '.vscode/settings.json'))).toBe(true);
  });

  test('starts although its program lies where the sandbox shows nothing', async () => {
    const program = new Place({ below: '/tmp' });
    program.write('package.json', '{ "type": "module" }\n');
    const source = fileURLToPath(new URL('.', import.meta.url));
    const path = program.write(
      'lib/program.ts',
      `import { serveCalls } from '${join(source, '../../../src/engine/process/serve-calls.ts')}';
import { HOSTILE_TOOLS } from '../tools.ts';
serveCalls(HOSTILE_TOOLS);\n`,
    );
    program.write('tools.ts', `export * from '${join(source, 'hostile-tools.ts')}';\n`);
    const target = await openTarget();
    const started = startProcess(confineTo(target.at), { path, tools: HOSTILE_TOOLS });
    const [tool] = HOSTILE_TOOLS;
    if (tool === undefined) throw new Error('there are no attacks');
    const { signal } = new AbortController();
    const run = (file: string) =>
      started.run({
        tool,
        input: { path: file },
        context: bareContext(signal),
        basis: null,
        describeStop: () => 'x',
      });
    expect(await run(path)).toEqual({ text: readFileSync(path, 'utf8') });
    const other = new Place({ below: '/tmp' }).write('x');
    expect((await run(other)).text).toMatch(/^ENOENT/);
  });
});
