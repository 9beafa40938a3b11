/**
 * Carries out one step of a landing and kills itself with SIGKILL before its call number KILL_AT of a function that
 * changes the disk. Prints the number of such calls.
 *
 *     node killed-landing.ts ROOT DIRECTORY land|undo|again|continue|abort KILL_AT
 */
import fs from 'node:fs';
import { open } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';

const [root = '', directory = '', action = '', killAt = '0'] = process.argv.slice(2);

const CHANGING = [
  'chmodSync',
  'fchmodSync',
  'fsync',
  'mkdirSync',
  'openSync',
  'renameSync',
  'rmdirSync',
  'rmSync',
  'symlinkSync',
  'unlinkSync',
  'write',
  'writeFileSync',
] as const;

let calls = 0;

function countCalls(owner: object, names: readonly string[]): void {
  for (const name of names) {
    const original: unknown = Reflect.get(owner, name);
    if (typeof original !== 'function') throw new Error(`${name} is no function`);
    const counted = function counted(this: unknown, ...args: unknown[]): unknown {
      if (name !== 'openSync' || (Number(args[1]) & fs.constants.O_CREAT) !== 0) {
        calls += 1;
        if (calls === Number(killAt)) process.kill(process.pid, 'SIGKILL');
      }
      return Reflect.apply(original, this, args);
    };
    // `promisify` looks for functions of its own.
    Object.defineProperties(counted, Object.getOwnPropertyDescriptors(original));
    Reflect.set(owner, name, counted);
  }
}

const handle = await open(process.execPath);
countCalls(Object.getPrototypeOf(handle), ['appendFile', 'sync']);
await handle.close();

// Everything is loaded before the functions are replaced, except what is to use them.
const { DIFFERENCES, GIT_CHANGE, fileAsRef, refFile } = await import('./kill-scenario.ts');
countCalls(fs, CHANGING);
syncBuiltinESMExports();
const { land, recoverLanding, undoLanding } =
  await import('../../../src/workspaces/landing/land.ts');
const { planLanding } = await import('../../../src/workspaces/landing/plan-landing.ts');
const landAgain = action === 'again' ? (await import('./support.ts')).landAgain : null;
calls = 0;

const context = {
  directory,
  // The lock is the caller's concern, and other tests kill processes that hold it.
  lock: <T>(_path: string, work: () => Promise<T>): Promise<T> => work(),
  git: fileAsRef(refFile(root)),
};

async function run(): Promise<unknown> {
  if (action === 'continue' || action === 'abort') return await recoverLanding(action, context);
  if (action === 'undo') return await undoLanding(context);
  if (landAgain !== null)
    return await landAgain({ source: join(root, 'source'), context }, GIT_CHANGE);
  const plan = planLanding(DIFFERENCES, join(root, 'source'));
  return plan.kind === 'conflicts' ? plan : await land(plan, context, { git: GIT_CHANGE });
}

const result = await run();
process.stdout.write(`${JSON.stringify({ calls, result })}\n`);
