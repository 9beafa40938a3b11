import { isSecretPath } from '../../sys/files/secret-paths.ts';
import type { DiffFile, DiffHunk } from './wire.ts';

const FILE_START = /^diff --git (?:"a\/.*"|a\/.*?) (?:"b\/.*"|b\/.*)$/;
const HUNK_START = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** The files of a unified diff, and what the diff says beside them, such as the limit that it has reached. */
export interface ParsedDiff {
  readonly files: readonly DiffFile[];
  readonly rest: string | null;
}

/** Reads a unified diff as Muster writes it. The lines of a file that may hold secrets are left out. */
export function parseDiff(text: string): ParsedDiff {
  const files: DiffFile[] = [];
  const rest: string[] = [];
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  for (let at = 0; at < lines.length;) {
    if (!FILE_START.test(lines[at] ?? '')) {
      rest.push(lines[at] ?? '');
      at += 1;
      continue;
    }
    const end = findEnd(lines, at + 1);
    files.push(withoutSecrets(readFile(lines.slice(at, end))));
    at = end;
  }
  return { files, rest: rest.length === 0 ? null : rest.join(' ') };
}

/** Returns the index behind the part of a file. Lines of hunks are counted, because they may look like anything. */
function findEnd(lines: readonly string[], from: number): number {
  let at = from;
  while (at < lines.length) {
    const line = lines[at] ?? '';
    const hunk = HUNK_START.exec(line);
    if (hunk !== null) at += 1 + countHunkLines(lines, at + 1, hunk);
    else if (HEAD_LINE.test(line)) at += 1;
    else return at;
  }
  return at;
}

const HEAD_LINE =
  /^(?:new file mode|deleted file mode|old mode|new mode|rename from|rename to|---|\+\+\+|Binary files) /;

function countHunkLines(lines: readonly string[], from: number, hunk: RegExpExecArray): number {
  let old = Number(hunk[2] ?? 1);
  let current = Number(hunk[4] ?? 1);
  let at = from;
  while (at < lines.length && (old > 0 || current > 0 || lines[at]?.startsWith('\\') === true)) {
    const sign = lines[at]?.[0];
    if (sign === ' ' || sign === '-') old -= 1;
    if (sign === ' ' || sign === '+') current -= 1;
    at += 1;
  }
  return at - from;
}

function readFile(lines: readonly string[]): DiffFile {
  const heads = new Map<string, string>();
  const hunks: DiffHunk[] = [];
  let isBinary = false;
  for (let at = 1; at < lines.length;) {
    const line = lines[at] ?? '';
    const hunk = HUNK_START.exec(line);
    if (hunk === null) {
      isBinary ||= line.startsWith('Binary files ');
      const [name = ''] = HEAD_LINE.exec(line) ?? [];
      heads.set(name.trim(), line.slice(name.length));
      at += 1;
      continue;
    }
    const count = countHunkLines(lines, at + 1, hunk);
    hunks.push({
      oldStart: Number(hunk[1]),
      newStart: Number(hunk[3]),
      lines: lines.slice(at + 1, at + 1 + count),
    });
    at += 1 + count;
  }
  const [from, to] = [heads.get('rename from'), heads.get('rename to')];
  const body = hunks.flatMap((each) => each.lines);
  return {
    path: to === undefined ? readPath(lines[0] ?? '') : readName(to),
    from: from === undefined ? null : readName(from),
    kind: heads.has('new file mode')
      ? 'added'
      : heads.has('deleted file mode')
        ? 'deleted'
        : 'changed',
    added: body.filter((line) => line.startsWith('+')).length,
    deleted: body.filter((line) => line.startsWith('-')).length,
    hunks,
    note: isBinary ? 'a binary file' : null,
  };
}

/** Returns the path in the first line of a file that keeps its name: both halves of the line name it. */
function readPath(line: string): string {
  const names = line.slice('diff --git '.length);
  return readName(names.slice((names.length + 1) / 2)).replace(/^b\//, '');
}

/** Reads a name, which is quoted as JSON if it has unusual characters. */
function readName(name: string): string {
  try {
    return name.startsWith('"') ? String(JSON.parse(name)) : name;
  } catch {
    // The name was changed when secrets were removed from the diff.
    return name;
  }
}

function withoutSecrets(file: DiffFile): DiffFile {
  // A renamed file holds the lines that it had under its former name.
  const names = [file.path, file.from ?? file.path];
  if (!names.some((name) => isSecretPath(`/${name}`))) return file;
  return { ...file, hunks: [], note: 'not shown, because the file may hold secrets' };
}
