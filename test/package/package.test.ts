import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFakeModel, type FakeModelOptions } from '../../src/testing/index.ts';
import { TmuxTerminal } from '../e2e/tmux.ts';
import { needs } from '../needs.ts';
import { Sandbox } from '../e2e/muster.ts';
import { NODE_VERSIONS, nodeProgram, npm } from './nodes.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const HAS_TMUX = needs('tmux', 'tmux');
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly version: string;
};

async function disposable(options: FakeModelOptions = {}) {
  const model = await startFakeModel(options);
  return { ...model, [Symbol.asyncDispose]: () => model.close() };
}

let packed = '';
beforeAll(() => {
  packed = mkdtempSync(join(tmpdir(), 'muster-packed-'));
});
afterAll(() => rmSync(packed, { recursive: true, force: true }));

/** The tarball of what is built. */
function tarball(into: string): string {
  const directory = join(packed, into);
  mkdirSync(directory);
  const [name = ''] = npm(
    ['pack', ROOT, '--ignore-scripts', '--silent', '--pack-destination', directory],
    ROOT,
  )
    .trim()
    .split('\n');
  return join(directory, name);
}

it('two tarballs of one build are the same bytes', () => {
  const [one, other] = ['one', 'other'].map((name) => readFileSync(tarball(name)));
  expect(one?.equals(other ?? Buffer.of())).toBe(true);
});

it('a second build is the same bytes as the first', { timeout: 240_000 }, async () => {
  const out = join(packed, 'dist');
  await promisify(execFile)(process.execPath, ['scripts/build.ts', '--out', out], { cwd: ROOT });
  const built = filesIn(out);
  expect(built.size).toBeGreaterThan(10);
  const first = filesIn(join(ROOT, 'dist'));
  // The second one is built without the types.
  for (const name of first.keys()) if (name.startsWith('types/')) first.delete(name);
  expect([...built.keys()]).toEqual([...first.keys()]);
  for (const [name, bytes] of built) expect([name, first.get(name)]).toEqual([name, bytes]);
});

/** The SHA-256 of each file below a directory, by path. */
function filesIn(directory: string): Map<string, string> {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).toSorted();
  return new Map(
    names
      .filter((name) => statSync(join(directory, name)).isFile())
      .map((name) => [name, hash('sha256', readFileSync(join(directory, name)))]),
  );
}

describe.each(NODE_VERSIONS)('installed under Node %s', (nodeVersion) => {
  const node = nodeProgram(nodeVersion);
  const sandbox = new Sandbox({ 'notes.txt': 'Hello.\n' });
  const prefix = join(sandbox.root, 'prefix');
  const program = join(prefix, 'node_modules/muster-agent/dist/muster.js');
  const run = async (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const options = { cwd: sandbox.workspace, env: sandbox.environment(env) };
    const running = promisify(execFile)(node ?? '', args, options);
    // It would wait for more of the prompt.
    running.child.stdin?.end();
    return (await running).stdout;
  };

  beforeAll(() => {
    if (node === null) return;
    mkdirSync(prefix);
    writeFileSync(join(prefix, 'package.json'), '{"private":true}');
    npm(['install', tarball(nodeVersion), '--no-audit', '--no-fund', '--silent'], prefix, node);
  }, 120_000);
  afterAll(() => sandbox[Symbol.dispose]());

  it.runIf(node !== null)('it runs on that Node and says its version', async () => {
    expect(await run(['--version'])).toBe(`v${nodeVersion}\n`);
    expect(await run([program, '--version'])).toBe(`${version}\n`);
  });

  it.runIf(node !== null)('it delegates and answers', async () => {
    const task = { description: 'read', prompt: 'Read notes.txt.', subagent_type: 'Explore' };
    await using model = await disposable({
      script: [
        {
          when: { promptIncludes: task.prompt, toolResults: 0 },
          answer: { toolCalls: [{ name: 'Read', input: { file_path: 'notes.txt' } }] },
        },
        { when: { promptIncludes: task.prompt }, answer: { text: 'It says hello.' } },
        { when: { toolResults: 0 }, answer: { toolCalls: [{ name: 'Task', input: task }] } },
        { answer: { text: 'The notes say hello.' } },
      ],
    });
    expect(await run([program, '-p', 'What do the notes say?'], model.env('anthropic'))).toBe(
      'The notes say hello.\n',
    );
  });

  it.runIf(node !== null)('all three entries can be imported', async () => {
    const code = [
      "const [api, events, testing] = await Promise.all(['', '/events', '/testing'].map((entry) => import('muster-agent' + entry)));",
      'console.log(typeof api.openTasks, Object.keys(events).length > 0, typeof testing.startFakeModel);',
    ].join('\n');
    const file = join(prefix, 'imports.mjs');
    writeFileSync(file, code);
    expect(await run([file])).toBe('function true function\n');
  });

  it.runIf(node !== null && HAS_TMUX)('the terminal UI shows its first screen', async () => {
    await using model = await disposable();
    using terminal = new TmuxTerminal(sandbox, [], {
      env: model.env('anthropic'),
      program: [node ?? '', program],
    });
    expect(await terminal.sees('/help')).toContain('anthropic/');
    terminal.press('C-d', 'C-d');
    await terminal.sees('exit 0');
  });
});
