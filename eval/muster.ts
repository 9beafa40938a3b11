import { spawnSync } from 'node:child_process';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { isJsonObject, type JsonValue } from '../src/base/json.ts';
import { REPOSITORY, type Place } from './place.ts';

/** The built program. */
export const MUSTER = join(REPOSITORY, 'dist', 'muster.js');

/** What an agent used, with all of its subagents, as Muster's own log says it. */
export interface Usage {
  readonly turns: number;
  readonly subagents: number;
  /** Tokens that were neither read from a cache nor written to one. */
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** The cost in USD; null if a price is unknown. */
  readonly costUsd: number | null;
}

/** The usage of an agent that has sent no request. */
export const NO_USAGE: Usage = {
  turns: 0,
  subagents: 0,
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  costUsd: null,
};

/** The time that `muster usage` may take. */
const USAGE_MS = 60_000;

/** Reads the usage of all tasks in a data directory. Throws if Muster cannot read it. */
export function readUsage(dataDir: string, env: NodeJS.ProcessEnv): Usage {
  const args = [MUSTER, 'usage', '--data-dir', dataDir, '--json'];
  const options = { env, encoding: 'utf8', timeout: USAGE_MS } as const;
  const { stdout, stderr, status } = spawnSync(process.execPath, args, options);
  if (status !== 0) throw new Error(`muster usage ended with ${status}: ${stderr}`);
  const printed: JsonValue = JSON.parse(stdout);
  const total = isJsonObject(printed) ? printed['total'] : null;
  const parts = isJsonObject(total) ? [total['reported'], total['estimated']] : [];
  const sum = (read: (part: JsonValue | undefined) => number) =>
    parts.reduce((known: number, part) => known + read(part), 0);
  const tokens = (name: string) => sum((part) => numberAt(part, 'usage', name));
  const isPriced = parts.every((part) => isJsonObject(part) && part['costUsd'] !== null);
  return {
    turns: sum((part) => numberAt(part, 'answers')),
    subagents: Math.max(0, numberAt(total, 'tasks') - 1),
    input: tokens('input'),
    output: tokens('output'),
    cacheRead: tokens('cacheRead'),
    cacheWrite: tokens('cacheWrite'),
    // Sums of decimal prices have rounding errors, which would make equal runs look different.
    costUsd: isPriced ? Number(sum((part) => numberAt(part, 'costUsd')).toFixed(9)) : null,
  };
}

function numberAt(value: JsonValue | undefined, ...path: readonly string[]): number {
  const found = path.reduce<JsonValue | undefined>(
    (at, key) => (isJsonObject(at) ? at[key] : undefined),
    value,
  );
  return typeof found === 'number' ? found : 0;
}

/** What an agent must not read, besides the results and the checks. Absolute paths. */
export interface HiddenFromAgent {
  /** The directory of the tasks. */
  readonly tasks: string;
  /** The directories in which other agents work on the same task at the same time. */
  readonly siblings: readonly string[];
}

/**
 * Lists rules that keep an agent away from the hidden checks and the solutions, also in the history of Muster's
 * repository, from the results, from the work of other agents on the same task, and from the web, where a solution could
 * be found.
 */
export function denyRules(place: Place, { tasks, siblings }: HiddenFromAgent): readonly string[] {
  const git = ['rev-parse', '--path-format=absolute', '--git-dir', '--git-common-dir'];
  const { stdout, status } = spawnSync('git', ['-C', REPOSITORY, ...git], { encoding: 'utf8' });
  const histories = status === 0 ? stdout.trim().split('\n') : [];
  const ofEvaluation = [join(REPOSITORY, 'eval'), tasks, place.out, place.checks, ...siblings];
  const hidden = [...ofEvaluation, ...histories].map((path) => resolve(path));
  const secrets = SECRETS.map((name) => join(homedir(), name));
  return [
    ...new Set([...hidden, ...secrets].map((path) => `Read(/${path}/**)`)),
    'WebFetch',
    'WebSearch',
  ];
}

/** Directories of the real home directory that Muster would hide by itself if it were that of the agents. */
const SECRETS = ['.ssh', '.gnupg', '.aws', '.config', '.kube', '.docker', '.claude', '.mozilla'];
