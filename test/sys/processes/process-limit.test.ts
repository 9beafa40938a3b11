import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readEnvironment } from '../../../src/sys/env.ts';
import { findReasonToLook, type ProcessGrowth } from '../../../src/sys/processes/process-limit.ts';
import { spawnProcessGroup, type ProcessGroup } from '../../../src/sys/processes/process-group.ts';
import { matchProcesses } from '../../../src/sys/processes/process-table.ts';
import { startServerProgram } from '../../../src/sys/processes/server-process.ts';
import { needs } from '../../needs.ts';
import { waitUntilPasses } from '../../wait-until-passes.ts';

const HAS_SETSID = process.platform === 'linux' && needs('setsid', 'util-linux');

/** More processes than LIMIT, none of which lasts. */
const MANY = 'for i in $(seq 60); do sleep 5 & done; wait';
const LIMIT = 30;

function shell(command: string, maxProcesses = LIMIT): ProcessGroup {
  const env = { PATH: readEnvironment()['PATH'] };
  const group = spawnProcessGroup('/bin/bash', ['-c', command], { cwd: '/', env, maxProcesses });
  onTestFinished(() => void group.end({ graceMs: 0 }));
  return group;
}

test.each<[ReturnType<typeof findReasonToLook>, string, Partial<ProcessGrowth>]>([
  [null, 'there are few processes at all', { total: 100 }],
  [null, 'there are few at all, and more than before', { total: 100, lastTotal: 10 }],
  [null, 'there are few at all, and time has passed', { total: 100, pauseMs: 5000 }],
  [null, 'there are many, and no limit can be exceeded', { total: 5000, lastTotal: 4960 }],
  ['growth', 'there are many, and a limit may be exceeded', { total: 5000, lastTotal: 4959 }],
  ['growth', 'both', { total: 5000, lastTotal: 4959, pauseMs: 2000 }],
  [null, 'a limit is near, and few are new', { total: 5000, lastTotal: 4994, headroom: 0 }],
  ['growth', 'a limit is near, and some are new', { total: 5000, lastTotal: 4993, headroom: 0 }],
  ['time', 'there are many, and time has passed', { total: 5000, lastTotal: 5000, pauseMs: 2000 }],
  [null, 'the number is not known', { total: undefined, pauseMs: 1999 }],
  ['time', 'the number is not known, and time has passed', { total: undefined, pauseMs: 2000 }],
])('the reason to look at each process is %j, because %s', (expected, _, state) => {
  const usual = { total: 0, lastTotal: 0, headroom: 40, pauseMs: 200, smallestLimit: 100 };
  expect(findReasonToLook({ ...usual, ...state })).toBe(expected);
});

describe.runIf(process.platform === 'linux')('a group with a limit on its processes', () => {
  test('is killed when it has more', async () => {
    const group = shell(MANY);
    await group.limitReached;
    expect(await group.exited).toEqual({ code: null, signal: 'SIGKILL' });
    await waitUntilPasses(() => {
      expect(group.members()).toEqual([]);
    });
  });

  test.runIf(HAS_SETSID)('is killed with the processes that have left it', async () => {
    const group = shell('for i in $(seq 60); do setsid sleep 5 & done; wait');
    await group.limitReached;
    await waitUntilPasses(() => {
      expect(group.members()).toEqual([]);
    });
  });

  test('may have as many as the limit', async () => {
    const group = shell('for i in $(seq 25); do sleep 1 & done; wait; exit 3');
    expect(await group.exited).toEqual({ code: 3, signal: null });
  });

  test('continues when only another group has too many', async () => {
    const group = shell('echo go; for i in $(seq 10); do sleep 0.3; done; exit 3');
    await once(group.stdout, 'data');
    const busy = shell(MANY);
    await busy.limitReached;
    expect(await group.exited).toEqual({ code: 3, signal: null });
    expect(await busy.exited).toEqual({ code: null, signal: 'SIGKILL' });
  });

  test('counts threads', async () => {
    const node = JSON.stringify(process.execPath);
    const group = shell(
      `for i in $(seq 6); do ${node} -e 'setTimeout(() => {}, 5000)' & done; wait`,
    );
    await group.limitReached;
    expect(await group.exited).toEqual({ code: null, signal: 'SIGKILL' });
  });

  test('is a server whose end names the limit', async () => {
    const server = startServerProgram({
      file: '/bin/sh',
      args: ['-c', MANY],
      cwd: '/',
      env: { PATH: readEnvironment()['PATH'] },
      maxProcesses: LIMIT,
    });
    onTestFinished(() => server.end());
    expect(await server.ended).toBe(
      'was killed: it had more than 30 processes and threads at a time, the limit sandbox.command_processes',
    );
  });
});

test.runIf(HAS_SETSID)('processes of several groups are found with one look', async () => {
  const one = shell('sleep 5 & echo go; wait', 0);
  const other = shell('(sleep 5 & setsid sleep 5 & echo go); sleep 5; true', 0);
  await Promise.all([one, other].map(({ stdout }) => once(stdout, 'data')));
  const queries = [one, other].map(({ pid = 0, mark }) => ({ group: pid, marks: new Set([mark]) }));
  await waitUntilPasses(() => {
    const found = matchProcesses(queries);
    expect(found?.map(({ running, threads }) => [running.length, threads])).toEqual([
      [2, 2],
      [4, 4],
    ]);
  });
});
