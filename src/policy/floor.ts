import { truncate } from '../base/text.ts';
import type { Decision } from '../protocol/permission.ts';
import { isSecretPath } from '../sys/files/secret-paths.ts';
import {
  pathsOf,
  type CallAccess,
  type JudgedCall,
  type PathCaution,
  type ResolvedPath,
} from './call.ts';
import { changesSomething, mayBeProved, type Judged } from './judged.ts';
import { isProtectedPath } from './protected-paths.ts';
import { isDisallowed } from './tool-cover.ts';
import { planModeWay } from './would-allow.ts';

/** What no rule and no mode lifts. */
export function floor(judged: Judged): Decision | undefined {
  return (
    limitFloor(judged) ??
    planFloor(judged) ??
    guardedFloor(judged, judged.call.access) ??
    outsideFloor(judged.call)
  );
}

function limitFloor({ call: { proof } }: Judged): Decision | undefined {
  if (proof?.proven !== false || proof.overLimit !== true) return undefined;
  return { verdict: 'deny', step: 'floor', reason: `The command is refused: ${proof.because}.` };
}

function planFloor(judged: Judged): Decision | undefined {
  const { call, rights } = judged;
  if (rights.mode !== 'plan' || !changesSomething(call)) return undefined;
  const problem = planProblem(judged);
  if (problem === undefined) return readFloor(judged);
  const wouldAllow = planModeWay(call, rights);
  return {
    verdict: 'deny',
    step: 'floor',
    reason: problem,
    ...(mayBeProved(call) ? { instead: READ_INSTEAD } : {}),
    ...(wouldAllow === undefined ? {} : { wouldAllow }),
  };
}

const READ_INSTEAD =
  'To look at files use Read, Glob and Grep, or a plain command that only reads. For all else go on without it, and say so in your answer.';

/** Why a call may have an effect that plan mode is without. */
function planProblem({ call, rights }: Judged): string | undefined {
  const { proof } = call;
  if (!mayBeProved(call)) return `Plan mode changes nothing, and ${call.tool} could.`;
  if (proof?.proven !== true) {
    const because = proof?.because ?? 'nobody looked';
    return `Plan mode runs only commands that are proved to change nothing, and this one is not: ${because}.`;
  }
  return proof.reads.length > 0 && isDisallowed(rights, 'Read')
    ? 'Read is disallowed for this agent, and the command reads.'
    : undefined;
}

/** What is judged of a Read applies to what a command is known to read, before it runs for that alone. */
export function readFloor(judged: Judged): Decision | undefined {
  const call = judged.asRead?.call;
  return call === undefined ? undefined : (guardedFloor(judged, call.access) ?? outsideFloor(call));
}

/** Tools whose paths are those of directories: that in which Bash is to run its command, too. */
const OF_DIRECTORIES: ReadonlySet<string> = new Set(['LS', 'Glob', 'Bash']);

function outsideFloor({ tool, access }: JudgedCall): Decision | undefined {
  const outside = pathsOf(access).find((path) => !path.insideRoots);
  if (outside === undefined) return undefined;
  const { real } = outside;
  const directory = OF_DIRECTORIES.has(tool) ? real : parentDirectory(real);
  return {
    verdict: 'ask',
    step: 'floor',
    reason: `${show(outside)} is outside the workspace roots, which no rule or mode opens; a person may, for one call.`,
    wouldAllow: `--add-dir ${JSON.stringify(directory)}`,
  };
}

function guardedFloor({ rights, facts }: Judged, access: CallAccess): Decision | undefined {
  const place = { roots: rights.roots, stateDirectories: facts.stateDirectories };
  const isProtected = (path: string): boolean => isProtectedPath(path, place);
  const guarded = access.writes.find((path) => either(path, isProtected));
  if (guarded !== undefined) return personOnly(`${show(guarded)} is a protected path`);
  const secret = pathsOf(access).find((path) => either(path, isSecretPath));
  if (secret !== undefined) return personOnly(`${show(secret)} usually holds secrets`);
  const [cautious] = pathsOf(access).flatMap((path) =>
    path.caution === undefined ? [] : [`${show(path)} ${CAUTIONS[path.caution]}`],
  );
  return cautious === undefined ? undefined : personOnly(cautious);
}

/** In words that follow the path. */
export const CAUTIONS: Readonly<Record<PathCaution, string>> = {
  other_names: 'has other names (hard links), which may lie outside the workspace',
  git_directory: 'lies in a git directory, whose config and hooks git obeys',
  obeyed_by_git: 'is obeyed by git, whose configuration names it for hooks or includes it',
};

function personOnly(what: string): Decision {
  const reason = `${what}: only a person can allow it, for one call; no rule or mode does.`;
  return { verdict: 'ask', step: 'floor', reason };
}

function either(path: ResolvedPath, test: (path: string) => boolean): boolean {
  return test(path.asked) || (path.real !== path.asked && test(path.real));
}

/** Quoted, so that a hostile name stays one word of one line. */
function show(path: ResolvedPath): string {
  const asked = JSON.stringify(truncate(path.asked, 200));
  return path.asked === path.real
    ? asked
    : `${asked} (really ${JSON.stringify(truncate(path.real, 200))})`;
}

function parentDirectory(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf('/')));
}
