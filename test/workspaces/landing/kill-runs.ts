import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { findUnfinishedLanding } from '../../../src/workspaces/landing/unfinished.ts';
import { undoLanding } from '../../../src/workspaces/landing/land.ts';
import { DIFFERENCES, fileAsRef, GIT_CHANGE, refFile, SOURCE } from './kill-scenario.ts';
import { createContext, landAll, openContext, readTree, writeStates } from './support.ts';

/** `again` lands what has landed and was undone. */
type Action = 'land' | 'undo' | 'again';

/** The action during which a process is killed, and the one that recovers from it. */
export interface KillPlan {
  readonly action: Action;
  readonly recovery: 'continue' | 'abort';
  /** The number of the call before which the process is killed; with `ms`, the time after which it is killed. */
  readonly moment: { readonly call: number } | { readonly ms: number };
  /** The number of the call before which the recovery is killed too, so that another one follows. Default: never. */
  readonly recoveryCall?: number;
}

/** A state of everything that a landing may change. */
export interface Snapshot {
  readonly tree: Readonly<Record<string, string>>;
  readonly ref: string;
}

/** The states before and after the landing, and the number of calls of each action. */
export interface Reference {
  readonly before: Snapshot;
  readonly after: Snapshot;
  readonly calls: Readonly<Record<Action, number>>;
  /** A directory with the compiled modules of the killed programs: most of the time of a start is saved. */
  readonly compileCache: string;
}

interface Finished {
  readonly output: string;
  readonly errors: string;
  readonly signal: string | null;
}

interface Range {
  readonly root: string;
  readonly directory: string;
  readonly compileCache: string;
}

/** Creates the scenario in an empty directory. */
function createRange(root: string, compileCache: string): Range {
  fs.mkdirSync(join(root, 'source'), { recursive: true });
  writeStates(join(root, 'source'), SOURCE);
  fs.chmodSync(join(root, 'source/gone'), 0o750);
  fs.chmodSync(join(root, 'source/gone/deep'), 0o700);
  fs.chmodSync(join(root, 'source/edited.txt'), 0o640);
  fs.mkdirSync(join(root, 'source/empty'));
  fs.writeFileSync(refFile(root), 'old');
  return { root, directory: createContext(root).directory, compileCache };
}

function snapshot({ root }: Range): Snapshot {
  return { tree: readTree(join(root, 'source')), ref: fs.readFileSync(refFile(root), 'utf8') };
}

async function run(
  { root, directory, compileCache }: Range,
  action: Action | 'continue' | 'abort',
  { call = 0, ms }: { readonly call?: number; readonly ms?: number } = {},
): Promise<Finished> {
  const program = join(import.meta.dirname, 'killed-landing.ts');
  const child = spawn(process.execPath, [program, root, directory, action, String(call)], {
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
  });
  const timer = ms === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), ms);
  let [output, errors] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const { promise, resolve } = Promise.withResolvers<string | null>();
  child.on('close', (_code, signal) => resolve(signal));
  const signal = await promise;
  clearTimeout(timer);
  if (signal === null && output === '') throw new Error(`${action} failed: ${errors}`);
  return { output, errors, signal };
}

/** Lands, undoes and lands again without a kill. `createDirectory` creates an empty directory. */
export async function runUnharmed(createDirectory: () => string): Promise<Reference> {
  const compileCache = createDirectory();
  const range = createRange(createDirectory(), compileCache);
  const before = snapshot(range);
  const landed = await run(range, 'land');
  const after = snapshot(range);
  const undone = await run(range, 'undo');
  const restored = snapshot(range);
  if (JSON.stringify(restored) !== JSON.stringify(before)) {
    throw new Error(`undo leaves ${JSON.stringify(restored)}`);
  }
  const again = await run(range, 'again');
  if (JSON.stringify(snapshot(range)) !== JSON.stringify(after)) {
    throw new Error(`landing again leaves ${JSON.stringify(snapshot(range))}`);
  }
  const calls = { land: callsOf(landed), undo: callsOf(undone), again: callsOf(again) };
  return { before, after, calls, compileCache };
}

/** Does in this process what has to be done before an action. */
async function prepare({ root, directory }: Range, action: Action): Promise<void> {
  if (action === 'land') return;
  const context = { ...openContext(directory), git: fileAsRef(refFile(root)) };
  await landAll(DIFFERENCES, { source: join(root, 'source'), context }, GIT_CHANGE);
  if (action === 'again') await undoLanding(context);
}

function callsOf({ output }: Finished): number {
  const value: unknown = JSON.parse(output);
  if (typeof value === 'object' && value !== null && 'calls' in value) return Number(value.calls);
  throw new Error(`no calls in ${output}`);
}

/**
 * Kills an action, and recovers in another process. Returns the reached state, the state that must be reached, and whether
 * the killed process left a landing unfinished.
 */
export async function runAndRecover(
  reference: Reference,
  { action, recovery, moment, recoveryCall }: KillPlan,
  createDirectory: () => string,
): Promise<{
  readonly reached: Snapshot;
  readonly expected: readonly Snapshot[];
  readonly wasUnfinished: boolean;
  readonly leftovers: readonly string[];
}> {
  const range = createRange(createDirectory(), reference.compileCache);
  await prepare(range, action);
  await run(range, action, moment);
  const [start, end] =
    action === 'undo' ? [reference.after, reference.before] : [reference.before, reference.after];
  const isUnfinished = () =>
    findUnfinishedLanding(join(range.directory, '..'), join(range.root, 'source')) !== null;
  const wasUnfinished = isUnfinished();
  let isKilled = false;
  if (wasUnfinished && recoveryCall !== undefined) {
    isKilled = (await run(range, recovery, { call: recoveryCall })).signal !== null;
  }
  if (isUnfinished()) await run(range, recovery);
  const wanted = recovery === 'continue' ? end : start;
  return {
    reached: snapshot(range),
    // Without a journal, nothing has begun or everything is done.
    expected: wasUnfinished ? [wanted] : [start, end],
    wasUnfinished,
    leftovers: [
      ...fs
        .readdirSync(range.directory)
        .filter((name) => name !== 'landings' && !isKilled && name !== 'landing.new'),
      ...(isUnfinished() ? ['an unfinished landing'] : []),
    ],
  };
}
