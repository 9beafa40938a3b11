import { existsSync, lstatSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { AGENTS } from '../../agents/kinds.ts';
import { createSearchContext } from '../../agents/loader/search-context.ts';
import { listSearchPaths } from '../../agents/loader/list-files.ts';
import { errorMessage, UsageError } from '../../base/errors.ts';
import type { AgentScope } from '../../protocol/agent.ts';
import { userConfigDirectory } from '../../config/paths.ts';
import { TASK_VARIABLE } from '../../sys/processes/command-environment.ts';
import { isInside } from '../../sys/files/paths.ts';
import { projectRoot } from '../../sys/files/project-directories.ts';
import { resolveInRoots, toRealPath } from '../../sys/files/real-path.ts';
import { writeFileInRoots } from '../../sys/files/write-file.ts';
import { realDirectory } from '../setup/workspace.ts';
import type { LoadedAgents } from './load-agents.ts';

/** A directory to which agents are written. */
export interface AgentTarget {
  /** Absolute. It need not exist. */
  readonly directory: string;
  /**
   * No file outside of this directory is written, not even through a link. If it is null, the boundary is `directory`.
   */
  readonly boundary: string | null;
  /**
   * True if new files are for the user alone, whatever the umask, because the directory is in the user's
   * configuration.
   */
  readonly isPrivate: boolean;
}

type Place = Pick<LoadedAgents, 'cwd' | 'environment' | 'home'>;

/**
 * Returns the directory that `project`, `user` or a path means. A relative path is relative to the working directory.
 * Throws UsageError if the command of an agent requests the user's own directory.
 */
export function resolveAgentTarget(to: string, place: Place): AgentTarget {
  const { cwd, environment } = place;
  const root = projectRoot(cwd);
  const target: AgentTarget =
    to === 'project'
      ? { directory: join(root, '.muster', 'agents'), boundary: root, isPrivate: false }
      : {
          directory: to === 'user' ? join(userConfigDirectory(place), 'agents') : resolve(cwd, to),
          boundary: null,
          isPrivate: to === 'user',
        };
  const whose = scopeOfFile(join(target.directory, 'any.md'), place);
  if (whose !== null && whose !== 'project' && environment[TASK_VARIABLE] !== undefined) {
    throw new UsageError(
      "an agent cannot write the user's own agents; run this in a shell of your own",
    );
  }
  return target;
}

export interface NewAgentFile {
  readonly path: string;
  readonly text: string;
}

/** Throws UsageError that names all files that exist already. */
export function refuseExistingFiles(files: readonly NewAgentFile[]): void {
  const there = files.filter(({ path }) => statsOf(path) !== undefined).map(({ path }) => path);
  if (there.length === 0) return;
  const [is, them] = there.length === 1 ? ['is', 'it'] : ['are', 'them'];
  throw new UsageError(`${there.join(', ')} ${is} there already; --force replaces ${them}`);
}

/**
 * Writes the full file or nothing. Throws MusterError if it cannot, and without `force` also for an existing file.
 */
export async function writeAgentFile(
  { path, text }: NewAgentFile,
  { directory, boundary, isPrivate }: AgentTarget,
  { force }: { readonly force: boolean },
): Promise<void> {
  const root = boundary ?? madeDirectory(directory, isPrivate ? 0o700 : 0o777);
  const within = boundary === null ? join(root, path.slice(directory.length)) : path;
  const former = force ? statsOf(within) : undefined;
  await writeFileInRoots(
    within,
    { roots: [root] },
    Buffer.from(text),
    former ?? 'nothing',
    isPrivate && former === undefined ? { mode: 0o600 } : {},
  );
}

/**
 * Creates a directory with its parents, with these permission bits before the umask. Returns its real path.
 */
function madeDirectory(directory: string, mode: number): string {
  try {
    makeMissing(directory, mode);
  } catch (error) {
    throw new UsageError(`--to ${directory}: can't be made (${errorMessage(error)})`);
  }
  return realDirectory(directory, '--to');
}

/**
 * Creates missing directories level by level, because `recursive` of Node never ends where a directory accepts no
 * entries, as in /proc.
 */
function makeMissing(directory: string, mode: number): void {
  if (existsSync(directory)) return;
  makeMissing(dirname(directory), mode);
  mkdirSync(directory, mode);
}

function statsOf(path: string) {
  const { real: target, exists } = resolveInRoots(path, []);
  return exists ? lstatSync(target, { bigint: true, throwIfNoEntry: false }) : undefined;
}

/**
 * Returns the scope in which a file's agents would be found, or null if no search path contains it. Agents of a
 * project must be trusted.
 */
export function scopeOfFile(path: string, { cwd, environment }: Place): AgentScope | null {
  const place = listSearchPaths(AGENTS, createSearchContext(cwd, environment)).find((each) =>
    isInside(toRealPath(each.path), toRealPath(path)),
  );
  return place?.scope ?? null;
}
