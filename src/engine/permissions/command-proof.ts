import type { Clock } from '../../base/clock.ts';
import { type CommandProof, type CallPath, type ResolvedCall } from '../../policy/call.ts';
import { isInside } from '../../base/path-inside.ts';
import { proveReadOnly } from '../../policy/shell/read-only/prove.ts';
import {
  joinShellPath,
  type CommandRead,
  type LineProof,
} from '../../policy/shell/read-only/proof.ts';
import { findRedirectWrites } from '../../policy/shell/redirect-writes.ts';
import type { ShellParser } from '../../policy/shell/parsed-line.ts';
import { type Access, type Rights, NO_ACCESS } from '../../protocol/permission.ts';
import { findProgramDirectory } from '../../sys/processes/find-program.ts';
import { findRepository } from '../../sys/git/repository.ts';
import { findPathRisk } from './file-access.ts';
import { isSystemPath } from '../../sys/files/paths.ts';
import { resolveInRoots } from '../../sys/files/real-path.ts';
import { protectedBelow, readRules } from './protected-reads.ts';
import { repositoryProblem } from './repository-proof.ts';
import { loadShellParser } from '../../policy/shell/load-parser.ts';
import { buildCommandPath } from '../../sys/processes/command-environment.ts';
import { readEnvironment } from '../../sys/env.ts';
import type { EngineDeps } from '../task/deps.ts';
import { readTaskVariables } from '../task/task-variables.ts';
import type { ReadyCall } from '../task/prepared-call.ts';
import type { CallingTask } from './prepare-call.ts';

interface CommandReading extends Pick<ResolvedCall, 'proof' | 'redirectedWrites'> {
  readonly shellParser: ShellParser;
}

/** Reads what the commands of a call do. This module is loaded with the first call that has commands. */
export async function readCommands(
  deps: EngineDeps,
  run: Omit<CallingTask, 'view'>,
  { access }: ReadyCall,
  { sandboxed }: { readonly sandboxed: boolean },
): Promise<CommandReading> {
  const { spec } = run;
  const { rights } = run.permissions;
  const shellParser = await loadShellParser();
  const described = access ?? NO_ACCESS;
  const place = { cwd: spec.cwd, home: deps.home, rights };
  const proof = await proveCommands(described, shellParser, {
    ...place,
    searchPath: buildCommandPath(readEnvironment()),
    variables: Object.keys(readTaskVariables(run)),
    clock: deps.clock,
    sandboxed,
  });
  return { shellParser, proof, redirectedWrites: redirectedWrites(described, shellParser, place) };
}

/** Maximum time to read a command, in milliseconds; a command that takes longer is refused. */
const MAX_JUDGE_MS = 250;
/** Directories of installed programs, which are no files of a workspace even if that is the whole disk. */
const SYSTEM_PROGRAMS = ['/bin', '/sbin', '/usr', '/opt', '/nix'];

/** The surroundings in which commands would run. */
export interface CommandPlace {
  readonly cwd: string;
  readonly home: string;
  readonly rights: Rights;
  /** The PATH of the commands. */
  readonly searchPath: string;
  /** Names of variables that the task has set for its commands. A proved command runs without them. */
  readonly variables: readonly string[];
  readonly clock: Clock;
  readonly sandboxed: boolean;
}

/**
 * Proves that the commands of a call change nothing, by their grammar and by what is on the disk where they would
 * run. Whatever is uncertain counts as not proved.
 */
export async function proveCommands(
  { commands, background = false }: Access,
  parser: ShellParser,
  place: CommandPlace,
): Promise<CommandProof> {
  if (background) return { proven: false, reason: 'it would go on in the background' };
  const reads: CallPath[] = [];
  for (const line of commands) {
    const startedAt = place.clock.monotonic();
    const proof = proveReadOnly(line, parser);
    if (place.clock.monotonic() - startedAt > MAX_JUDGE_MS) {
      const reason = `reading it took over ${MAX_JUDGE_MS} ms; write it shorter`;
      return { proven: false, reason, isOverLimit: true };
    }
    if (!proof.proven) return { proven: false, reason: proof.reason };
    const named = place.variables.find((name) => new RegExp(`\\b${name}\\b`).test(line));
    if (named !== undefined)
      return { proven: false, reason: `it may use ${named}, which SetEnv has set` };
    const problem = await placeProblem(proof, place);
    if (problem !== undefined) return { proven: false, reason: problem };
    reads.push(...proof.reads.map((read) => resolved(read, place)));
  }
  return { proven: true, reads };
}

/** Returns the files that the commands of a call write to by redirection. */
function redirectedWrites(
  { commands }: Access,
  parser: ShellParser,
  place: Pick<CommandPlace, 'cwd' | 'home' | 'rights'>,
): readonly CallPath[] {
  return commands
    .flatMap((line) => findRedirectWrites(parser(line)))
    .map((path) => {
      const asked = absolutePath(path, place);
      const { real, inside } = resolveInRoots(asked, place.rights.roots);
      return { asked, real, insideRoots: inside };
    });
}

type Proven = Extract<LineProof, { proven: true }>;

/** Returns why a command may do more than its words say where it would run; undefined if it does not. */
async function placeProblem(proof: Proven, place: CommandPlace): Promise<string | undefined> {
  const planted = proof.programs.find((name) => isPlanted(name, place));
  if (planted !== undefined) return `\`${planted}\` on PATH lies in the workspace`;
  for (const directory of proof.repositories) {
    const { real } = resolveInRoots(absolutePath(directory, place), []);
    const problem = repositoryProblem(real, place);
    if (problem !== undefined) return problem;
  }
  const rules = readRules(place.rights, place.home);
  for (const read of proof.reads) {
    const { real, insideRoots } = resolved(read, place);
    if (isSystemPath(real)) return `${JSON.stringify(real)} is no file of a workspace`;
    // Outside of the roots nothing is read without a question anyway.
    const problem = insideRoots ? await protectedBelow(real, read.below, rules) : undefined;
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function isPlanted(name: string, { searchPath, rights }: CommandPlace): boolean {
  const directory = findProgramDirectory(name, searchPath);
  if (directory === undefined) return false;
  if (SYSTEM_PROGRAMS.some((system) => isInside(system, directory))) return false;
  return rights.roots.some((root) => isInside(root, directory));
}

function resolved(read: CommandRead, place: CommandPlace): CallPath {
  const asked = absolute(read, place);
  const { home, rights } = place;
  const { roots } = rights;
  const { real, inside } = resolveInRoots(asked, roots);
  return { asked, real, insideRoots: inside, ...findPathRisk(real, 'read', { roots, home }) };
}

function absolute({ path, topOf }: CommandRead, place: CommandPlace): string {
  if (topOf === undefined) return absolutePath(path, place);
  const { real } = resolveInRoots(absolutePath(topOf, place), []);
  return joinShellPath(findRepository(real)?.top ?? real, path);
}

/** Returns an absolute path that keeps `..`, since the kernel follows links before it applies one. */
function absolutePath(path: string, { cwd, home }: Pick<CommandPlace, 'cwd' | 'home'>): string {
  if (path === '~') return home;
  if (path.startsWith('~/')) return `${home}/${path.slice(2)}`;
  return path.startsWith('/') ? path : `${cwd}/${path}`;
}
