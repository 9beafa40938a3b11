import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type JsonValue } from '../src/base/json.ts';
import type { Usage } from './muster.ts';

/** What became of one run. It is one line of `results.jsonl`. */
export interface RunResult extends Usage {
  readonly id: string;
  readonly task: string;
  readonly language: string;
  readonly kind: string;
  readonly delegation: boolean;
  readonly shape: string;
  /** Whether the hidden check exited with 0 on the tree that the agent left. */
  readonly solved: boolean;
  /**
   * `judged`: the check has decided. `error`: the agent could not work, for example without a valid key; such a run is
   * repeated by the next start.
   */
  readonly outcome: 'judged' | 'error';
  /** The status of the agent's task, such as `completed` or `partial`; null if it printed no result. */
  readonly status: string | null;
  /** Why the run was not solved, in one line; null if it was solved. */
  readonly reason: string | null;
  /** The wall time of the agent, in seconds. */
  readonly seconds: number;
  /** The exit code of the hidden check; null if it did not run or was killed. */
  readonly checkExitCode: number | null;
  /** The facts of Muster's receipt. The complete receipt is in the directory of the run. */
  readonly receipt: {
    readonly filesChanged: readonly string[];
    readonly commands: number;
    readonly refusals: number;
  };
}

/** What an evaluation runs. Its results can be continued only with the same values. */
export interface Settings {
  readonly model: string;
  readonly version: string;
  /** A hash of the built program, because a build can change what a version does. */
  readonly build: string;
  /** A hash of all tasks. */
  readonly tasks: string;
  /** A hash of the configuration of the agents; `none` without one. */
  readonly config: string;
}

/** The names of the settings, in the order in which they are compared. */
export const SETTING_NAMES = ['model', 'version', 'build', 'tasks', 'config'] as const;

const RESULTS = 'results.jsonl';
const SETTINGS = 'settings.json';

/** Reads the results of a directory. The newest line of a run counts. A line that a killed runner tore is left out. */
export function readResults(out: string): ReadonlyMap<string, RunResult> {
  const file = join(out, RESULTS);
  if (!existsSync(file)) return new Map();
  const complete = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  const results = complete.flatMap((line): readonly RunResult[] => {
    const result = parseLine(line);
    return result === null ? [] : [result];
  });
  return new Map(results.map((result) => [result.id, result]));
}

function parseLine(line: string): RunResult | null {
  try {
    const result: RunResult | null = JSON.parse(line);
    return typeof result?.id === 'string' ? result : null;
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return null;
    throw thrown;
  }
}

/** Appends a result and makes it durable. A torn line before it is ended first. */
export function appendResult(out: string, result: RunResult): void {
  const file = join(out, RESULTS);
  const isTorn = existsSync(file) && !/(?:^|\n)$/.test(readFileSync(file, 'utf8'));
  const descriptor = openSync(file, 'a');
  try {
    writeSync(descriptor, `${isTorn ? '\n' : ''}${JSON.stringify(result)}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Reads the settings of a directory; null if no evaluation has begun there. */
export function readSettings(out: string): Settings | null {
  const file = join(out, SETTINGS);
  if (!existsSync(file)) return null;
  const value: JsonValue = JSON.parse(readFileSync(file, 'utf8'));
  const fields = isJsonObject(value) ? value : {};
  const [model, version, build, tasks, config] = SETTING_NAMES.map((name) => fields[name]);
  // Earlier versions recorded neither the build nor the configuration.
  const readText = (text: JsonValue | undefined) => (typeof text === 'string' ? text : 'unknown');
  return {
    model: readText(model),
    version: readText(version),
    build: readText(build),
    tasks: readText(tasks),
    config: readText(config),
  };
}

/** Writes the settings completely or not at all, so that an evaluation on a full disk can be continued. */
export function writeSettings(out: string, settings: Settings): void {
  const temporary = join(out, `${SETTINGS}.new`);
  writeFileSync(temporary, `${JSON.stringify(settings, null, 2)}\n`);
  renameSync(temporary, join(out, SETTINGS));
}
