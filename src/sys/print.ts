import { toPrintableJson } from '../base/printable-json.ts';
import { sanitizeForTerminal, type TerminalContext } from '../base/terminal-text.ts';

/** The one place where stdout and stderr are written to: nothing from outside gets there as it came. */

/**
 * Prints text for a person to stdout. The context `exact` shows every character, as paths and commands need.
 */
export function printText(text: string, context: TerminalContext = 'exact'): void {
  process.stdout.write(sanitizeForTerminal(text, context));
}

/**
 * Prints the answer of a model. In a pipe it keeps every character except escape sequences and control
 * characters, which no answer needs and which the next program would pass on to a screen.
 */
export function printAnswer(text: string): void {
  printText(text, process.stdout.isTTY === true ? 'prose' : 'plain');
}

/** Prints a value as one line of JSON, or as a document if an indent is given. */
export function printJson(value: unknown, indent = 0): void {
  process.stdout.write(`${toPrintableJson(value, indent)}\n`);
}

/** Prints notices, errors and live lines to stderr: everything that is not the answer. */
export function printError(text: string, context: TerminalContext = 'exact'): void {
  process.stderr.write(sanitizeForTerminal(text, context));
}

/** Draws a line at the bottom of the terminal in place of the previous one. An empty text removes it. */
export function drawErrorLine(text: string): void {
  process.stderr.write(`${CLEAR_LINE}${sanitizeForTerminal(text, 'prose')}`);
}

/**
 * Draws lines at the bottom of the terminal in place of the previous ones; an empty list removes them. No line
 * may be wider than the terminal. The cursor stays at their beginning, so whatever is printed next replaces
 * them.
 */
export function drawErrorLines(lines: readonly string[]): void {
  const texts = lines.map((line) => sanitizeForTerminal(line, 'prose'));
  const back = lines.length > 1 ? `\u001b[${lines.length - 1}A` : '';
  process.stderr.write(`${AT_ONCE}\r${CLEAR_BELOW}${texts.join('\n')}${back}\r${AT_ONCE_ENDS}`);
}

const CLEAR_BELOW = '\u001b[J';
/**
 * Synchronized output: a terminal that supports it shows everything between the two sequences as one change.
 */
const AT_ONCE = '\u001b[?2026h';
const AT_ONCE_ENDS = '\u001b[?2026l';

/** Moves to the beginning of the line and erases the line. */
const CLEAR_LINE = '\r\u001b[2K';
