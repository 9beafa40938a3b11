import { plural } from '../../../base/text.ts';
import type { DiffLine, TextDiff } from '../model/text-diff.ts';
import type { Pen } from './pen.ts';

/** A change of text, a line each, as long as they are: numbers where they are known, signs, and what they hold. */
export function diffLines({ lines, first }: TextDiff, pen: Pen): readonly string[] {
  const largest = lines.reduce(
    (most, line) => Math.max(most, line.sign === '…' ? 0 : line.number),
    1,
  );
  const numbers = first === null ? null : { first, width: String(first + largest - 1).length };
  return lines.map((line) => {
    if (line.sign === '…')
      return pen.prose('dim', `${blank(numbers)}… ${plural(line.count, 'line')}`);
    const number = numbers === null ? '' : `${numbers.first + line.number - 1}`;
    return `${pen.paint('dim', numbers === null ? '' : `${number.padStart(numbers.width)} `)}${signed(line, pen)}`;
  });
}

/** `+12 -3`: read without colour, too. */
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

function blank(numbers: { readonly width: number } | null): string {
  return numbers === null ? '' : ' '.repeat(numbers.width + 1);
}
