import type { AgentProblem } from '../../protocol/agent.ts';
import type { Field, FieldProblem, Fields } from '../parsing/fields.ts';
import { shownMessage } from './clean-text.ts';

/** Problems told of one file: a file of nothing but faults must not fill memory or screen. */
const MAX_PROBLEMS = 100;

/**
 * The fields of one file while a format reads them: it takes each one that it knows, says what is
 * worth telling, and keeps what nobody took.
 */
export interface FieldReader {
  /** Whose words the fields are in. */
  readonly vendor: string;
  /** By any spelling of the name: `max-turns`, `maxTurns` and `max_turns` are one field. */
  take(name: string): Field | undefined;
  /** The same, and it stays untaken: for what holds several things, of which some may be left. */
  peek(name: string): Field | undefined;
  /** What was never taken, as written. */
  untaken(): Fields;
  /** `tool`: the word for a tool that is asked for and not granted, where the problem is that. */
  warn(code: string, message: string, line?: number, tool?: string): void;
  /** Everything told so far, the front matter's own problems first. */
  problems(): readonly AgentProblem[];
}

/** A field's name without case, `-` and `_`. */
export function foldFieldName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, '');
}

/** The names that formats ask for, which are few, and asked for in every file. */
const asked = new Map<string, string>();

function foldAsked(name: string): string {
  const known = asked.get(name);
  if (known !== undefined) return known;
  const folded = foldFieldName(name);
  asked.set(name, folded);
  return folded;
}

interface FieldReaderOptions {
  readonly path: string;
  readonly vendor: string;
  readonly fields: Fields;
  /** What the front matter itself was told for. */
  readonly problems: readonly FieldProblem[];
}

export function fieldReader(options: FieldReaderOptions): FieldReader {
  const { path, vendor } = options;
  const problems: AgentProblem[] = [];
  const tell = ({ code, message, line, tool }: FieldProblem & { tool?: string }): void => {
    if (problems.length >= MAX_PROBLEMS) return;
    const isLast = problems.length === MAX_PROBLEMS - 1;
    const problem = isLast
      ? {
          code: 'too-many-problems',
          message: `More than ${MAX_PROBLEMS} problems; the rest is left out.`,
        }
      : {
          code,
          message: shownMessage(message),
          ...(tool === undefined ? {} : { tool: shownMessage(tool) }),
        };
    problems.push({ ...problem, path, ...(line === undefined ? {} : { line }) });
  };
  for (const problem of options.problems) tell(problem);
  const left = new Map(options.fields);
  const keys = keysByName(options.fields);
  return {
    vendor,
    take(name) {
      const key = keys.get(foldAsked(name));
      const field = key === undefined ? undefined : left.get(key);
      if (key !== undefined) left.delete(key);
      return field;
    },
    peek: (name) => {
      const key = keys.get(foldAsked(name));
      return key === undefined ? undefined : left.get(key);
    },
    untaken: () => left,
    warn: (code, message, line, tool) =>
      tell({
        code,
        message,
        ...(line === undefined ? {} : { line }),
        ...(tool === undefined ? {} : { tool }),
      }),
    problems: () => problems,
  };
}

/** Of two spellings of one name the first counts; the other stays untaken, and is told as such. */
function keysByName(fields: Fields): ReadonlyMap<string, string> {
  const keys = new Map<string, string>();
  for (const key of fields.keys()) {
    const name = foldFieldName(key);
    if (!keys.has(name)) keys.set(name, key);
  }
  return keys;
}
