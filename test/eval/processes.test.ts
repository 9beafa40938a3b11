import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { runBounded } from '../../eval/processes.ts';
import { needs } from '../needs.ts';
import { processesWith } from './example-tasks.ts';

const HAS_SETSID = process.platform === 'linux' && needs('setsid', 'util-linux');

let place: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'muster-processes-'));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

function program(script: string, timeoutMs = 60_000) {
  const env = { PATH: process.env['PATH'], EVAL_MARKER: place };
  return { argv: ['/bin/sh', '-c', script], cwd: place, env, timeoutMs } as const;
}

it('returns the exit code and the output of a program', async () => {
  expect(await runBounded(program('echo out; echo err >&2; exit 3'))).toEqual({
    exitCode: 3,
    timedOut: false,
    ms: expect.any(Number),
    output: expect.stringMatching(/^(?:out\nerr|err\nout)\n$/),
  });
});

it('writes stdout to a file', async () => {
  const stdoutFile = join(place, 'out.txt');
  const { exitCode, output } = await runBounded({
    ...program('seq 100000; echo e >&2'),
    stdoutFile,
  });
  expect({ exitCode, output }).toEqual({ exitCode: 0, output: 'e\n' });
  expect(readFileSync(stdoutFile, 'utf8').split('\n')).toHaveLength(100_001);
});

it('asks a program that takes too long to end, and returns no exit code', async () => {
  const script = "trap 'echo asked; exit 7' TERM; sleep 600 & wait";
  expect(await runBounded(program(script, 300))).toMatchObject({
    exitCode: null,
    timedOut: true,
    output: 'asked\n',
  });
  expect(processesWith('EVAL_MARKER', place)).toEqual([]);
});

it.runIf(HAS_SETSID)('ends what a program has left, also what holds its output open', async () => {
  const end = await runBounded(program('setsid sleep 600 & sleep 0.3; echo done'));
  expect(end).toMatchObject({ exitCode: 0, timedOut: false, output: 'done\n' });
  expect(processesWith('EVAL_MARKER', place)).toEqual([]);
});

it.runIf(process.platform === 'linux')(
  'ends a program whose output cannot be written',
  async () => {
    const run = runBounded({ ...program('seq 100000; sleep 600'), stdoutFile: '/dev/full' });
    await expect(run).rejects.toThrow('ENOSPC');
    expect(processesWith('EVAL_MARKER', place)).toEqual([]);
  },
);

it('rejects if the program does not exist', async () => {
  const run = runBounded({ ...program(''), argv: [join(place, newId())] });
  await expect(run).rejects.toThrow('ENOENT');
});
