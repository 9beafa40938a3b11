import { plural } from '../../../base/text.ts';
import type { DiffLine, TextDiff } from '../model/text-diff.ts';
import type { Pen } from './pen.ts';

/** Draws the lines of a text change without cutting them: the line number if it is known, a sign, and the text. */
export function diffLines({ lines, first }: TextDiff, pen: Pen): readonly string[] {
  const numberOf = (line: DiffLine) => (line.sign === '…' ? 0 : line.number);
  const largest = lines.reduce((most, line) => Math.max(most, numberOf(line)), 1);
  const digits = first === null ? 0 : String(first + largest - 1).length;
  const margin = (number: number | null) =>
    first === null
      ? ''
      : `${number === null ? '' : first + number - 1}`.padStart(digits).concat(' ');
  return lines.map((line) =>
    line.sign === '…'
      ? pen.prose('dim', `${margin(null)}… ${plural(line.count, 'line')}`)
      : pen.paint('dim', margin(line.number)) + signed(line, pen),
  );
}

/** Formats the size of changes: `+12 -3`. */
export function diffSize(edits: readonly TextDiff[]): string {
  const sum = (side: 'added' | 'removed') => edits.reduce((all, each) => all + each[side], 0);
  return `+${sum('added')} -${sum('removed')}`;
}

const ROLES = {
  ' ': ['text', 'text'],
  '+': ['added', 'added-word'],
  '-': ['removed', 'removed-word'],
} as const;

function signed({ sign, text, words }: Exclude<DiffLine, { sign: '…' }>, pen: Pen): string {
  const [role, wordRole] = ROLES[sign];
  if (words === null) return pen.exact(role, `${sign} ${text}`);
  return [
    pen.exact(role, `${sign} ${text.slice(0, words.from)}`),
    pen.exact(wordRole, text.slice(words.from, words.to)),
    pen.exact(role, text.slice(words.to)),
  ].join('');
}
