import { plural } from '../../../base/text.ts';
import type { DiffLine, TextDiff } from '../model/text-diff.ts';
import type { CodeRun } from './highlighter.ts';
import { exactText, type Pen } from './pen.ts';

type CodeLine = Exclude<DiffLine, { sign: '…' }>;

/**
 * Draws the lines of a text change without cutting them: the line number if it is known, a sign, and the text. Unchanged
 * and added lines have the colors of their language, if it is known; removed lines have one color.
 */
export function diffLines({ lines, first }: TextDiff, pen: Pen, language = ''): readonly string[] {
  const numberOf = (line: DiffLine) => (line.sign === '…' ? 0 : line.number);
  const largest = lines.reduce((most, line) => Math.max(most, numberOf(line)), 1);
  const digits = first === null ? 0 : String(first + largest - 1).length;
  const margin = (number: number | null) =>
    first === null
      ? ''
      : `${number === null ? '' : first + number - 1}`.padStart(digits).concat(' ');
  const runs = runsByLine(lines, pen, language);
  return lines.map((line) =>
    line.sign === '…'
      ? pen.prose('dim', `${margin(null)}… ${plural(line.count, 'line')}`)
      : pen.paint('dim', margin(line.number)) + signed(line, runs.get(line) ?? null, pen),
  );
}

/** Formats the size of changes: `+12 -3`. */
export function diffSize(edits: readonly TextDiff[]): string {
  const sum = (side: 'added' | 'removed') => edits.reduce((all, each) => all + each[side], 0);
  return `+${sum('added')} -${sum('removed')}`;
}

/** Returns the name of the language of a file, as it would stand after a fence; empty if its name has no ending. */
export function languageOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  return /^(?:dockerfile|makefile)$/.exec(name)?.[0] ?? /\.([\w+#-]{1,30})$/.exec(name)?.[1] ?? '';
}

/** Returns the colored pieces of the unchanged and added lines, which together are the text after the change. */
function runsByLine(
  lines: readonly DiffLine[],
  pen: Pen,
  language: string,
): ReadonlyMap<DiffLine, readonly CodeRun[]> {
  const after = lines.filter(({ sign }) => sign === ' ' || sign === '+');
  const text = after.map((line) => (line.sign === '…' ? '' : exactText(line.text))).join('\n');
  const runs = pen.codeRuns(text, language) ?? [];
  return new Map(runs.map((each, index) => [after[index], each] as const).filter(hasLine));
}

function hasLine(
  pair: readonly [DiffLine | undefined, readonly CodeRun[]],
): pair is readonly [DiffLine, readonly CodeRun[]] {
  return pair[0] !== undefined;
}

const ROLES = {
  ' ': ['text', 'text'],
  '+': ['added', 'added-word'],
  '-': ['removed', 'removed-word'],
} as const;

function signed(
  { sign, text, words }: CodeLine,
  runs: readonly CodeRun[] | null,
  pen: Pen,
): string {
  const [role, wordRole] = ROLES[sign];
  const pieces = runs ?? [{ role, text: exactText(text) }];
  const marked =
    words === null
      ? pieces
      : withWords(pieces, wordRole, [
          exactText(text.slice(0, words.from)).length,
          exactText(text.slice(0, words.to)).length,
        ]);
  const body = marked.map((run) => pen.paint(run.role, run.text)).join('');
  return runs === null && words === null
    ? pen.paint(role, `${sign} ${exactText(text)}`)
    : `${pen.paint(role, `${sign} `)}${body}`;
}

/** Gives the pieces of a line between two positions another role. */
function withWords(
  runs: readonly CodeRun[],
  role: CodeRun['role'],
  [from, to]: readonly [number, number],
): readonly CodeRun[] {
  let at = 0;
  return runs.flatMap((run) => {
    const start = at;
    at += run.text.length;
    const [left, right] = [from - start, to - start].map((cut) =>
      Math.min(Math.max(cut, 0), run.text.length),
    );
    return [
      { role: run.role, text: run.text.slice(0, left) },
      { role, text: run.text.slice(left, right) },
      { role: run.role, text: run.text.slice(right) },
    ];
  });
}
