import { Writable } from 'node:stream';
import { toPrintableJson } from '../base/printable-json.ts';
import { sanitizeForTerminal, type TerminalContext } from '../base/terminal-text.ts';

/** Only this module writes to stdout and stderr, so that all outside text is sanitized before it reaches a terminal. */

/**
 * Prints text for a person to stdout. The context `exact` shows every character, which is needed for paths and
 * commands.
 */
export function printText(text: string, context: TerminalContext = 'exact'): void {
  process.stdout.write(sanitizeForTerminal(text, context));
}

/**
 * Prints the answer of a model. If stdout is a pipe, only escape sequences and control characters are removed: no
 * answer needs them, and the next program could pass them on to a screen.
 */
export function printAnswer(text: string): void {
  printText(text, process.stdout.isTTY === true ? 'prose' : 'plain');
}

// oxlint-disable-next-line no-control-regex -- this is the sequence to keep
const COLOR = /(\u001b\[[\d;]*m)/;

/** Prints drawn lines to stdout. Only their colors reach the terminal; other sequences are dropped. */
export function printDrawnLines(lines: readonly string[]): void {
  const plain = (piece: string) => sanitizeForTerminal(piece, 'prose').replaceAll('\n', ' ');
  const text = lines.map((line) =>
    line
      .split(COLOR)
      .map((piece, index) => (index % 2 === 1 ? piece : plain(piece)))
      .join(''),
  );
  process.stdout.write(text.map((line) => `${line}\n`).join(''));
}

/** Prints a value as one line of JSON, or as a document if an indent is given. */
export function printJson(value: unknown, indent = 0): void {
  process.stdout.write(`${toPrintableJson(value, indent)}\n`);
}

/** Prints text to stderr: notices, errors, progress, and everything else that is not the answer. */
export function printError(text: string, context: TerminalContext = 'exact'): void {
  process.stderr.write(sanitizeForTerminal(text, context));
}

/** Draws a line at the bottom of the terminal in place of the previous one. An empty text removes it. */
export function drawErrorLine(text: string): void {
  process.stderr.write(`${CLEAR_LINE}${sanitizeForTerminal(text, 'prose')}`);
}

/**
 * Draws lines at the bottom of the terminal in place of the previous ones; an empty list removes them. No line
 * may be wider than the terminal. The cursor returns to the first of the lines, so that the next output replaces
 * the lines.
 */
export function drawErrorLines(lines: readonly string[]): void {
  const texts = lines.map((line) => sanitizeForTerminal(line, 'prose'));
  const back = lines.length > 1 ? `\u001b[${lines.length - 1}A` : '';
  process.stderr.write(`${BEGIN_UPDATE}\r${CLEAR_BELOW}${texts.join('\n')}${back}\r${END_UPDATE}`);
}

const CLEAR_BELOW = '\u001b[J';
/**
 * Synchronized output: a terminal that supports it shows everything between the two sequences as one change.
 */
const BEGIN_UPDATE = '\u001b[?2026h';
const END_UPDATE = '\u001b[?2026l';

/** Moves to the beginning of the line and erases the line. */
const CLEAR_LINE = '\r\u001b[2K';

/**
 * Reserves stdout for a protocol: returns a stream that writes to it unchanged. Whatever else this process prints on stdout goes to
 * stderr from now on.
 */
export function reserveStdout(): Writable {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  const reserved = new Writable({
    write: (chunk: Uint8Array, _encoding, done) => void write(chunk, done),
  });
  // A client that has gone closes its end; the reader of its messages learns of that.
  stdout.on('error', () => reserved.destroy());
  return reserved;
}
