import type { AgentProblem } from '../../protocol/agent.ts';
import { toSafeMessage, type Field, type FieldProblem, type Fields } from '../parsing/fields.ts';

/**
 * The maximum number of problems that are reported for one file, so that a file full of mistakes does not fill the
 * memory or the screen.
 */
const MAX_PROBLEMS = 100;

/**
 * The fields of a file while the reader of its format processes them. The reader takes each field that it knows, and
 * reports problems.
 */
export interface FieldReader {
  /** The vendor whose names for tools and modes the fields use. */
  readonly vendor: string;
  /** Takes a field by any spelling of its name: `max-turns`, `maxTurns` and `max_turns` are the same field. */
  take(name: string): Field | undefined;
  /** Returns a field without taking it. This is for a field with several values, some of which may be unknown. */
  peek(name: string): Field | undefined;
  /** Returns the fields that have not been taken, under their names in the file. */
  untaken(): Fields;
  /**
   * Reports a problem.
   *
   * @param tool the name of the tool, if the problem is that a requested tool is not granted
   */
  warn(code: string, message: string, line?: number, tool?: string): void;
  /** Returns all problems so far, beginning with those of the front matter. */
  problems(): readonly AgentProblem[];
}

/** Normalizes the name of a field: converts it to lower case and removes `-` and `_`. */
export function normalizeFieldName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, '');
}

/** A cache of normalized names, because formats look up the same few fields in every file. */
const normalizedNames = new Map<string, string>();

function normalizeKnownName(name: string): string {
  const known = normalizedNames.get(name);
  if (known !== undefined) return known;
  const normalized = normalizeFieldName(name);
  normalizedNames.set(name, normalized);
  return normalized;
}

interface FieldReaderOptions {
  readonly path: string;
  readonly vendor: string;
  readonly fields: Fields;
  /** The problems that were found while the front matter was parsed. */
  readonly problems: readonly FieldProblem[];
}

export function createFieldReader(options: FieldReaderOptions): FieldReader {
  const { path, vendor } = options;
  const problems: AgentProblem[] = [];
  const report = ({ code, message, line, tool }: FieldProblem & { tool?: string }): void => {
    if (problems.length >= MAX_PROBLEMS) return;
    const isLast = problems.length === MAX_PROBLEMS - 1;
    const problem = isLast
      ? {
          code: 'too-many-problems',
          message: `More than ${MAX_PROBLEMS} problems; the others are left out.`,
        }
      : {
          code,
          message: toSafeMessage(message),
          ...(tool === undefined ? {} : { tool: toSafeMessage(tool) }),
        };
    problems.push({ ...problem, path, ...(line === undefined ? {} : { line }) });
  };
  for (const problem of options.problems) report(problem);
  const untaken = new Map(options.fields);
  const keys = indexKeys(options.fields);
  return {
    vendor,
    take(name) {
      const key = keys.get(normalizeKnownName(name));
      const field = key === undefined ? undefined : untaken.get(key);
      if (key !== undefined) untaken.delete(key);
      return field;
    },
    peek: (name) => {
      const key = keys.get(normalizeKnownName(name));
      return key === undefined ? undefined : untaken.get(key);
    },
    untaken: () => untaken,
    warn: (code, message, line, tool) =>
      report({
        code,
        message,
        ...(line === undefined ? {} : { line }),
        ...(tool === undefined ? {} : { tool }),
      }),
    problems: () => problems,
  };
}

/**
 * Returns the key of each field, by its normalized name. If a file has two spellings of a name, the first one is used,
 * and the other is later reported as unknown.
 */
function indexKeys(fields: Fields): ReadonlyMap<string, string> {
  const keys = new Map<string, string>();
  for (const key of fields.keys()) {
    const name = normalizeFieldName(key);
    if (!keys.has(name)) keys.set(name, key);
  }
  return keys;
}
