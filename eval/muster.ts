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

/** Reads the usage of all tasks in a data directory. Throws if Muster cannot read it. */
export function readUsage(dataDir: string, env: NodeJS.ProcessEnv): Usage {
  const args = [MUSTER, 'usage', '--data-dir', dataDir, '--json'];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
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

/**
 * Lists rules that keep agents away from the hidden checks and the solutions, also in the history of Muster's
 * repository, from the results, and from the web, where a solution could be found.
 *
 * @param tasks the directory of the tasks
 */
export function denyRules(place: Place, tasks: string): readonly string[] {
  const git = ['rev-parse', '--path-format=absolute', '--git-dir', '--git-common-dir'];
  const { stdout, status } = spawnSync('git', ['-C', REPOSITORY, ...git], { encoding: 'utf8' });
  const histories = status === 0 ? stdout.trim().split('\n') : [];
  const hidden = [join(REPOSITORY, 'eval'), tasks, place.out, place.checks, ...histories].map(
    (path) => resolve(path),
  );
  const secrets = SECRETS.map((name) => join(homedir(), name));
  return [
    ...new Set([...hidden, ...secrets].map((path) => `Read(/${path}/**)`)),
    'WebFetch',
    'WebSearch',
  ];
}

/** Directories of the real home directory that Muster would hide by itself if it were that of the agents. */
const SECRETS = ['.ssh', '.gnupg', '.aws', '.config', '.kube', '.docker', '.claude', '.mozilla'];
