import { existsSync, lstatSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { AGENTS } from '../../agents/kinds.ts';
import { createSearchContext } from '../../agents/loader/search-context.ts';
import { searchPaths } from '../../agents/loader/search-paths.ts';
import { errorMessage, UsageError } from '../../base/errors.ts';
import type { AgentScope } from '../../protocol/agent.ts';
import { TASK_VARIABLE } from '../../sys/processes/command-environment.ts';
import { isInside } from '../../sys/files/paths.ts';
import { projectRoot } from '../../sys/files/project-directories.ts';
import { resolveInRoots } from '../../sys/files/real-path.ts';
import { writeFileInRoots } from '../../sys/files/write-file.ts';
import { userConfigDir } from '../../config/paths.ts';
import { realDirectory } from '../setup/workspace.ts';
import type { AgentsHere } from './find-agents.ts';

/** Where agents are written to. */
export interface AgentTarget {
  /** Absolute. It need not exist. */
  readonly directory: string;
  /** No file outside of this directory is written, wherever a link leads; null: outside of `directory`. */
  readonly boundary: string | null;
  /** Whether what is made there is for the user alone, whatever the umask: it lies in the user's configuration. */
  readonly isPrivate: boolean;
}

type Place = Pick<AgentsHere, 'cwd' | 'environment' | 'home'>;

/**
 * The directory that `project`, `user` or a path means; a relative path counts from the working
 * directory. Throws UsageError where an agent's command asks for the user's own.
 */
export function agentTarget(to: string, place: Place): AgentTarget {
  const { cwd, environment } = place;
  const root = projectRoot(cwd);
  const target: AgentTarget =
    to === 'project'
      ? { directory: join(root, '.muster', 'agents'), boundary: root, isPrivate: false }
      : {
          directory: to === 'user' ? join(userConfigDir(place), 'agents') : resolve(cwd, to),
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

function real(path: string): string {
  return resolveInRoots(path, []).real;
}

export interface NewFile {
  readonly path: string;
  readonly text: string;
}

/** Throws UsageError that names all of the files that are there already. */
export function refuseExisting(files: readonly NewFile[]): void {
  const there = files.filter(({ path }) => statsOf(path) !== undefined).map(({ path }) => path);
  if (there.length === 0) return;
  const [is, them] = there.length === 1 ? ['is', 'it'] : ['are', 'them'];
  throw new UsageError(`${there.join(', ')} ${is} there already; --force replaces ${them}`);
}

/** Writes it whole or not at all. Throws MusterError where it can't; without `force` also for a file that is there. */
export async function writeAgentFile(
  { path, text }: NewFile,
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

/** Makes a directory with its parents, with these permission bits before the umask; returns its real path. */
function madeDirectory(directory: string, mode: number): string {
  try {
    makeMissing(directory, mode);
  } catch (error) {
    throw new UsageError(`--to ${directory}: can't be made (${errorMessage(error)})`);
  }
  return realDirectory(directory, '--to');
}

/** Level by level: `recursive` of Node tries without end where a directory takes none, as /proc does. */
function makeMissing(directory: string, mode: number): void {
  if (existsSync(directory)) return;
  makeMissing(dirname(directory), mode);
  mkdirSync(directory, mode);
}

function statsOf(path: string) {
  const { real: target, exists } = resolveInRoots(path, []);
  return exists ? lstatSync(target, { bigint: true, throwIfNoEntry: false }) : undefined;
}

/** As whose a file's agents would be found: those of a project have to be trusted; null: nobody looks there. */
export function scopeOfFile(path: string, { cwd, environment }: Place): AgentScope | null {
  const place = searchPaths(AGENTS, createSearchContext(cwd, environment)).find((each) =>
    isInside(real(each.path), real(path)),
  );
  return place?.scope ?? null;
}
