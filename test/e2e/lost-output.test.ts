import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemErrorCode } from '../../src/base/errors.ts';
import { expectNothingLeft, expectStopped, finishedSoon, reach } from './ending.ts';
import { BIN, startMuster } from './muster.ts';
import { findMarked, waitForMarked } from './processes.ts';
import { bash, callsInTurn, exitStatus, openWorld } from './world.ts';

/** It may have ended with the one before. */
function terminate(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch (thrown) {
    if (systemErrorCode(thrown) !== 'ESRCH') throw thrown;
  }
}

describe.concurrent('output that nobody reads', () => {
  const calls = Array.from({ length: 200 }, () => [{ name: 'LS', input: {} }]);

  it('ends a run that streams events, quietly, with all its processes', async () => {
    await using world = await openWorld({
      script: callsInTurn([{ name: 'LS', input: {} }], [bash('touch started; sleep 60')], ...calls),
    });
    const running = world.start(['-p', 'go', '--allow', 'Bash', '--output-format', 'stream-json']);
    // Of the processes with the mark some may be those by which the sandbox is tried out.
    const started = join(world.sandbox.workspace, 'started');
    await reach(
      running,
      waitForMarked(world.mark, () => existsSync(started)),
    );
    running.process.stdout?.destroy();
    // The next event meets the closed pipe; without one there is nothing to notice it by.
    for (const pid of findMarked(world.mark)) if (pid !== running.pid) terminate(pid);
    const run = await finishedSoon(running.finished);
    expect([exitStatus(run), run.stderr]).toEqual([129, '']);
    expectNothingLeft(world);
    expect(world.model.requests.length).toBeLessThan(calls.length);
    await expectStopped(world);
  });

  it.each([
    ['an answer', ['-p', 'go']],
    ['an envelope', ['-p', 'go', '--output-format', 'json']],
    ['a help text', ['help']],
    ['a list', ['config', 'show']],
    ['a log', ['tasks', 'log', '']],
  ])('%s is no error', async (_, args) => {
    await using world = await openWorld();
    const first = await world.run(['-p', 'go', '--output-format', 'json']);
    const id: string = JSON.parse(first.stdout).data.task_id;
    const running = startMuster(
      world.sandbox,
      args.map((arg) => (arg === '' ? id : arg)),
      { env: world.model.env('anthropic') },
    );
    running.process.stdout?.destroy();
    const run = await running.finished;
    expect([run.code, run.stderr]).toEqual([0, '']);
  });

  it.each([
    ['an answer', ['-p', 'go']],
    ['events', ['-p', 'go', '--output-format', 'stream-json']],
    ['a help text', ['help']],
    ['a log', ['tasks', 'log', '']],
    ['a page', ['tasks', 'show', '', '--html', '-']],
  ])('%s on a full disk is one clear line', async (_, args) => {
    await using world = await openWorld();
    const first = await world.run(['-p', 'go', '--output-format', 'json']);
    const id: string = JSON.parse(first.stdout).data.task_id;
    const full = openSync('/dev/full', 'w');
    try {
      const given = args.map((arg) => (arg === '' ? id : arg));
      const child = spawn(process.execPath, [BIN, ...given], {
        cwd: world.sandbox.workspace,
        env: world.sandbox.environment(world.model.env('anthropic')),
        stdio: ['ignore', full, 'pipe'],
      });
      let stderr = '';
      child.stderr?.setEncoding('utf8').on('data', (text: string) => void (stderr += text));
      expect(await once(child, 'close')).toEqual([1, null]);
      expect(stderr).toMatch(/^muster: the output can't be written: ENOSPC[^\n]*\n/);
      expect(stderr).not.toMatch(/\n\s+at |node:internal/);
    } finally {
      closeSync(full);
    }
  });
});
