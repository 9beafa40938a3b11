import { resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { sanitizeLine } from '../base/terminal-text.ts';
import type { Problem } from './problems.ts';

/** A problem that a checker has printed, with its file. */
export interface PrintedProblem extends Problem {
  /** Absolute. */
  readonly path: string;
}

/** The maximum number of problems that are read from the output of a checker, and of characters of a line. */
const MAX_PRINTED_PROBLEMS = 2_000;
const MAX_LINE_LENGTH = 2_000;

/** `src/a.ts(3,5): error TS2322: message`, as tsc and MSBuild print it. */
const WITH_PARENTHESES = /^(?<file>[^\s(][^(]*)\((?<line>\d+),(?<column>\d+)\): (?<rest>.*)$/;
/** `src/a.ts:3:5 - error TS2322: message` and `src/a.c:3:5: error: message`; the column may be missing. */
const WITH_COLONS = /^(?<file>[^\s:][^:]*):(?<line>\d+)(?::(?<column>\d+))?(?:: | - )(?<rest>.*)$/;
/** `  --> src/main.rs:3:5` of rustc, below the line with the message. */
const ARROW = /^\s*--> (?<file>[^\s:][^:]*):(?<line>\d+):(?<column>\d+)$/;
/** `error[E0308]: message` of rustc, above the line with the place. */
const HEADING = /^(?<severity>error|warning)(?:\[(?<code>\w+)\])?: (?<message>.*)$/;
/** `  3:5  error  message  rule` of ESLint, below a line with the file. */
const IN_TABLE = /^\s+(?<line>\d+):(?<column>\d+)\s+(?<severity>error|warning)\s+(?<rest>\S.*)$/;
/** The rule of ESLint behind a message. */
const RULE = /^[\w@/-]+$/;
/** `error TS2322: message` and `error[E1]: message` and `error: message`; each part may be missing. */
const REST =
  /^(?:(?:fatal )?(?<severity>error|warning|note|info)\b:? ?)?(?:(?<code>[A-Z]{1,5}\d{2,5}):? )?(?:: ?)?(?<message>.*)$/i;

/** Finds the problems in the output of a checker. Lines in other forms are ignored. */
export function parseCheckerOutput(output: string, cwd: string): readonly PrintedProblem[] {
  const problems: PrintedProblem[] = [];
  let heading: Record<string, string | undefined> | undefined;
  let file = '';
  const add = (found: Record<string, string | undefined>, path: string): void => {
    const severity = found['severity']?.toLowerCase();
    if (severity === 'note' || severity === 'info') return;
    problems.push({
      path: resolve(cwd, path),
      line: Number(found['line']),
      column: Number(found['column'] ?? 1),
      severity: severity === 'warning' ? 'warning' : 'error',
      code: found['code'] ?? '',
      message: sanitizeLine(found['message'] ?? '').trim(),
    });
  };
  for (const raw of stripVTControlCharacters(output).split(/\r?\n/)) {
    if (problems.length >= MAX_PRINTED_PROBLEMS) break;
    const line = raw.slice(0, MAX_LINE_LENGTH);
    const placed = (WITH_PARENTHESES.exec(line) ?? WITH_COLONS.exec(line))?.groups;
    const arrow = ARROW.exec(line)?.groups;
    const row = IN_TABLE.exec(line)?.groups;
    if (placed !== undefined) {
      const rest = REST.exec(placed['rest'] ?? '')?.groups ?? {};
      add({ ...rest, ...placed }, placed['file'] ?? '');
    } else if (arrow !== undefined && heading !== undefined) {
      add({ ...heading, ...arrow }, arrow['file'] ?? '');
      heading = undefined;
    } else if (row !== undefined && file !== '') {
      add({ ...row, ...splitRule(row['rest'] ?? '') }, file);
    } else {
      heading = HEADING.exec(line)?.groups ?? heading;
      file = /^[^\s].*\.\w+$/.test(line) ? line : line.trim() === '' ? '' : file;
    }
  }
  return problems;
}

/** Splits the rule at the end of a row of ESLint from the message. */
function splitRule(rest: string): Record<string, string> {
  const at = rest.lastIndexOf('  ') + 2;
  const code = rest.slice(at);
  return at > 1 && RULE.test(code) ? { message: rest.slice(0, at), code } : { message: rest };
}
