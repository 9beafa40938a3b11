import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { newId } from '../../../src/base/ids.ts';
import { readEnvironment } from '../../../src/sys/env.ts';
import { findProcesses } from '../../../src/sys/processes/process-table.ts';
import {
  endMarkedProcesses,
  killAllProcesses,
  spawnProcessGroup,
  type ProcessGroup,
} from '../../../src/sys/processes/process-group.ts';
import { needs } from '../../needs.ts';
import { waitUntilPasses } from '../../wait-until-passes.ts';

function shell(command: string, extra: Readonly<Record<string, string>> = {}): ProcessGroup {
  const env = { PATH: readEnvironment()['PATH'], ...extra };
  const group = spawnProcessGroup('/bin/sh', ['-c', command], { cwd: '/', env });
  onTestFinished(() => void group.end({ graceMs: 0 }));
  return group;
}

async function firstOutput(group: ProcessGroup): Promise<string> {
  const [chunk] = await once(group.stdout, 'data');
  return String(chunk);
}

test('a process ends by itself', async () => {
  const group = shell('exit 7');
  await group.started;
  expect(await group.exited).toEqual({ code: 7, signal: null });
  expect(group.members() ?? []).toEqual([]);
  expect(await group.end()).toBe(false);
});

test('a program that does not exist is an error', async () => {
  const group = spawnProcessGroup('/no/such/program', [], { cwd: '/', env: {} });
  await expect(group.started).rejects.toThrow('ENOENT');
  await expect(group.exited).rejects.toThrow('ENOENT');
  expect(await group.end()).toBe(false);
});

test('TERM is enough for a process that obeys', async () => {
  const group = shell('echo go; sleep 100');
  await firstOutput(group);
  expect(await group.end()).toBe(false);
  expect(await group.exited).toEqual({ code: null, signal: 'SIGTERM' });
});

test('KILL ends a process that does not obey', async () => {
  const group = shell("trap '' TERM; echo go; while :; do sleep 0.1; done");
  await firstOutput(group);
  expect(await group.end({ graceMs: 100 })).toBe(true);
  expect(await group.exited).toEqual({ code: null, signal: 'SIGKILL' });
  expect(group.members() ?? []).toEqual([]);
});

test('ending twice at once counts as one end', async () => {
  const group = shell('echo go; sleep 100');
  await firstOutput(group);
  expect(await Promise.all([group.end(), group.end()])).toEqual([false, false]);
});

test.runIf(process.platform === 'linux' && needs('setsid', 'util-linux'))(
  'all processes that were started are ended together',
  async () => {
    const groups = [
      shell('echo go; sleep 100'),
      shell("trap '' TERM; echo go; while :; do sleep 0.1; done"),
      shell('setsid sleep 100 & echo go; exit 0'),
    ];
    await Promise.all(groups.map(firstOutput));
    await killAllProcesses();
    expect(groups.map((group) => group.members())).toEqual([[], [], []]);
  },
);

test.runIf(process.platform === 'linux')(
  'leftovers of an earlier run are found by their mark',
  async () => {
    const task = newId();
    const orphan = spawn('sleep', ['100'], {
      env: { ...readEnvironment(), MUSTER_TASK: task },
      detached: true,
    });
    onTestFinished(() => void orphan.kill('SIGKILL'));
    const mark = `MUSTER_TASK=${task}`;
    await waitUntilPasses(() => {
      expect(findProcesses({ marks: new Set([mark]) })).toEqual([orphan.pid]);
    });
    await endMarkedProcesses('MUSTER_TASK', [task]);
    expect(findProcesses({ marks: new Set([mark]) })).toEqual([]);
  },
);

test.runIf(process.platform === 'linux')(
  'a process has no descriptor that this process was started with',
  () => {
    const path = join(import.meta.dirname, '../../../src/sys/processes/process-group.ts');
    const script = `
    import { spawnProcessGroup } from ${JSON.stringify(path)};
    const group = spawnProcessGroup('/bin/bash', ['-c', 'cat <&251; readlink /proc/self/fd/* | grep -c passwd; echo hi'], { cwd: '/', env: { PATH: '/usr/bin:/bin' } });
    group.stdout.pipe(process.stdout);
    await group.exited;`;
    const start =
      'exec 251</etc/passwd 40</etc/passwd 3</etc/passwd; exec "$0" --input-type=module -e "$1"';
    const out = execFileSync('/bin/bash', ['-c', start, process.execPath, script], {
      encoding: 'utf8',
      env: { PATH: '/usr/bin:/bin' },
    });
    expect(out).toBe('0\nhi\n');
  },
);
