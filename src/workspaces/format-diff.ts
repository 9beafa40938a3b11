import { compareLines, type ChangedLines } from './merge/compare-lines.ts';
import type { PathDifference, PathState } from './difference.ts';

/** The number of equal lines that are shown around a change. */
const CONTEXT_LINES = 3;
/** The number of bytes in which a NUL is searched; a file with one is binary. */
const SNIFFED_BYTES = 8000;
const NOTHING = '/dev/null';

/** The number of lines that were added and deleted. */
interface LineCounts {
  readonly added: number;
  readonly deleted: number;
}

/** Counts the lines that were added and deleted; null if a side is binary. */
export function countChangedLines({ before, after }: PathDifference): LineCounts | null {
  const sides = readSides(before, after);
  if (sides === null) return null;
  let [added, deleted] = [0, 0];
  for (const { start, end, newStart, newEnd } of sides.changes) {
    deleted += end - start;
    added += newEnd - newStart;
  }
  return { added, deleted };
}

/**
 * Formats differences as a unified diff, as git does. Contents are outside text. A diff that is longer than `maxLength`
 * (in UTF-16 units) ends with a line that says so.
 */
export function formatDiff(differences: readonly PathDifference[], maxLength: number): string {
  const parts: string[] = [];
  let length = 0;
  for (const [index, difference] of differences.entries()) {
    const part = formatDifference(difference);
    length += part.length;
    if (length > maxLength) {
      const left = differences.length - index;
      return `${parts.join('')}(${left} of ${differences.length} files not shown: the limit is ${maxLength} characters)\n`;
    }
    parts.push(part);
  }
  return parts.join('');
}

function formatDifference({ path, from = path, before, after }: PathDifference): string {
  const [old, current] = [quoteName(`a/${from}`), quoteName(`b/${path}`)];
  const head = [`diff --git ${old} ${current}`];
  const [oldMode, mode] = [modeOf(before), modeOf(after)];
  if (oldMode === null && mode !== null) head.push(`new file mode ${mode}`);
  if (oldMode !== null && mode === null) head.push(`deleted file mode ${oldMode}`);
  if (oldMode !== null && mode !== null && oldMode !== mode)
    head.push(`old mode ${oldMode}`, `new mode ${mode}`);
  if (from !== path) head.push(`rename from ${quoteName(from)}`, `rename to ${quoteName(path)}`);
  const sides = readSides(before, after);
  if (sides === null)
    return `${[...head, `Binary files ${old} and ${current} differ`].join('\n')}\n`;
  const hunks = formatHunks(sides);
  if (hunks.length > 0)
    head.push(
      `--- ${before === null ? NOTHING : old}`,
      `+++ ${after === null ? NOTHING : current}`,
    );
  return `${[...head, ...hunks].join('\n')}\n`;
}

function quoteName(name: string): string {
  // oxlint-disable-next-line no-control-regex -- git quotes them as well
  return /["\\\u0000-\u001f\u007f]/.test(name) ? JSON.stringify(name) : name;
}

function modeOf(state: PathState): string | null {
  if (state === null) return null;
  if (state.kind === 'link') return '120000';
  return state.executable ? '100755' : '100644';
}

/** Both sides of a difference as lines, with the changes between them. */
interface DiffSides {
  readonly old: readonly string[];
  readonly current: readonly string[];
  readonly changes: readonly ChangedLines[];
}

/** Splits both sides into lines; null if one is binary. */
function readSides(before: PathState, after: PathState): DiffSides | null {
  const bytes = [before, after].map(bytesOf);
  if (bytes.some((each) => each.subarray(0, SNIFFED_BYTES).includes(0))) return null;
  const [old = [], current = []] = bytes.map((each) => each.toString('utf8').match(LINES) ?? []);
  const numbers = new Map<string, number>();
  const toNumbers = (lines: readonly string[]): readonly number[] =>
    lines.map((line) => {
      const number = numbers.get(line) ?? numbers.size;
      numbers.set(line, number);
      return number;
    });
  return { old, current, changes: compareLines(toNumbers(old), toNumbers(current)) };
}

/** Matches lines with their ends. The last one may have none. */
const LINES = /[^\n]*\n|[^\n]+$/g;

function bytesOf(state: PathState): Buffer {
  if (state === null) return Buffer.alloc(0);
  return state.kind === 'link' ? Buffer.from(state.target) : state.bytes;
}

/** Formats the changes, those that are close to each other in one hunk. */
function formatHunks({ old, current, changes }: DiffSides): readonly string[] {
  const lines: string[] = [];
  for (let at = 0; at < changes.length;) {
    let last = at;
    const isClose = (index: number): boolean => {
      const [left, right] = [changes[index], changes[index + 1]];
      return (
        left !== undefined && right !== undefined && right.start - left.end <= 2 * CONTEXT_LINES
      );
    };
    while (isClose(last)) last += 1;
    lines.push(...formatHunk(old, current, changes.slice(at, last + 1)));
    at = last + 1;
  }
  return lines;
}

function formatHunk(
  old: readonly string[],
  current: readonly string[],
  changes: readonly ChangedLines[],
): readonly string[] {
  const [first, last] = [changes[0], changes.at(-1)];
  if (first === undefined || last === undefined) return [];
  const before = Math.min(CONTEXT_LINES, first.start);
  const behind = Math.min(CONTEXT_LINES, old.length - last.end);
  const body: string[] = [];
  let at = first.start - before;
  for (const { start, end, newStart, newEnd } of changes) {
    body.push(...mark(' ', old.slice(at, start)));
    body.push(...mark('-', old.slice(start, end)), ...mark('+', current.slice(newStart, newEnd)));
    at = end;
  }
  body.push(...mark(' ', old.slice(at, at + behind)));
  const oldRange = formatRange(first.start - before, last.end + behind);
  const newRange = formatRange(first.newStart - before, last.newEnd + behind);
  return [`@@ -${oldRange} +${newRange} @@`, ...body];
}

function mark(sign: string, lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) =>
    line.endsWith('\n')
      ? [`${sign}${line.slice(0, -1)}`]
      : [`${sign}${line}`, '\\ No newline at end of file'],
  );
}

/** Formats a range of lines. The number of an empty one is that of the line before it. */
function formatRange(start: number, end: number): string {
  const count = end - start;
  const first = count === 0 ? start : start + 1;
  return count === 1 ? String(first) : `${first},${count}`;
}
