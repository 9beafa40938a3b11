import { sanitizeLine } from '../base/terminal-text.ts';
import { truncate } from '../base/text.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';

/**
 * The conditions under which the work of a task is accepted. Muster checks them itself, on a copy of the files that the
 * task left. Paths are relative to the directory of the task and may be patterns as in `.gitignore`.
 */
export interface AcceptanceCriteria {
  /** Command lines that must exit with 0, in order. */
  readonly commands: readonly string[];
  /** Patterns of which each must match a file that the task has created, changed or deleted. */
  readonly changed: readonly string[];
  /** Patterns of files that the task must leave as they were. */
  readonly unchanged: readonly string[];
  /**
   * Patterns of files that decide about the commands (tests, their configuration, dependencies) and that the task may
   * change all the same.
   */
  readonly mayChange: readonly string[];
  /** The maximum number of added and removed lines; null: no limit. */
  readonly maxChangedLines: number | null;
  /** A command line that scores accepted work, so that it can be compared with other work. Default: none. */
  readonly score?: string;
}

/** A run of one command of the criteria. */
export interface AcceptanceRun {
  /** The command line. */
  readonly command: string;
  /** The exit code; null if the command was ended by a signal, a time limit or a limit on its output. */
  readonly exitCode: number | null;
  /** The duration in milliseconds. */
  readonly ms: number;
  /** The end of the output, for the model and the receipt. */
  readonly output: string;
}

/** The run of the command that scores the work of a task. */
export interface WorkScore extends AcceptanceRun {
  /** The last number on the last line that the command has written to stdout; null if there is none. */
  readonly value: number | null;
  /** The reason why the command did not end by itself or was not run; null if it has ended by itself. */
  readonly problem: string | null;
}

/** The outcome of one check of a task's work. */
export interface AcceptanceOutcome {
  /** The number of the turn whose answer was checked. */
  readonly turn: number;
  /** True if the work is accepted. */
  readonly isPassed: boolean;
  /** The SHA-256 of the names, modes and contents of all checked files, in hex; null if no copy could be made. */
  readonly tree: string | null;
  /** The runs of the commands, in their order. The first one that fails is the last. */
  readonly runs: readonly AcceptanceRun[];
  /** The reasons why the work is not accepted, other than the exit codes of commands. */
  readonly problems: readonly string[];
  /** Facts about the check that matter to the task: files that were used as they had been before. Default: none. */
  readonly notes?: readonly string[];
  /** The score of the work. Absent if the work is not accepted, or if the criteria have no command that scores it. */
  readonly score?: WorkScore;
  /** False if the commands ran without the sandbox, because the machine has none. */
  readonly isSandboxed: boolean;
}

/**
 * Criteria as people write them: a command line, several, or an object.
 */
export type AcceptanceRequest =
  | string
  | readonly string[]
  /** The fields are those of `AcceptanceCriteria`, each with one text or several. `schema`: the JSON Schema of the answer. */
  | {
      readonly commands?: string | readonly string[];
      readonly schema?: JsonObject;
      readonly changed?: string | readonly string[];
      readonly unchanged?: string | readonly string[];
      readonly may_change?: string | readonly string[];
      readonly max_changed_lines?: number;
    };

/** Criteria that were read, with the schema for the answer. */
export interface WrittenAcceptance {
  readonly criteria: AcceptanceCriteria;
  /** The JSON Schema of the answer, which counts as `output_schema`. */
  readonly schema?: JsonObject;
}

const MAX_COMMANDS = 20;
const MAX_PATTERNS = 100;
const MAX_COMMAND_LENGTH = 10_000;

/** The maximum length of a command in a description, in code points. */
const MAX_SHOWN_COMMAND = 100;

const FIELDS = 'commands, schema, changed, unchanged, may_change, max_changed_lines';

/**
 * Reads acceptance criteria: a command line, a list of command lines, or an object with the fields `commands`, `schema`,
 * `changed`, `unchanged`, `may_change` and `max_changed_lines`. Adds a sentence to `issues` for each mistake. Returns
 * undefined if there is a mistake.
 */
export function parseAcceptance(
  value: JsonValue | AcceptanceRequest,
  issues: string[],
): WrittenAcceptance | undefined {
  const before = issues.length;
  const given: JsonObject = isJsonObject(value) ? value : { commands: value };
  const lists = new Map<string, readonly string[]>();
  for (const name of ['commands', 'changed', 'unchanged', 'may_change']) {
    lists.set(name, readTexts(name, given[name] ?? [], issues));
  }
  const { schema = null, max_changed_lines: lines = null } = given;
  for (const name of Object.keys(given)) {
    if (!FIELDS.split(', ').includes(name))
      issues.push(`accept.${name}: is not a part of accept; valid are ${FIELDS}`);
  }
  if (schema !== null && !isJsonObject(schema))
    issues.push('accept.schema: must be a JSON Schema (an object)');
  const isCount = typeof lines === 'number' && Number.isSafeInteger(lines) && lines >= 0;
  if (lines !== null && !isCount)
    issues.push('accept.max_changed_lines: must be a whole number, at least 0');
  const isEmpty = [...lists].every(([name, list]) => name === 'may_change' || list.length === 0);
  if (issues.length === before && isEmpty && schema === null && lines === null)
    issues.push(`accept: is empty; give a command, or some of ${FIELDS}`);
  if (issues.length > before) return undefined;
  const criteria: AcceptanceCriteria = {
    commands: lists.get('commands') ?? [],
    changed: lists.get('changed') ?? [],
    unchanged: lists.get('unchanged') ?? [],
    mayChange: lists.get('may_change') ?? [],
    maxChangedLines: typeof lines === 'number' ? lines : null,
  };
  return { criteria, ...(isJsonObject(schema) ? { schema } : {}) };
}

