import type { QuarantinedEntry, CleanupResult } from '../../base/cleanup-result.ts';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { homeDirectory } from '../../sys/env.ts';
import { isInside } from '../../base/path-inside.ts';
import { displayPath } from '../../sys/files/paths.ts';
import { isProtectedName } from '../../sys/files/protected-names.ts';
import type { RunOutcome } from './command-run.ts';

/** The directory of a command and the roots in which it may write, as absolute paths without links. */
export interface CommandLocation {
  readonly cwd: string;
  readonly roots: readonly string[];
}

/** Errors that programs usually report only in a sandbox. */
const SANDBOX_ERROR = /read-only file ?system|device or resource busy|\bE(?:ROFS|BUSY)\b/i;
/**
 * Errors that also occur without a sandbox. They count only if the command failed, and if a path in the error explains
 * them.
 */
const POSSIBLE_SANDBOX_ERROR = /permission denied|operation not permitted|\bE(?:ACCES|PERM)\b/i;
const NO_NETWORK_ERROR =
  /network is unreachable|could not resolve|name resolution|name or service not known|nodename nor servname|unknown host|\b(?:ENETUNREACH|EAI_AGAIN|ENOTFOUND)\b/i;
const CONNECTION_REFUSED_ERROR = /connection refused|\bECONNREFUSED\b/i;

/** The shell's own name in front of an error. Its path is not the path that could not be written. */
const SHELL_PREFIX = /^\S*sh: (?:line \d+: )?/;
/** The exit code of a shell that cannot run a program, usually because the file is not executable. */
const NOT_EXECUTABLE = 126;

/** Matches the paths in an error message: paths in quotes, and absolute paths. */
const PATHS = /['"`‘“]([^'"`’”\n]{1,300})['"`’”]|(?<![\w.])(\/[^\s'"`:,;)]{1,300})/g;
const NAME_SEPARATORS = /[\s:'"`‘’“”,;()/]+/;
/** The maximum number of lines of output that are searched for errors. */
const MAX_LINES = 2_000;
const MAX_SHOWN_PATHS = 5;

type Run = Pick<RunOutcome, 'held' | 'exitCode' | 'endedBy' | 'settled'>;

/**
 * Explains to the model what the sandbox prevented, and how it can be allowed. Returns an empty list if the sandbox
 * prevented nothing.
 */
export function sandboxNotes(
  run: Run,
  output: string,
  location: CommandLocation,
): readonly string[] {
  const { held, settled } = run;
  if (held === null) return [];
  const writing = run.endedBy === 'itself' ? describeWriteRefusal(run, output, location) : null;
  const network = held.network ? null : describeNetworkRefusal(run, output);
  return [
    ...protectedFileNotes(settled, location),
    ...[writing, network].filter((note) => note !== null),
  ];
}

function describeWriteRefusal(
  { held, exitCode }: Run,
  output: string,
  location: CommandLocation,
): string | null {
  const isSandboxError = (line: string): boolean => SANDBOX_ERROR.test(line);
  const isPossible = exitCode !== 0 && exitCode !== NOT_EXECUTABLE;
  const line = output
    .split('\n', MAX_LINES)
    .find((each) => isSandboxError(each) || (isPossible && POSSIBLE_SANDBOX_ERROR.test(each)));
  if (line === undefined) return null;
  if (held?.access === 'read-only') {
    return '[the sandbox of this task is read-only: nothing can be written but $TMPDIR]';
  }
  const paths = [...line.replace(SHELL_PREFIX, '').matchAll(PATHS)].map(
    ([, quoted, bare]) => quoted ?? bare ?? '',
  );
  const absolute = paths
    .filter((path) => /^[\x20-\x7e]+$/.test(path))
    .map((path) => resolve(location.cwd, path.replace(/^~(?=\/|$)/, homeDirectory())));
  // Programs put their own name first and the path that could not be written directly before the message.
  const outside = absolute.findLast((path) => !location.roots.some((root) => isInside(root, path)));
  if (outside !== undefined) {
    const { workspace } = held ?? {};
    if (workspace !== undefined && isInside(workspace.source, outside)) {
      const here = join(workspace.tree, relative(workspace.source, outside));
      return `[${outside} is read-only: this task works in its own worktree, where that path is ${here}]`;
    }
    return `[the sandbox allows writing only inside the workspace, $TMPDIR and the caches of package managers, and ${outside} is outside: --add-dir ${findDirectoryToAdd(outside)} opens it]`;
  }
  const inside = absolute.at(-1);
  if (!isSandboxError(line) && !line.split(NAME_SEPARATORS).some(isProtectedName)) return null;
  const what = inside === undefined ? 'a protected file' : displayPath(inside, location.cwd);
  return `[the sandbox keeps ${what} from commands: protected files (.git/config, .git/hooks, .npmrc, .vscode and the like) are read-only for them. Write and Edit ask the user; the user can run what only git may change]`;
}

/** The directory to open for a path: a program's own directory in the home directory, or the file's directory. */
function findDirectoryToAdd(path: string): string {
  const home = homeDirectory();
  const [first] =
    isInside(home, path) && path !== home ? path.slice(home.length + 1).split(sep) : [];
  return first === undefined || !first.startsWith('.') ? dirname(path) : join(home, first);
}

function describeNetworkRefusal({ exitCode, endedBy }: Run, output: string): string | null {
  const isRefused = exitCode !== 0 && endedBy === 'itself' && CONNECTION_REFUSED_ERROR.test(output);
  if (!isRefused && !NO_NETWORK_ERROR.test(output)) return null;
  return '[the sandbox has no network: only what this task runs in the background can be reached; the user can allow it with sandbox.network]';
}

/** Describes what the sandbox did with the protected files that a command created or changed. */
export function protectedFileNotes(
  { removed, fromCommits, putBack = [] }: CleanupResult,
  { cwd }: CommandLocation,
): readonly string[] {
  return [
    ...(fromCommits.length === 0
      ? []
      : [`[git wrote protected files from commits: ${formatPaths(fromCommits, cwd)}]`]),
    ...(putBack.length === 0
      ? []
      : [
          `[the sandbox restored ${formatPaths(putBack, cwd)}. git may change protected files only to the content of a commit of the user or of a remote, and add harmless settings. The user can run anything else]`,
        ]),
    ...describeRemovedEntries(removed, cwd),
  ];
}

function formatPaths(paths: readonly string[], cwd: string): string {
  const named = paths.slice(0, MAX_SHOWN_PATHS).map((path) => displayPath(path, cwd));
  const others = paths.length - named.length;
  return (others === 0 ? named : [...named, `${others} more`]).join(', ');
}

function describeRemovedEntries(
  removed: readonly QuarantinedEntry[],
  cwd: string,
): readonly string[] {
  const notes = removed
    .slice(0, MAX_SHOWN_PATHS)
    .map((entry) => describeRemovedEntry(entry, displayPath(entry.path, cwd)));
  const others = removed.length - notes.length;
  return others === 0 ? notes : [...notes, `[and ${others} more, kept beside it]`];
}

function describeRemovedEntry(entry: QuarantinedEntry, shown: string): string {
  const how =
    basename(entry.path) === '.git'
      ? 'The user can make a repository here'
      : 'Write can make such a file after asking the user';
  return entry.keptAt === null
    ? `[commands may not make protected files, and the sandbox could not take ${shown} out of the workspace: ${entry.problem}. Tell the user]`
    : `[the sandbox took ${shown} out of the workspace, since commands may not make protected files. It is kept as ${entry.keptAt} for the user. ${how}]`;
}
