import type { AgentProblem } from '../../protocol/agent.ts';
import { shownMessage, type Field, type FieldProblem, type Fields } from '../parsing/fields.ts';

/**
 * The maximum number of problems that are reported for one file: a file full of mistakes must not fill the memory
 * or the screen.
 */
const MAX_PROBLEMS = 100;

/** The fields of a file while its format reads them: the format takes each field that it knows, and reports problems. */
export interface FieldReader {
  /** The vendor whose names for tools and modes the fields use. */
  readonly vendor: string;
  /** Takes a field by any spelling of its name: `max-turns`, `maxTurns` and `max_turns` are the same field. */
  take(name: string): Field | undefined;
  /** Returns a field without taking it, for a field that holds several values of which some may remain. */
  peek(name: string): Field | undefined;
  /** Returns the fields that were not taken, as written. */
  untaken(): Fields;
  /** @param tool the name of the tool, where the problem is that a tool was requested and not granted */
  warn(code: string, message: string, line?: number, tool?: string): void;
  /** Returns all problems so far, those of the front matter first. */
  problems(): readonly AgentProblem[];
}

/** Normalizes the name of a field: in lower case, without `-` and `_`. */
export function normalizeFieldName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, '');
}

/** The normalized names of the few fields that formats look up in every file. */
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
  /** The problems of the front matter itself. */
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
          message: shownMessage(message),
          ...(tool === undefined ? {} : { tool: shownMessage(tool) }),
        };
    problems.push({ ...problem, path, ...(line === undefined ? {} : { line }) });
  };
  for (const problem of options.problems) report(problem);
  const untaken = new Map(options.fields);
  const keys = keysByName(options.fields);
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

/** Takes the first of two spellings of a name. The other stays untaken, and is reported as such. */
function keysByName(fields: Fields): ReadonlyMap<string, string> {
  const keys = new Map<string, string>();
  for (const key of fields.keys()) {
    const name = normalizeFieldName(key);
    if (!keys.has(name)) keys.set(name, key);
  }
  return keys;
}
