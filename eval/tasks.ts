import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '../src/base/json.ts';

/** The languages of the tasks. */
export const LANGUAGES = [
  'javascript',
  'typescript',
  'python',
  'go',
  'rust',
  'c',
  'cpp',
  'java',
  'shell',
] as const;
export type Language = (typeof LANGUAGES)[number];

/** A small repository with a failing check, and how it is judged (docs/eval.md). */
export interface EvalTask {
  readonly name: string;
  readonly language: Language;
  /** The kind of work, such as `feature` or `performance`. */
  readonly kind: string;
  /** The message to the agent, as a user would write it. */
  readonly prompt: string;
  /** The command that fails in the repository as given, and that the agent can run. */
  readonly check: string;
  /** The command that judges the work. It runs with the hidden files laid over the tree that the agent left. */
  readonly hiddenCheck: string;
  /** Files and directories that are restored before the hidden check, relative to the repository. */
  readonly protected: readonly string[];
  /** The Debian package of each program that the checks need. */
  readonly needs: Readonly<Record<string, string>>;
  /** The wall time of the agent, in seconds. */
  readonly agentSeconds: number;
  /** The wall time of one check, in seconds. */
  readonly checkSeconds: number;
  /** The directory of the task, which contains `repo`, `hidden` and `solution.patch`. Absolute. */
  readonly directory: string;
}

const DEFAULT_AGENT_SECONDS = 900;
const DEFAULT_CHECK_SECONDS = 60;

/** Loads all tasks below a directory, sorted by name. Throws an error that names the file of a wrong task. */
export function loadTasks(directory: string): readonly EvalTask[] {
  const names = readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted();
  return names.map((name) => loadTask(name, join(directory, name)));
}

function loadTask(name: string, directory: string): EvalTask {
  const file = join(directory, 'task.json');
  const fail = (problem: string): never => {
    throw new Error(`${file}: ${problem}`);
  };
  for (const part of ['repo', 'hidden', 'solution.patch']) {
    if (!existsSync(join(directory, part))) fail(`there is no ${part} beside it`);
  }
  const value: JsonValue = JSON.parse(readFileSync(file, 'utf8'));
  const fields: JsonObject = isJsonObject(value) ? value : fail('it must hold an object');
  const unknown = Object.keys(fields).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) fail(`unknown key ${unknown}; valid: ${KEYS.join(', ')}`);
  const readText = (key: string): string => {
    const text = fields[key];
    return typeof text === 'string' && text !== '' ? text : fail(`${key} must be a text`);
  };
  const readSeconds = (key: string, initial: number): number => {
    const seconds = fields[key] ?? initial;
    return typeof seconds === 'number' && seconds > 0 ? seconds : fail(`${key} must be above 0`);
  };
  const language = LANGUAGES.find((each) => each === fields['language']);
  return {
    name,
    language: language ?? fail(`language must be one of ${LANGUAGES.join(', ')}`),
    kind: readText('kind'),
    prompt: readText('prompt'),
    check: readText('check'),
    hiddenCheck: readText('hiddenCheck'),
    protected: readTexts(fields['protected']) ?? fail('protected must be a list of texts'),
    needs: readNeeds(fields['needs']) ?? fail('needs must hold the Debian package of each program'),
    agentSeconds: readSeconds('agentSeconds', DEFAULT_AGENT_SECONDS),
    checkSeconds: readSeconds('checkSeconds', DEFAULT_CHECK_SECONDS),
    directory,
  };
}

const KEYS = [
  'language',
  'kind',
  'prompt',
  'check',
  'hiddenCheck',
  'protected',
  'needs',
  'agentSeconds',
  'checkSeconds',
];

function readTexts(value: JsonValue | undefined): readonly string[] | null {
  if (!Array.isArray(value)) return null;
  const texts = value.filter((each) => typeof each === 'string');
  return texts.length === value.length ? texts : null;
}

function readNeeds(value: JsonValue | undefined): Readonly<Record<string, string>> | null {
  if (!isJsonObject(value)) return null;
  const needs: Record<string, string> = {};
  for (const [program, debianPackage] of Object.entries(value)) {
    if (typeof debianPackage !== 'string') return null;
    needs[program] = debianPackage;
  }
  return needs;
}
