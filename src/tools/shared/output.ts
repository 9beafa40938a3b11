import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { type ErrorCode, errorMessage } from '../../base/errors.ts';
import { byteLength, plural } from '../../base/text.ts';
import {
  type CallDetails,
  type ToolOutput,
  PASS_THROUGH_FILTER,
  type ToolContext,
  type PathExclusion,
} from '../../protocol/tool.ts';

/**
 * Creates the output of a failed call.
 *
 * @param text says why the call failed and what to do
 */
export function failure(code: ErrorCode, text: string, facts?: CallDetails): ToolOutput {
  return { text, error: code, ...(facts === undefined ? {} : { facts }) };
}

/** Returns the beginning of a text, at most `maxBytes` long, without cutting a character in half. */
export function cutToBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= maxBytes) return text;
  return bytes
    .subarray(0, maxBytes)
    .toString('utf8')
    .replace(/\ufffd$/, '');
}

/** The lines that fit into a limit. */
export interface FittedLines {
  readonly lines: readonly string[];
  /** The number of lines that did not fit. */
  readonly remaining: number;
}

/** Returns the first lines that fit into `maxBytes` together with their line ends. */
export function fitLines(lines: readonly string[], maxBytes: number): FittedLines {
  let used = 0;
  for (const [index, line] of lines.entries()) {
    used += byteLength(line) + 1;
    if (used > maxBytes) return { lines: lines.slice(0, index), remaining: lines.length - index };
  }
  return { lines, remaining: 0 };
}

/** Appends the changes that were made to the arguments of a call to the call's result, one line each. */
export function appendNotes(text: string, notes: readonly string[] = []): string {
  return [text, ...notes.map((note) => `[${note}]`)].filter((part) => part !== '').join('\n');
}

const MAX_LINE_NUMBERS = 10;

/** Formats up to ten different line numbers: `line 3`, `lines 3, 8, 12`. */
export function formatLineNumbers(all: readonly number[]): string {
  const lines = [...new Set(all)];
  const shown = lines.slice(0, MAX_LINE_NUMBERS).join(', ');
  const more = lines.length > MAX_LINE_NUMBERS ? ' and more' : '';
  return `${lines.length === 1 ? 'line' : 'lines'} ${shown}${more}`;
}

const { O_CREAT, O_NOFOLLOW, O_TRUNC, O_WRONLY } = constants;

/**
 * Saves an output that is too large for a result in the spill file of the call, which the task may read. Returns a
 * phrase that says where the output is, or why it could not be saved. The phrase follows "left out; ".
 */
export function spillText(
  text: string,
  {
    caps,
    spillPath,
    redactBytes,
    saveText,
  }: Pick<ToolContext, 'caps' | 'spillPath' | 'redactBytes' | 'saveText'>,
): string {
  if (saveText !== undefined) return saveText(text);
  const bytes = Buffer.from(text, 'utf8');
  const { spillBytes } = caps;
  try {
    const path = spillPath();
    const fd = openSync(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600);
    try {
      const filter = redactBytes?.() ?? PASS_THROUGH_FILTER;
      writeAll(fd, filter.write(bytes.subarray(0, spillBytes)));
      writeAll(fd, filter.end());
    } finally {
      closeSync(fd);
    }
    const part = bytes.length > spillBytes ? 'the first part' : 'the full output';
    return `${part} is in ${path}: Read it with offset, or Grep it`;
  } catch (thrown) {
    return `the full output could not be saved (${errorMessage(thrown)})`;
  }
}

function writeAll(fd: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done);
}

/** The maximum number of rules that notes name. Files that further rules withhold are counted together. */
const MAX_NAMED_RULES = 5;

/** Counts the paths that permission rules withhold from a call, by rule, for the notes in its result. */
export class WithheldCounter {
  readonly #withheld: PathExclusion | null;
  readonly #counts = new Map<string, number>();

  constructor(withheld: PathExclusion | null) {
    this.#withheld = withheld;
  }

  /** Whether there is a rule that could withhold a path. */
  get hasRules(): boolean {
    return this.#withheld !== null;
  }

  /** Counts a path if a rule withholds it. Returns whether the path is withheld. */
  countWithheld(path: string): boolean {
    const rule = this.#withheld?.(path);
    if (rule === undefined) return false;
    this.#counts.set(rule, (this.#counts.get(rule) ?? 0) + 1);
    return true;
  }

  /**
   * Returns one note for each rule: `[3 files left out: deny rule …]`. The parameters are the noun for one path and for
   * several paths.
   */
  notes([one, several]: readonly [string, string]): readonly string[] {
    const all = [...this.#counts];
    const named = all.slice(0, MAX_NAMED_RULES).map(([rule, count]) => [rule, count] as const);
    const rest = all.slice(MAX_NAMED_RULES).reduce((sum, [, count]) => sum + count, 0);
    const lines = rest === 0 ? named : [...named, ['other rules', rest] as const];
    return lines.map(([rule, count]) => `[${plural(count, one, several)} left out: ${rule}]`);
  }
}
