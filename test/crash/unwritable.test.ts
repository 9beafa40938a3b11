import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { openFileStore } from '../../src/store/file-store.ts';
import { startFakeModel } from '../../src/testing/index.ts';
import { BIN, envelopeOf, runMuster, Sandbox, type Finished } from '../e2e/muster.ts';
import { expectNoViolations } from '../no-violations.ts';
import { processesOf } from './killed-run.ts';
import { MAIN, promptOf, rulesOf, SESSION_AGENTS, THREE_LEVELS, WORKSPACE } from './scenario.ts';
import { readLog } from '../store/read-log.ts';

const RUN = ['-p', promptOf(MAIN), '--permission-mode', 'autonomous', '--agents', SESSION_AGENTS];

function sandboxOf(files: Readonly<Record<string, string>>): Sandbox {
  const sandbox = new Sandbox(files);
  onTestFinished(() => sandbox[Symbol.dispose]());
  return sandbox;
}

/** A place where this user can make nothing. The super-user is not stopped by permissions, but by /sys. */
function readOnlyPlace(sandbox: Sandbox): string {
  if (process.getuid?.() === 0) return '/sys/muster';
  const path = join(sandbox.root, 'read-only');
  mkdirSync(path);
  chmodSync(path, 0o500);
  return path;
}

it('a read-only data directory gives one clear line', async () => {
  const sandbox = sandboxOf({});
  const place = readOnlyPlace(sandbox);
  const { code, stdout, stderr } = await runMuster(sandbox, ['-p', 'hello', '--data-dir', place]);
  const lines = stderr.trimEnd().split('\n');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(lines.filter((line) => line.includes(place))).toHaveLength(1);
  expect(stderr).toMatch(/cannot create directory .+: E[A-Z]+: .+/);
  expect(stderr).not.toMatch(/^\s+at /m);
});

it('a data directory below a file gives one clear line', async () => {
  const sandbox = sandboxOf({});
  writeFileSync(sandbox.data, 'a file');
  const { code, stderr } = await runMuster(sandbox, ['-p', 'hello']);
  expect(code).toBe(2);
  expect(stderr).toContain(`the data directory ${sandbox.data} is not a directory`);
  expect(stderr).not.toMatch(/^\s+at /m);
});

/** No file can grow beyond `kilobytes`: the kernel's own way to say that there is no room. */
async function runWithSmallFiles(
  sandbox: Sandbox,
  env: Readonly<Record<string, string>>,
  kilobytes: number,
): Promise<Finished> {
  const command = `ulimit -f ${kilobytes}; exec "$0" "$@"`;
  const args = [BIN, ...RUN, '--output-format', 'stream-json'];
  const child = spawn('/bin/bash', ['-c', command, process.execPath, ...args], {
    cwd: sandbox.workspace,
    env: sandbox.environment({ ...env, NODE_DISABLE_COMPILE_CACHE: '1' }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await closed;
  return { code: child.exitCode, signal: child.signalCode, stdout, stderr };
}

it.each([1, 8, 12, 40])(
  'a run whose logs find no space after %i kB ends with a clear error, and its logs are complete',
  async (kilobytes) => {
    const sandbox = sandboxOf(WORKSPACE);
    const model = await startFakeModel({ script: rulesOf(THREE_LEVELS) });
    onTestFinished(() => model.close());
    const run = await runWithSmallFiles(sandbox, model.env('anthropic'), kilobytes);
    expect(run).toMatchObject({ code: 1, signal: null });
    expectNoViolations(model);
    expect(run.stderr).not.toMatch(/^\s+at /m);
    // What never started has no envelope.
    const told = run.stdout === '' ? run.stderr : envelopeOf(run).error?.message;
    expect(told).toMatch(/cannot write .+: EFBIG/);
    const tasks = join(sandbox.data, 'tasks');
    const logs = readdirSync(tasks).filter((name) => name.endsWith('.jsonl'));
    const ends = logs.map((name) => readFileSync(join(tasks, name), 'utf8').at(-1) ?? '\n');
    expect(ends).toEqual(logs.map(() => '\n'));
    const store = openFileStore({ dataDir: sandbox.data, durability: 'safe' });
    const problems = logs.flatMap((name) => readLog(store, name.replace('.jsonl', '')).problems);
    await store.close();
    expect(problems).toEqual([]);
    expect(processesOf(sandbox)).toEqual([]);
  },
);
