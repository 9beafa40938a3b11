import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { newId } from '../../../src/base/ids.ts';
import { endMarked, waitForMarked } from '../../e2e/processes.ts';
import { HAS_BUBBLEWRAP, Place } from './support.ts';

const OWNER = fileURLToPath(new URL('doomed-owner.ts', import.meta.url));
const AT_ONCE = 3;
const KILLS = 30;
/** A sandbox is set up within the first of these milliseconds. */
const LATEST_KILL_MS = 200;

/** Starts an owner, has it start a command, and kills it `delayMs` later; resolves when nothing of it is left. */
async function killOwner(root: string, kind: string, delayMs: number): Promise<void> {
  const id = newId();
  const mark = `MUSTER_TASK=${id}`;
  const command =
    '(setsid env sleep 300 &) ; (setsid setsid sh -c "sleep 301 & sleep 302" &) ; sleep 303';
  const owner = spawn(process.execPath, [OWNER, root, id, command, kind], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  onTestFinished(() => endMarked(mark));
  await once(owner.stdout, 'data');
  owner.stdin.write('start\n');
  setTimeout(() => owner.kill('SIGKILL'), delayMs);
  await once(owner, 'exit');
  await waitForMarked(mark, (pids) => pids.length === 0);
}

test.runIf(HAS_BUBBLEWRAP).each([
  ['command', KILLS],
  ['loopback', KILLS / 3],
])('no process of a %s survives, whenever its owner is killed', async (kind, kills) => {
  const { root } = new Place();
  const delays = Array.from({ length: kills }, (_, index) => (index * LATEST_KILL_MS) / kills);
  const worker = async (): Promise<void> => {
    for (let delay = delays.pop(); delay !== undefined; delay = delays.pop()) {
      await killOwner(root, kind, delay);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  expect(delays).toEqual([]);
});
