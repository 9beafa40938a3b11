import { exactLine } from '../../base/terminal-text.ts';
import { oneLine, truncate } from '../../base/text.ts';

/** What lists the notes of a directory, a line each. All other lines in it are whoever's wrote them. */
export const INDEX_NAME = 'MEMORY.md';
const HEADING = '# Memory';

/** Code points of what a line says of its note. */
const SUMMARY_LENGTH = 120;

/** `- [NAME.md](NAME.md): …`: what is between the brackets and behind them is whoever's wrote it. */
const LINE = /^\s*[-*] \[[^\]]*\]\(([^()/\\]+\.md)\)/;

export interface IndexWish {
  /** What the file holds now; empty: it is not there. */
  readonly text: string;
  /** The notes that are there, in the order in which new lines are to stand. */
  readonly names: readonly string[];
  /** What a new line says of a note. */
  summaryOf(name: string): string;
  /** A note that has got another summary: its line follows, unless a person has put it in words of their own. */
  readonly changed?: { readonly name: string; readonly before: string };
}

/**
 * The index with one line for each note and none for what is gone. A line that is right stays as it is,
 * and where it is. New ones stand behind the last one, or at the end. Pure; the same for what is true.
 */
export function trueIndex({ text, names, summaryOf, changed }: IndexWish): string {
  const left = new Set(names);
  // Lines keep the `\r` at their end, where they have one.
  const end = text.includes('\r\n') ? '\r' : '';
  const lines: string[] = [];
  let next = -1;
  for (const line of text.split('\n')) {
    const name = LINE.exec(line)?.[1];
    const isListed = name !== undefined && name !== INDEX_NAME;
    if (isListed && !left.delete(name)) continue;
    const isOurs = isListed && changed?.name === name && isLineOf(name, changed.before, line);
    lines.push(isOurs ? `${indexLine(name, summaryOf(name))}${end}` : line);
    if (isListed) next = lines.length;
  }
  const added = names.filter((name) => left.has(name));
  if (added.length === 0) return lines.join('\n');
  const last = lines.pop() ?? '';
  if (last !== '') lines.push(`${last}${end}`);
  if (lines.length === 0) lines.push(`${HEADING}${end}`);
  if (next === -1 && lines.at(-1)?.trim() !== '') lines.push(end);
  const at = next === -1 ? lines.length : next;
  lines.splice(at, 0, ...added.map((name) => `${indexLine(name, summaryOf(name))}${end}`));
  return [...lines, ''].join('\n');
}

/** Whether a line says of a note what the index said by itself. */
function isLineOf(name: string, summary: string, line: string): boolean {
  return line.trimEnd() === indexLine(name, summary);
}

function indexLine(name: string, summary: string): string {
  return summary === '' ? `- [${name}](${name})` : `- [${name}](${name}): ${summary}`;
}

/** What the index says of a note by itself: its first line with something in it, without markup. */
export function summaryOf(text: string): string {
  const line = text
    .split('\n', 50)
    .map((each) => oneLine(each.replace(/^[\s#>*-]+/, '')))
    .find((each) => each !== '');
  return truncate(exactLine(line ?? ''), SUMMARY_LENGTH).trimEnd();
}
