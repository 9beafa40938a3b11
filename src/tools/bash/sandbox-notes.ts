import type { RemovedEntry, Settlement } from '../../base/settlement.ts';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { displayPath, isInside } from '../../sys/paths.ts';
import { isProtectedName } from '../../sys/protected-names.ts';
import type { RunOutcome } from './command-run.ts';

/** Where a command ran, and where it may write. Absolute, real. */
export interface CommandPlace {
  readonly cwd: string;
  readonly roots: readonly string[];
}

/** What only a sandbox makes programs say, as a rule. */
const HELD_BACK = /read-only file ?system|device or resource busy|\bE(?:ROFS|BUSY)\b/i;
/** What they say without one, too: it counts only where the command failed, and a path says why. */
const MAY_BE_HELD_BACK = /permission denied|operation not permitted|\bE(?:ACCES|PERM)\b/i;
const NO_NETWORK =
  /network is unreachable|could not resolve|name resolution|name or service not known|nodename nor servname|unknown host|\b(?:ENETUNREACH|EAI_AGAIN|ENOTFOUND)\b/i;
const REFUSED = /connection refused|\bECONNREFUSED\b/i;

/** What a shell says of itself, in front of an error: its path is not what was held back. */
const OF_THE_SHELL = /^\S*sh: (?:line \d+: )?/;
/** The shell was not allowed to run a program: mostly because that is not executable. */
const NOT_EXECUTABLE = 126;

/** A path in an error message, in quotes or absolute. */
const PATHS = /['"`‘“]([^'"`’”\n]{1,300})['"`’”]|(?<![\w.])(\/[^\s'"`:,;)]{1,300})/g;
const BETWEEN_NAMES = /[\s:'"`‘’“”,;()/]+/;
/** Lines that are looked at. */
const MOST_LINES = 2_000;
const MOST_SHOWN = 5;

type Run = Pick<RunOutcome, 'held' | 'exitCode' | 'endedBy' | 'settled'>;

/** What the sandbox kept a command from, and how it can be had, for the model. None where it kept nothing. */
export function sandboxNotes(run: Run, output: string, place: CommandPlace): readonly string[] {
  const { held, settled } = run;
  if (held === null) return [];
  const writing = run.endedBy === 'itself' ? writingNote(run, output, place) : null;
  const network = held.network ? null : networkNote(run, output);
  return [...settledNotes(settled, place), ...[writing, network].filter((note) => note !== null)];
}

function writingNote({ held, exitCode }: Run, output: string, place: CommandPlace): string | null {
  const isSure = (line: string): boolean => HELD_BACK.test(line);
  const mayBe = exitCode !== 0 && exitCode !== NOT_EXECUTABLE;
  const line = output
    .split('\n', MOST_LINES)
    .find((each) => isSure(each) || (mayBe && MAY_BE_HELD_BACK.test(each)));
  if (line === undefined) return null;
  if (held?.access === 'read-only') {
    return '[the sandbox of this task is read-only: nothing can be written but $TMPDIR]';
  }
  const paths = [...line.replace(OF_THE_SHELL, '').matchAll(PATHS)].map(
    ([, quoted, bare]) => quoted ?? bare ?? '',
  );
  const absolute = paths
    .filter((path) => /^[\x20-\x7e]+$/.test(path))
    .map((path) => resolve(place.cwd, path.replace(/^~(?=\/|$)/, homedir())));
  // Before the message stands what could not be written; programs begin with their own name.
  const outside = absolute.findLast((path) => !place.roots.some((root) => isInside(root, path)));
  if (outside !== undefined) {
    return `[the sandbox allows writing only inside the workspace, $TMPDIR and the caches of package managers, and ${outside} is outside: --add-dir ${directoryToAdd(outside)} opens it]`;
  }
  const inside = absolute.at(-1);
  if (!isSure(line) && !line.split(BETWEEN_NAMES).some(isProtectedName)) return null;
  const what = inside === undefined ? 'a protected file' : displayPath(inside, place.cwd);
  return `[the sandbox keeps ${what} from commands: protected files (.git/config, .git/hooks, .npmrc, .vscode and their kind) are read-only for them. Write and Edit ask the user; what only git may change, the user can run]`;
}

/** The directory of a program in the home directory, or the one in which the file lies. */
function directoryToAdd(path: string): string {
  const home = homedir();
  const [first] =
    isInside(home, path) && path !== home ? path.slice(home.length + 1).split(sep) : [];
  return first === undefined || !first.startsWith('.') ? dirname(path) : join(home, first);
}

function networkNote({ exitCode, endedBy }: Run, output: string): string | null {
  const isRefused = exitCode !== 0 && endedBy === 'itself' && REFUSED.test(output);
  if (!isRefused && !NO_NETWORK.test(output)) return null;
  return '[the sandbox has no network: only what this task runs in the background can be reached; the user can allow it with sandbox.network]';
}

/** For what a command made under protected names. */
export function settledNotes(
  { removed, fromCommits, putBack = [] }: Settlement,
  { cwd }: CommandPlace,
): readonly string[] {
  return [
    ...(fromCommits.length === 0
      ? []
      : [`[git wrote protected files from commits: ${namesOf(fromCommits, cwd)}]`]),
    ...(putBack.length === 0
      ? []
      : [
          `[the sandbox put back as they were: ${namesOf(putBack, cwd)}. git may change protected files only to what a commit of the user or a remote has, and add harmless settings. What else is wanted, the user can run]`,
        ]),
    ...removedNotes(removed, cwd),
  ];
}

function namesOf(paths: readonly string[], cwd: string): string {
  const named = paths.slice(0, MOST_SHOWN).map((path) => displayPath(path, cwd));
  const others = paths.length - named.length;
  return (others === 0 ? named : [...named, `${others} more`]).join(', ');
}

function removedNotes(removed: readonly RemovedEntry[], cwd: string): readonly string[] {
  const notes = removed
    .slice(0, MOST_SHOWN)
    .map((entry) => removedNote(entry, displayPath(entry.path, cwd)));
  const others = removed.length - notes.length;
  return others === 0 ? notes : [...notes, `[and ${others} more, kept beside it]`];
}

function removedNote(entry: RemovedEntry, shown: string): string {
  const how =
    basename(entry.path) === '.git'
      ? 'The user can make a repository here'
      : 'Write makes such a file, and asks the user';
  return entry.keptAt === null
    ? `[commands may not make protected files, and the sandbox could not take ${shown} out of the workspace: ${entry.problem}. Tell the user]`
    : `[the sandbox took ${shown} out of the workspace, since commands may not make protected files. It is kept as ${entry.keptAt} for the user. ${how}]`;
}
