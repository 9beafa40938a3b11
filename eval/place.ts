import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { killGroup, readProcessFile } from './processes.ts';

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
  for (const home of [place.agentHome, place.checkHome]) mkdirSync(home, { recursive: true });
  return place;
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

/** Creates empty directories for a run, and ends what is left of an earlier attempt. */
export function prepareRun(place: Place, id: string): RunPlace {
  const kept = join(place.out, 'runs', id);
  endEarlierAgent(kept);
  const [work, judged] = [join(place.work, id), join(place.checks, id)];
  for (const directory of [kept, work, judged]) rmSync(directory, { recursive: true, force: true });
  for (const directory of [kept, work]) mkdirSync(directory, { recursive: true });
  return { kept, repo: join(work, 'repo'), judged };
}

/** Removes the copies of a run. */
export function removeCopies({ repo, judged }: RunPlace): void {
  for (const directory of [dirname(repo), judged]) {
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** The variable by which a process is recognized as the agent of a run. */
export const RUN_VARIABLE = 'EVAL_RUN';

/** Records the agent of a run, so that a later start can end it if this process is killed. */
export function recordAgent(kept: string, pid: number): void {
  writeFileSync(join(kept, 'agent.pid'), String(pid));
}

/**
 * Ends an agent that outlived a runner that was killed. Only a process whose environment names the run is ended, since
 * its id may belong to another program by now. Where there is no `/proc`, the time limit of the agent ends it.
 */
function endEarlierAgent(kept: string): void {
  const file = join(kept, 'agent.pid');
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, 'utf8'));
  if (!Number.isSafeInteger(pid) || pid < 2) return;
  const variables = readProcessFile(pid, 'environ').split('\0');
  if (variables.includes(`${RUN_VARIABLE}=${kept}`)) killGroup(pid);
}

/**
 * Builds the environment of the agents: that of the user, in which the keys of providers are, with another home
 * directory, so that personal settings, agents and memory do not change the results.
 */
export function agentEnvironment(place: Place): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('XDG_') && !PERSONAL.has(name),
  );
  return { ...Object.fromEntries(kept), ...toolEnvironment(place.agentHome) };
}

const PERSONAL = new Set(['MUSTER_DATA_DIR', 'MUSTER_MODELS_FAMILY', 'MUSTER_TASK_TOOL_ENABLED']);

/** Builds the environment of the checks, which contains no keys. */
export function checkEnvironment(place: Place): NodeJS.ProcessEnv {
  return {
    LANG: process.env['LANG'] ?? 'C.UTF-8',
    TERM: 'dumb',
    ...toolEnvironment(place.checkHome),
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