function readTexts(name: string, value: JsonValue, issues: string[]): readonly string[] {
  const list: readonly JsonValue[] = Array.isArray(value) ? value : [value];
  const texts = list.filter((each) => typeof each === 'string').map((text) => text.trim());
  const max = name === 'commands' ? MAX_COMMANDS : MAX_PATTERNS;
  if (texts.length < list.length || texts.includes('')) {
    issues.push(`accept.${name}: must be a text or a list of texts that are not empty`);
  } else if (texts.length > max) {
    issues.push(`accept.${name}: may have at most ${max} entries, not ${texts.length}`);
  } else if (texts.some((text) => text.length > MAX_COMMAND_LENGTH || text.includes('\0'))) {
    issues.push(
      `accept.${name}: an entry is longer than ${MAX_COMMAND_LENGTH} characters or contains NUL`,
    );
  } else if (name !== 'commands' && texts.some(leadsOutside)) {
    issues.push(`accept.${name}: must be paths below the directory of the task, without .. and ~`);
  }
  return texts;
}

function leadsOutside(pattern: string): boolean {
  return /^[~!#]/.test(pattern) || pattern.split('/').includes('..');
}

/** Criteria that all work meets. */
export const NO_CRITERIA: AcceptanceCriteria = {
  commands: [],
  changed: [],
  unchanged: [],
  mayChange: [],
  maxChangedLines: null,
};

/** Returns true if there is anything to check or to score besides a schema of the answer. */
export function hasCriteria(criteria: AcceptanceCriteria): boolean {
  return criteria.score !== undefined || hasConditions(criteria);
}

/** Returns true if there are conditions that work may fail to meet, besides a schema of the answer. */
export function hasConditions(criteria: AcceptanceCriteria): boolean {
  const { commands, changed, unchanged, maxChangedLines } = criteria;
  return commands.length + changed.length + unchanged.length > 0 || maxChangedLines !== null;
}

/** Lists all commands that run on a copy of the work. */
export function listCommands({
  commands,
  score,
}: Pick<AcceptanceCriteria, 'commands' | 'score'>): readonly string[] {
  return score === undefined ? commands : [...commands, score];
}

/** Writes criteria in the form that `parseAcceptance` reads. */
export function formatAcceptance(criteria: AcceptanceCriteria) {
  const { commands, changed, unchanged, mayChange, maxChangedLines } = criteria;
  return {
    ...(commands.length === 0 ? {} : { commands }),
    ...(changed.length === 0 ? {} : { changed }),
    ...(unchanged.length === 0 ? {} : { unchanged }),
    ...(mayChange.length === 0 ? {} : { may_change: mayChange }),
    ...(maxChangedLines === null ? {} : { max_changed_lines: maxChangedLines }),
  };
}

/** Combines criteria, all of which must be met. */
export function combineAcceptance(all: readonly AcceptanceCriteria[]): AcceptanceCriteria {
  const limits = all.flatMap(({ maxChangedLines }) => maxChangedLines ?? []);
  return {
    commands: all.flatMap(({ commands }) => commands),
    changed: all.flatMap(({ changed }) => changed),
    unchanged: all.flatMap(({ unchanged }) => unchanged),
    mayChange: all.flatMap(({ mayChange }) => mayChange),
    maxChangedLines: limits.length === 0 ? null : Math.min(...limits),
  };
}

/** Describes the outcome of a check on one line, for people and for the receipt. */
export function describeAcceptance(outcome: AcceptanceOutcome): string {
  const { isPassed, runs, problems, notes = [], score, isSandboxed } = outcome;
  const parts = [
    ...problems,
    ...runs.map(({ command, exitCode }) => {
      const shown = JSON.stringify(truncate(sanitizeLine(command), MAX_SHOWN_COMMAND));
      return `${shown} ${exitCode === null ? 'did not end by itself' : `exit ${exitCode}`}`;
    }),
  ];
  if (score !== undefined) parts.push(describeScore(score));
  if (parts.length === 0) parts.push('all conditions are met');
  if ((runs.length > 0 || score !== undefined) && !isSandboxed) parts.push('without the sandbox');
  const text = [...parts, ...notes].join('; ');
  return `${isPassed ? 'accepted' : 'not accepted'} (${sanitizeLine(text)})`;
}

/** Describes a score in a few words. */
function describeScore({ value, exitCode, problem }: WorkScore): string {
  if (problem !== null) return `no score: ${problem}`;
  const code = exitCode === 0 ? '' : `exit ${exitCode}`;
  return value === null ? `score: exit ${exitCode}` : [`score ${value}`, code].join(' ').trim();
}
