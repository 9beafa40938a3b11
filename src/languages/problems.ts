import { isJsonObject } from '../base/json.ts';
import { sanitizeLine } from '../base/terminal-text.ts';
import { truncate } from '../base/text.ts';

/** A problem in a file, as a language server or a checker reports it. */
export interface Problem {
  /** The line, from 1 on. */
  readonly line: number;
  /** The column, from 1 on. */
  readonly column: number;
  readonly severity: 'error' | 'warning';
  /** The code of the problem. Empty if it has none. */
  readonly code: string;
  /** On one line. */
  readonly message: string;
}

/** The problems of one file. */
export interface FileProblems {
  /** Absolute. */
  readonly path: string;
  /** The program or command that reported them. */
  readonly source: string;
  readonly problems: readonly Problem[];
}

/** The problems of one version of a file. */
export interface CheckedText {
  readonly text: string;
  readonly problems: readonly Problem[];
}

/** The maximum number of problems of one file that are read. */
const MAX_READ_PROBLEMS = 2_000;
/** The maximum number of characters of a message or a code. */
const MAX_MESSAGE_LENGTH = 1_000;
const SEVERITIES: ReadonlyMap<unknown, Problem['severity']> = new Map([
  [undefined, 'error'],
  [1, 'error'],
  [2, 'warning'],
]);

/** Reads the problems in a list of diagnostics of a server. Leaves out hints, and whatever is not as the protocol says. */
export function readDiagnostics(value: unknown): readonly Problem[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, MAX_READ_PROBLEMS).flatMap((item: unknown): Problem[] => {
    if (!isJsonObject(item) || typeof item['message'] !== 'string') return [];
    const severity = SEVERITIES.get(item['severity']);
    const { range, code } = item;
    const start = isJsonObject(range) ? range['start'] : undefined;
    if (severity === undefined || !isJsonObject(start)) return [];
    const { line, character } = start;
    if (typeof line !== 'number' || typeof character !== 'number') return [];
    return [
      {
        line: line + 1,
        column: character + 1,
        severity,
        code: typeof code === 'string' || typeof code === 'number' ? toLine(String(code)) : '',
        message: toLine(item['message']),
      },
    ];
  });
}

/** Cuts a text of a server and puts it on one line. The cut comes first, since the text can be very long. */
function toLine(text: string): string {
  const lines = truncate(text, MAX_MESSAGE_LENGTH)
    .split('\n')
    .map((line) => line.trim());
  return sanitizeLine(lines.filter((line) => line !== '').join(' '));
}

/**
 * Returns the problems of a file that were not there before a change. Problems are compared by their message, their code
 * and the text of their line, because an edit moves lines.
 */
export function findNewProblems(before: CheckedText, after: CheckedText): readonly Problem[] {
  const old = new Map<string, number>();
  for (const key of listKeys(before)) old.set(key, (old.get(key) ?? 0) + 1);
  const keys = listKeys(after);
  return after.problems.filter((_, index) => {
    const key = keys[index] ?? '';
    const count = old.get(key) ?? 0;
    if (count > 0) old.set(key, count - 1);
    return count === 0;
  });
}

function listKeys({ text, problems }: CheckedText): readonly string[] {
  const lines = text.split('\n');
  return problems.map(({ line, code, message }) =>
    JSON.stringify([message, code, lines[line - 1]?.trim() ?? '']),
  );
}
