import type { Clock } from '../../base/clock.ts';
import { denyLinkTargets } from './link-targets.ts';
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
import { findProtectedBelow, createReadRules } from './protected-reads.ts';
import { findRepositoryProblem } from './repository-proof.ts';
import { loadShellParser } from '../../policy/shell/load-parser.ts';
import { buildCommandPath } from '../../sys/processes/command-environment.ts';
import { readEnvironment } from '../../sys/env.ts';
import type { EngineDeps } from '../task/deps.ts';
import { readTaskVariables } from '../task/task-variables.ts';
import type { ReadyCall } from '../task/prepared-call.ts';
import type { CallingTask } from './prepare-call.ts';

/** The facts about the commands of a call that a decision needs. */
interface CommandFindings extends Pick<ResolvedCall, 'proof' | 'redirectedWrites'> {
  readonly shellParser: ShellParser;
}

/** Finds out what the commands of a call do. This module is loaded with the first call that has commands. */
export async function analyzeCommands(
  deps: EngineDeps,
  run: Omit<CallingTask, 'view'>,
  { access }: ReadyCall,
  { sandboxed }: { readonly sandboxed: boolean },
): Promise<CommandFindings> {
  const { spec } = run;
  const rights = denyLinkTargets(run.permissions.rights, deps.home);
  const shellParser = await loadShellParser();
  const described = access ?? NO_ACCESS;
  const context = { cwd: spec.cwd, home: deps.home, rights };
  const proof = await proveCommands(described, shellParser, {
    ...context,
    searchPath: buildCommandPath(deps.environment ?? readEnvironment()),
    variables: Object.keys(readTaskVariables(run)),
    clock: deps.clock,
    sandboxed,
  });
  const redirectedWrites = findRedirectedWrites(described, shellParser, context);
  return { shellParser, proof, redirectedWrites };
}

/** The maximum time to parse a command line. A command line that takes longer is not proved. */
const MAX_PARSE_MS = 250;
/** Directories of installed programs. They do not count as part of the workspace even if its root is `/`. */
const SYSTEM_PROGRAMS = ['/bin', '/sbin', '/usr', '/opt', '/nix'];

/** The directories, rights and environment with which commands would run. */
export interface ProofContext {
  readonly cwd: string;
  readonly home: string;
  readonly rights: Rights;
  /** The PATH of the commands. */
  readonly searchPath: string;
  /** Names of variables that the task has set for its commands. A proved command runs without these variables. */
  readonly variables: readonly string[];
  readonly clock: Clock;
  readonly sandboxed: boolean;
}

/**
 * Proves that the commands of a call change nothing, from their grammar and from the files that are on disk. Whatever
 * is uncertain counts as not proved.
 */
export async function proveCommands(
  { commands, background = false }: Access,
  parser: ShellParser,
  context: ProofContext,
): Promise<CommandProof> {
  if (background) return { proven: false, reason: 'it would keep running in the background' };
  const reads: CallPath[] = [];
  for (const line of commands) {
    const proof = proveInTime(line, parser, context.clock);
    if (proof === null) {
      const reason = `parsing it took more than ${MAX_PARSE_MS} ms; use a shorter command`;
      return { proven: false, reason, isOverLimit: true };
    }
    if (!proof.proven) return { proven: false, reason: proof.reason };
    const named = context.variables.find((name) => new RegExp(`\\b${name}\\b`).test(line));
    if (named !== undefined)
      return { proven: false, reason: `it may use ${named}, which SetEnv has set` };
    const problem = await findDiskProblem(proof, context);
    if (problem !== undefined) return { proven: false, reason: problem };
    reads.push(...proof.reads.map((read) => resolveRead(read, context)));
  }
  return { proven: true, reads };
}

/**
 * Proves one command line. Returns null if this takes too long. The first attempt may be slow because the parser has never
 * run, or because the machine is busy, so a second one counts as well.
 */
function proveInTime(
  line: string,
  parser: ShellParser,
  clock: Clock,
): ReturnType<typeof proveReadOnly> | null {
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const startedAt = clock.monotonic();
    const proof = proveReadOnly(line, parser);
    const ms = clock.monotonic() - startedAt;
    if (ms <= MAX_PARSE_MS) return proof;
    if (ms > MAX_PARSE_MS * 4) return null;
  }
  return null;
}

/** Returns the files that the commands of a call write to by redirection. */
function findRedirectedWrites(
  { commands }: Access,
  parser: ShellParser,
  context: Pick<ProofContext, 'cwd' | 'home' | 'rights'>,
): readonly CallPath[] {
  return commands
    .flatMap((line) => findRedirectWrites(parser(line)))
    .map((path) => {
      const asked = toAbsolutePath(path, context);
      const { real, inside } = resolveInRoots(asked, context.rights.roots);
      return { asked, real, insideRoots: inside };
    });
}

type Proven = Extract<LineProof, { proven: true }>;

/**
 * Returns why a proved command line may do more than its text shows, given the files on disk; undefined if it may not.
 */
async function findDiskProblem(proof: Proven, context: ProofContext): Promise<string | undefined> {
  const planted = proof.programs.find((name) => isPlanted(name, context));
  if (planted !== undefined) return `\`${planted}\` on PATH is a file of the workspace`;
  for (const directory of proof.repositories) {
    const { real } = resolveInRoots(toAbsolutePath(directory, context), []);
    const problem = findRepositoryProblem(real, context);
    if (problem !== undefined) return problem;
  }
  const rules = createReadRules(context.rights, context.home);
  for (const read of proof.reads) {
    const { real, insideRoots } = resolveRead(read, context);
    if (isSystemPath(real)) return `${JSON.stringify(real)} is not a file of a workspace`;
    // A read outside of the roots always needs an answer from a person, so only reads inside them are checked.
    const problem = insideRoots ? await findProtectedBelow(real, read.below, rules) : undefined;
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Returns true if a program name on PATH leads to a file in the workspace, which a task may have written. */
function isPlanted(name: string, { searchPath, rights }: ProofContext): boolean {
  const directory = findProgramDirectory(name, searchPath);
  if (directory === undefined) return false;
  if (SYSTEM_PROGRAMS.some((system) => isInside(system, directory))) return false;
  return rights.roots.some((root) => isInside(root, directory));
}

/** Resolves a read of a command to a real path, with the risk of reading it. */
function resolveRead(read: CommandRead, context: ProofContext): CallPath {
  const asked = toReadPath(read, context);
  const { home, rights } = context;
  const { roots } = rights;
  const { real, inside } = resolveInRoots(asked, roots);
  return { asked, real, insideRoots: inside, ...findPathRisk(real, 'read', { roots, home }) };
}

/** Returns the absolute path of a read. Git resolves some paths from the top of a repository (`topOf`). */
function toReadPath({ path, topOf }: CommandRead, context: ProofContext): string {
  if (topOf === undefined) return toAbsolutePath(path, context);
  const { real } = resolveInRoots(toAbsolutePath(topOf, context), []);
  return joinShellPath(findRepository(real)?.top ?? real, path);
}

/** Returns an absolute path. It keeps each `..`, since the kernel follows links before it applies a `..`. */
function toAbsolutePath(path: string, { cwd, home }: Pick<ProofContext, 'cwd' | 'home'>): string {
  if (path === '~') return home;
  if (path.startsWith('~/')) return `${home}/${path.slice(2)}`;
  return path.startsWith('/') ? path : `${cwd}/${path}`;
}
