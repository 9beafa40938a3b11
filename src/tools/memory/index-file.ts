import { sanitizeLine } from '../../base/terminal-text.ts';
import { collapseWhitespace, truncate } from '../../base/text.ts';

/** The file that lists the notes of a directory, one line each. Muster leaves all its other lines alone. */
export const INDEX_NAME = 'MEMORY.md';
const HEADING = '# Memory';

/** The most code points of the summary in a line. */
const SUMMARY_LENGTH = 120;

/** Matches `- [NAME.md](NAME.md): …`. The text in the brackets and after them may be anything. */
const LINE = /^\s*[-*] \[[^\]]*\]\(([^()/\\]+\.md)\)/;

/** The data from which an index is updated. */
export interface IndexUpdate {
  /** The content of the file now; empty when there is none. */
  readonly text: string;
  /** The notes that are there, in the order of their new lines. */
  readonly names: readonly string[];
  /** Returns the summary of a note for its line. */
  summaryOf(name: string): string;
  /** A note whose summary has changed. Its line gets the new one, unless a person has reworded the line. */
  readonly changed?: { readonly name: string; readonly before: string };
}

/**
 * Returns the index with one line for each note and none for notes that are gone. Correct lines stay as and where
 * they are; new lines follow the last one, or the end of the text. Updating twice changes nothing more.
 */
export function updateIndex({ text, names, summaryOf, changed }: IndexUpdate): string {
  const left = new Set(names);
  // Lines keep the `\r` at their end where they have one.
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

/** Whether a line is the one that Muster wrote for a note with this summary. */
function isLineOf(name: string, summary: string, line: string): boolean {
  return line.trimEnd() === indexLine(name, summary);
}

function indexLine(name: string, summary: string): string {
  return summary === '' ? `- [${name}](${name})` : `- [${name}](${name}): ${summary}`;
}

/** Summarizes a note for the index: its first line that is not empty, without markup. */
export function summarizeNote(text: string): string {
  const line = text
    .split('\n', 50)
    .map((each) => collapseWhitespace(each.replace(/^[\s#>*-]+/, '')))
    .find((each) => each !== '');
  return truncate(sanitizeLine(line ?? ''), SUMMARY_LENGTH).trimEnd();
}
