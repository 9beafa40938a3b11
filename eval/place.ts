import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { UsageError } from '../src/base/errors.ts';
import { endMarkedProcesses } from '../src/sys/processes/process-group.ts';
import { removeTree } from './copy-tree.ts';

/** The root of Muster's own repository. */
export const REPOSITORY = resolve(import.meta.dirname, '..');

/** The directories of an evaluation. All paths are absolute. */
export interface Place {
  /** Receives the results, and one directory for each run. */
  readonly out: string;
  /** Holds the copies in which agents and checks work. It is outside of Muster's repository and of `out`. */
  readonly work: string;
  /** The home directory of the agents. */
  readonly agentHome: string;
  /** Belongs to the checks and is denied to agents: the copies that are judged, and the home directory of the checks. */
  readonly checks: string;
  /** The home directory of the checks, with the caches of compilers. */
  readonly checkHome: string;
}

/** Creates the directories of an evaluation. The same output directory always has the same places. */
export function preparePlace(out: string): Place {
  mkdirSync(join(out, 'runs'), { recursive: true });
  const key = createHash('sha256').update(realpathSync(out)).digest('hex').slice(0, 12);
  const work = join(realpathSync(tmpdir()), `muster-eval-${key}`);
  const checks = join(work, 'checks');
  const place = {
    out,
    work,
    agentHome: join(work, 'agent-home'),
    checks,
    checkHome: join(checks, 'home'),
  };
  makePrivate(work);
  for (const home of [place.agentHome, place.checkHome]) mkdirSync(home, { recursive: true });
  return place;
}

/**
 * Creates a directory that only this user can use. Its name is known in advance, and the directory above belongs to
 * everybody. Throws UsageError if another user has made it.
 */
function makePrivate(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const found = lstatSync(path);
  const isOwn = found.isDirectory() && found.uid === (process.getuid?.() ?? found.uid);
  if (isOwn && (found.mode & 0o022) === 0) return;
  throw new UsageError(`${path} belongs to another user: remove it, or set TMPDIR`);
}

/** The directories of one run. */
export interface RunPlace {
  /** Holds what is kept of the run: its events, its result, its logs and the output of the check. */
  readonly kept: string;
  /** The repository in which the agent works. */
  readonly repo: string;
  /** The clean copy in which the hidden check runs. */
  readonly judged: string;
}

/** Creates empty directories for a run. */
export function prepareRun(place: Place, id: string): RunPlace {
  const kept = join(place.out, 'runs', id);
  const [work, judged] = [join(place.work, id), join(place.checks, id)];
  for (const directory of [kept, work, judged]) removeTree(directory);
  for (const directory of [kept, work]) mkdirSync(directory, { recursive: true });
  return { kept, repo: join(work, 'repo'), judged };
}

/** Removes the copies of a run. */
export function removeCopies({ repo, judged }: RunPlace): void {
  for (const directory of [dirname(repo), judged]) removeTree(directory);
}

/** The variable by which the agents and checks of an evaluation are recognized. Its value is the output directory. */
const MARK_VARIABLE = 'EVAL_OUT';

/**
 * Ends the agents and checks of an earlier start in the same output directory that outlived their runner. Where there is
 * no `/proc`, their own time limits end them.
 */
export async function endEarlierPrograms({ out }: Pick<Place, 'out'>): Promise<void> {
  await endMarkedProcesses(MARK_VARIABLE, [out]);
}

/**
 * Builds the environment of the agents: that of the user, in which the keys of providers are, with another home
 * directory, so that personal settings, agents and memory do not change the results.
 */
export function agentEnvironment(place: Place): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('XDG_') && !PERSONAL.has(name),
  );
  return {
    ...Object.fromEntries(kept),
    ...toolEnvironment(place.agentHome),
    [MARK_VARIABLE]: place.out,
  };
}

const PERSONAL = new Set(['MUSTER_DATA_DIR', 'MUSTER_MODELS_FAMILY', 'MUSTER_TASK_TOOL_ENABLED']);

/** Builds the environment of the checks, which contains no keys. */
export function checkEnvironment(place: Place): NodeJS.ProcessEnv {
  return {
    LANG: process.env['LANG'] ?? 'C.UTF-8',
    TERM: 'dumb',
    ...toolEnvironment(place.checkHome),
    [MARK_VARIABLE]: place.out,
  };
}

/** The home directory, and what compilers need to be found without the real one. */
function toolEnvironment(home: string): NodeJS.ProcessEnv {
  const rustup = process.env['RUSTUP_HOME'] ?? join(homedir(), '.rustup');
  const path = [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter);
  return {
    HOME: home,
    PATH: path,
    ...(existsSync(rustup) ? { RUSTUP_HOME: rustup, MUSTER_SANDBOX_ENV: 'RUSTUP_HOME' } : {}),
  };
}
