import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { newId } from '../../../src/base/ids.ts';
import { isDamagedWorkspace, listWorkspaces } from '../../../src/workspaces/record.ts';
import { removeWorkspace } from '../../../src/workspaces/remove.ts';
import { tempDirectory } from '../../sys/temp.ts';
import { access, createRepository, hashTree, write } from '../repository.ts';

const PROGRAM = join(import.meta.dirname, 'live-once.ts');
/** Objects, and directories of logs that git leaves. */
const MAY_STAY = /^\.git\/(objects|logs$|logs\/refs$|logs\/refs\/heads$)/;
/** The creation of a workspace starts more processes of git than this. */
const PROCESSES = 14;
/** A process is in the wanted state for less than a millisecond, so that it is often missed. */
const MAX_ATTEMPTS = 400;

function readProcessFile(pid: number, name: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return null;
  }
}

/** Waits without a pause for the process number `wanted` that another one starts. Null if the other one ends before. */
function findChild(owner: number, wanted: number): number | null {
  const seen = new Set(readdirSync('/proc'));
  let found = 0;
  while (readProcessFile(owner, 'stat')?.includes(') Z ') === false) {
    for (const name of readdirSync('/proc')) {
      if (seen.has(name) || !/^\d+$/.test(name)) continue;
      seen.add(name);
      const parent = / \(.*\) \S (\d+) /s.exec(` ${readProcessFile(Number(name), 'stat')}`)?.[1];
      if (Number(parent) !== owner) continue;
      found += 1;
      if (found === wanted) return Number(name);
    }
  }
  return null;
}

/** Lets the owner of a workspace die when it has created a process that does not run its program yet. */
async function killWhileStarting(
  args: readonly string[],
  { wanted, cache }: { readonly wanted: number; readonly cache: string },
): Promise<number | null> {
  const owner = spawn(process.execPath, [PROGRAM, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_COMPILE_CACHE: cache },
  });
  // The process that was created has the pipe of the owner, so `close` is not emitted.
  const ended = new Promise((resolve) => owner.once('exit', resolve));
  await new Promise((resolve) => owner.stdout.once('data', resolve));
  const pid = owner.pid ?? 0;
  const command = readProcessFile(pid, 'cmdline');
  const child = findChild(pid, wanted);
  if (child !== null) process.kill(child, 'SIGSTOP');
  owner.kill('SIGKILL');
  const isStarting = child !== null && readProcessFile(child, 'cmdline') === command;
  if (child !== null && !isStarting) process.kill(child, 'SIGCONT');
  await ended;
  return isStarting ? child : null;
}

async function recover(dataDir: string): Promise<void> {
  const [left] = listWorkspaces(dataDir);
  if (left === undefined) return;
  if (isDamagedWorkspace(left)) throw new Error(left.problem);
  await removeWorkspace(left, { ...access, discard: 'changes' });
}

test.runIf(process.platform === 'linux')(
  'a process of git that had not begun when its owner was killed does nothing after the recovery',
  async () => {
    const source = createRepository({ a: '1\n', b: '2\n' });
    write(source, { b: 'uncommitted\n' });
    const before = hashTree(source, MAY_STAY);
    const [dataDir, cache] = [tempDirectory(), tempDirectory()];
    const caught = new Set<number>();
    for (let attempt = 0; attempt < MAX_ATTEMPTS && caught.size < PROCESSES; attempt += 1) {
      const wanted = 1 + (attempt % PROCESSES);
      if (caught.has(wanted)) continue;
      // oxlint-disable no-await-in-loop -- one after another
      const child = await killWhileStarting([source, dataDir, newId()], { wanted, cache });
      await recover(dataDir);
      if (child !== null) {
        caught.add(wanted);
        process.kill(child, 'SIGCONT');
        while (readProcessFile(child, 'cmdline')) await sleep(5);
      }
      // oxlint-enable no-await-in-loop
      expect([wanted, hashTree(source, MAY_STAY)]).toEqual([wanted, before]);
      expect(listWorkspaces(dataDir)).toEqual([]);
    }
    expect(caught.size).toBeGreaterThan(PROCESSES / 2);
  },
  900_000,
);
