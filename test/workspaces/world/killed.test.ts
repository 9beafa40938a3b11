import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { newId } from '../../../src/base/ids.ts';
import { endWorkspace } from '../../../src/workspaces/end.ts';
import { isDamagedWorkspace, listWorkspaces } from '../../../src/workspaces/record.ts';
import { findAbandonedWorkspaces, removeWorkspace } from '../../../src/workspaces/remove.ts';
import { tempDirectory } from '../../sys/temp.ts';
import { access, createRepository, git, hashTree, write } from '../repository.ts';

const PROGRAM = join(import.meta.dirname, 'live-once.ts');
/** The number of moments. With `MUSTER_RANDOM_RUNS=10` there are ten times as many. */
const MOMENTS = 30 * Number(process.env['MUSTER_RANDOM_RUNS'] ?? 1);
/** Objects, and directories of logs that git leaves. */
const MAY_STAY = /^\.git\/(objects|logs$|logs\/refs$|logs\/refs\/heads$)/;

/** Runs the program and kills it after this time. Returns what it had printed and its full duration, if it ended. */
async function runAndKill(args: readonly string[], afterMs: number, cache: string) {
  const start = performance.now();
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_COMPILE_CACHE: cache },
  });
  let output = '';
  const begun = new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      resolve();
    });
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  await begun;
  const begin = performance.now() - start;
  await Promise.race([sleep(afterMs), ended]);
  child.kill('SIGKILL');
  const code = await ended;
  return {
    hasWorked: output.includes('worked'),
    code,
    durationMs: performance.now() - start - begin,
  };
}

test('a process killed at any moment of creation, end and removal loses no work and leaves nothing unnoticed', async () => {
  const source = createRepository({ a: '1\n', b: '2\n' });
  write(source, { b: 'uncommitted\n', c: 'new\n' });
  const before = hashTree(source, MAY_STAY);
  const dataDir = tempDirectory();
  const cache = tempDirectory();
  // The first run fills the cache, so that the second one takes as long as the killed ones.
  await runAndKill([source, dataDir, newId()], 60_000, cache);
  const { durationMs, code } = await runAndKill([source, dataDir, newId()], 60_000, cache);
  expect(code).toBe(0);
  const seen = new Set<string>();
  for (let moment = 0; moment < MOMENTS; moment += 1) {
    const id = newId();
    const afterMs = (durationMs * moment) / MOMENTS;
    const { hasWorked } = await runAndKill([source, dataDir, id], afterMs, cache);
    const [abandoned] = findAbandonedWorkspaces(dataDir, () => false);
    seen.add(abandoned?.state ?? 'none');
    const [left] = listWorkspaces(dataDir);
    if (left === undefined || isDamagedWorkspace(left)) {
      expect(left).toBe(undefined);
    } else if (left.status === 'creating' || left.status === 'removed') {
      await removeWorkspace(left, { ...access, discard: 'nothing' });
    } else {
      const { record, commit } = await endWorkspace(left, access);
      if (hasWorked) expect(git(source, 'show', `${commit}:a`)).toBe('work of the task');
      await removeWorkspace(record, { ...access, discard: 'changes' });
    }
    expect(listWorkspaces(dataDir)).toEqual([]);
    expect(hashTree(source, MAY_STAY)).toEqual(before);
  }
  expect(seen.has('creating')).toBe(true);
}, 900_000);
