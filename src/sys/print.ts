import { toPrintableJson } from '../base/printable-json.ts';
import { sanitizeForTerminal, type TerminalContext } from '../base/terminal-text.ts';

/** The one place where stdout and stderr are written to: nothing from outside gets there as it came. */

/** Text for a person. `exact` shows all there is in it, as paths and commands need. */
export function printText(text: string, context: TerminalContext = 'exact'): void {
  process.stdout.write(sanitizeForTerminal(text, context));
}

/**
 * A model's answer. In a pipe it keeps every character but escape sequences and controls, which no
 * answer needs and the next program would pass on to a screen.
 */
export function printAnswer(text: string): void {
  printText(text, process.stdout.isTTY === true ? 'prose' : 'plain');
}

/** A line of JSON, or a document with an indent. */
export function printJson(value: unknown, indent = 0): void {
  process.stdout.write(`${toPrintableJson(value, indent)}\n`);
}

/** What is no answer: notices, errors, live lines. */
export function printError(text: string, context: TerminalContext = 'exact'): void {
  process.stderr.write(sanitizeForTerminal(text, context));
}

/** A line at the bottom of a terminal, in the place of the one before; empty: it is gone. */
export function drawErrorLine(text: string): void {
  process.stderr.write(`${CLEAR_LINE}${sanitizeForTerminal(text, 'prose')}`);
}

/**
 * Lines at the bottom of a terminal, none wider than it, in the place of those before; none: they are gone. All
 * in one piece, and the cursor is at their beginning: whatever is printed next takes their place.
 */
export function drawErrorLines(lines: readonly string[]): void {
  const texts = lines.map((line) => sanitizeForTerminal(line, 'prose'));
  const back = lines.length > 1 ? `\u001b[${lines.length - 1}A` : '';
  process.stderr.write(`${AT_ONCE}\r${CLEAR_BELOW}${texts.join('\n')}${back}\r${AT_ONCE_ENDS}`);
}

const CLEAR_BELOW = '\u001b[J';
/** Synchronised output: a terminal that knows it shows what stands between as one change. */
const AT_ONCE = '\u001b[?2026h';
const AT_ONCE_ENDS = '\u001b[?2026l';

/** To the beginning of the line, and nothing of it is left. */
const CLEAR_LINE = '\r\u001b[2K';
