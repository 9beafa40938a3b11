import { existsSync, lstatSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { AGENTS } from '../../agents/kinds.ts';
import { createSearchContext } from '../../agents/loader/search-context.ts';
import { listSearchPaths } from '../../agents/loader/list-files.ts';
import { errorMessage, UsageError } from '../../base/errors.ts';
import type { AgentScope } from '../../protocol/agent.ts';
import { userConfigDirectory } from '../../config/paths.ts';
import { TASK_VARIABLE } from '../../sys/processes/command-environment.ts';
import { isInside } from '../../base/path-inside.ts';
import { projectRoot } from '../../sys/files/project-directories.ts';
import { resolveInRoots, toRealPath } from '../../sys/files/real-path.ts';
import { writeFileInRoots } from '../../sys/files/write-file.ts';
import { resolveDirectory } from '../setup/workspace.ts';
import type { LoadedAgents } from './load-agents.ts';

/** A directory to which agents are written. */
export interface AgentTarget {
  /** Absolute. It need not exist. */
  readonly directory: string;
  /**
   * The directory outside of which no file is written, not even through a link. If null, the boundary is `directory`.
   */
  readonly boundary: string | null;
  /**
   * True if only the user may read new files, whatever the umask, because the directory belongs to the user's
   * configuration.
   */
  readonly isPrivate: boolean;
}

type TargetContext = Pick<LoadedAgents, 'cwd' | 'environment' | 'home'>;

/**
 * Returns the directory for `project`, `user` or a path. A relative path is relative to the working directory. Throws
 * UsageError if a command of an agent would write to the user's agents.
 */
export function resolveAgentTarget(to: string, context: TargetContext): AgentTarget {
  const { cwd, environment } = context;
  const root = projectRoot(cwd);
  const target: AgentTarget =
    to === 'project'
      ? { directory: join(root, '.muster', 'agents'), boundary: root, isPrivate: false }
      : {
          directory:
            to === 'user' ? join(userConfigDirectory(context), 'agents') : resolve(cwd, to),
          boundary: null,
          isPrivate: to === 'user',
        };
  const scope = findFileScope(join(target.directory, 'any.md'), context);
  if (scope !== null && scope !== 'project' && environment[TASK_VARIABLE] !== undefined) {
    throw new UsageError(
      "an agent must not write the user's agents: run this command in your own terminal",
    );
  }
  return target;
}

export interface NewAgentFile {
  readonly path: string;
  readonly text: string;
}

/** Throws UsageError with the names of all files that already exist. */
export function refuseExistingFiles(files: readonly NewAgentFile[]): void {
  const existing = files
    .filter(({ path }) => findStats(path) !== undefined)
    .map(({ path }) => path);
  if (existing.length === 0) return;
  const [verb, object] = existing.length === 1 ? ['exists', 'it'] : ['exist', 'them'];
  throw new UsageError(`${existing.join(', ')} already ${verb}; --force replaces ${object}`);
}

/**
 * Writes the full file or nothing. Throws MusterError if the file cannot be written, or exists and `force` is false.
 */
export async function writeAgentFile(
  { path, text }: NewAgentFile,
  { directory, boundary, isPrivate }: AgentTarget,
  { force }: { readonly force: boolean },
): Promise<void> {
  const root = boundary ?? createDirectory(directory, isPrivate ? 0o700 : 0o777);
  const realPath = boundary === null ? join(root, path.slice(directory.length)) : path;
  const existing = force ? findStats(realPath) : undefined;
  await writeFileInRoots(
    realPath,
    { roots: [root] },
    Buffer.from(text),
    existing ?? 'nothing',
    isPrivate && existing === undefined ? { mode: 0o600 } : {},
  );
}

/**
 * Creates a directory with its parents. The umask applies to `mode`. Returns the real path of the directory.
 */
function createDirectory(directory: string, mode: number): string {
  try {
    createMissingDirectories(directory, mode);
  } catch (error) {
    throw new UsageError(`--to ${directory}: cannot be created (${errorMessage(error)})`);
  }
  return resolveDirectory(directory, '--to');
}

/**
 * Creates missing directories level by level, because `recursive` of Node never ends if a directory accepts no entries,
 * as in /proc.
 */
function createMissingDirectories(directory: string, mode: number): void {
  if (existsSync(directory)) return;
  createMissingDirectories(dirname(directory), mode);
  mkdirSync(directory, mode);
}

/** Returns the status of the file to which a path leads, or undefined if it does not exist. */
function findStats(path: string) {
  const { real: target, exists } = resolveInRoots(path, []);
  return exists ? lstatSync(target, { bigint: true, throwIfNoEntry: false }) : undefined;
}

/**
 * Finds the scope in which the agents of a file are discovered. Returns null if no search path contains the file.
 */
export function findFileScope(
  path: string,
  { cwd, environment }: TargetContext,
): AgentScope | null {
  const searchPath = listSearchPaths(AGENTS, createSearchContext(cwd, environment)).find((each) =>
    isInside(toRealPath(each.path), toRealPath(path)),
  );
  return searchPath?.scope ?? null;
}
