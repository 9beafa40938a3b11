import * as fs from 'node:fs';
import { join } from 'node:path';
import { newId } from '../../../src/base/ids.ts';
import { withAsyncLock } from '../../../src/store/locks/async-lock.ts';
import type { PathDifference, PathState } from '../../../src/workspaces/difference.ts';
import type { GitChange } from '../../../src/workspaces/landing/git-change.ts';
import {
  land,
  type FinishedLanding,
  type LandingContext,
} from '../../../src/workspaces/landing/land.ts';
import { findUndoneLanding, readLandedChanges } from '../../../src/workspaces/landing-state.ts';
import { planLanding } from '../../../src/workspaces/landing/plan-landing.ts';
import { tempDirectory } from '../../sys/temp.ts';

/** A source and the directory of a workspace, in a new directory. */
export interface Place {
  readonly source: string;
  readonly context: LandingContext;
}

/** Creates an empty source and workspace. */
export function createPlace(): Place {
  const root = fs.realpathSync(tempDirectory());
  const source = join(root, 'source');
  fs.mkdirSync(source);
  return { source, context: createContext(root) };
}

/** Creates a workspace below `root`, as another task has it. */
export function createContext(root: string): LandingContext {
  const directory = join(root, 'data', 'workspaces', newId());
  fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
  return openContext(directory);
}

/** Returns the context of a workspace, with the lock of the store. */
export function openContext(directory: string): LandingContext {
  const data = join(directory, '../..');
  return {
    directory,
    lock: (path, work) => withAsyncLock({ directory: data, path, waitMs: 0 }, work),
  };
}

/** Writes states to a directory. */
export function writeStates(root: string, states: Readonly<Record<string, PathState>>): void {
  for (const [path, state] of Object.entries(states)) {
    const real = join(root, path);
    fs.mkdirSync(join(real, '..'), { recursive: true });
    fs.rmSync(real, { force: true, recursive: true });
    if (state?.kind === 'link') fs.symlinkSync(state.target, real);
    if (state?.kind !== 'file') continue;
    fs.writeFileSync(real, state.bytes);
    fs.chmodSync(real, state.executable ? 0o755 : 0o644);
  }
}

/** Returns everything that is in a directory: the kind, the permission bits and the content of each entry, by path. */
export function readTree(root: string): Readonly<Record<string, string>> {
  const entries = fs.readdirSync(root, { recursive: true, encoding: 'utf8' }).toSorted();
  return Object.fromEntries(entries.map((path) => [path, describe(join(root, path))]));
}

function describe(path: string): string {
  const stats = fs.lstatSync(path);
  if (stats.isSymbolicLink()) return `-> ${fs.readlinkSync(path)}`;
  const mode = (stats.mode & 0o7777).toString(8);
  return stats.isFile() ? `${mode} ${fs.readFileSync(path, 'latin1')}` : `${mode} directory`;
}

/** Plans and carries out a landing, which must have no conflicts. */
export async function landAll(
  differences: readonly PathDifference[],
  { source, context }: Place,
  git: GitChange | null = null,
): Promise<FinishedLanding> {
  const plan = planLanding(differences, source);
  if (plan.kind === 'conflicts')
    throw new Error(plan.conflicts.map(({ path, message }) => `${path} ${message}`).join());
  return await land(plan, context, { git });
}

/** Lands the changes again whose landing was undone last. They must have no conflicts. */
export async function landAgain(
  { source, context }: Place,
  git: GitChange | null = null,
): Promise<FinishedLanding> {
  const undone = findUndoneLanding(context.directory);
  if (undone === null) throw new Error('no landing is undone');
  const plan = planLanding(readLandedChanges(undone), source);
  if (plan.kind === 'conflicts') throw new Error('there are conflicts');
  return await land(plan, context, { git, repeats: undone.number });
}
