import { stripVTControlCharacters } from 'node:util';
import { sanitizeLine } from '../../../base/terminal-text.ts';
import type { PermissionQuestion, ProposedEdit } from '../../../protocol/question.ts';
import { markdownLines } from './markdown.ts';
import type { PendingQuestion } from '../model/pending-question.ts';
import { textDiff, WHOLE } from '../model/text-diff.ts';
import { diffLines } from './diff-lines.ts';
import { wrapped } from './fit.ts';
import { plainLines, type Pen } from './pen.ts';

/** A line of a question. */
export interface AskedLine {
  readonly text: string;
  /** Whether it continues the line before. */
  readonly isRest: boolean;
}

/** The full text of a question, wrapped. `rule` is the rule that "always" would add; null if it is shown elsewhere. */
export function askedLines(
  question: PendingQuestion,
  { width, rule }: { readonly width: number; readonly rule: string | null },
  pen: Pen,
): readonly AskedLine[] {
  const over = (line: string) =>
    wrapped(line, width, '').map((text, index) => ({ text, isRest: index > 0 }));
  const exact = (line: string) => over(pen.exact('strong', line));
  if (question.kind === 'confirm') return question.lines.flatMap(exact);
  if (question.kind === 'plan') {
    const text = plainLines(question.text);
    // The user approves all of it, so that a text of which markdown would hide a part is shown as it is written.
    return hidesWords(text, pen)
      ? question.text.split('\n').flatMap((line) => over(pen.exact('text', line)))
      : markdownLines(text, { width, isOpen: false }, pen).map((line) => ({
          text: line,
          isRest: false,
        }));
  }
  if (question.kind === 'input') {
    const options = question.options.map((option, index) => `${index + 1}  ${option}`);
    return [...question.text.split('\n'), ...options].flatMap((line) =>
      over(pen.prose('text', line)),
    );
  }
  return [
    ...whole(question).flatMap((text) => text.split('\n').flatMap(exact)),
    ...question.edits.flatMap((edit) => editLines(edit, pen)).flatMap(over),
    ...over(pen.prose('dim', question.reason)),
    ...(rule === null ? [] : over(pen.prose('dim', `always: ${sanitizeLine(rule)}`))),
  ];
}

function whole({ commands, paths, hosts, input }: PermissionQuestion): readonly string[] {
  return [...commands, ...paths, ...hosts, ...(input === null ? [] : [input])];
}

/** Draws the full edit, because the user must be able to see all of what they allow. */
function editLines({ before, after, everywhere }: ProposedEdit, pen: Pen): readonly string[] {
  return [
    ...(everywhere ? [pen.prose('dim', 'at every place:')] : []),
    ...diffLines(textDiff(before, after, WHOLE), pen),
  ];
}

/** Wide enough that nothing is wrapped, not even a table. */
const UNBROKEN = 100_000;

/** Whether drawing it as markdown hides a letter or digit, such as titles of links. */
function hidesWords(text: string, pen: Pen): boolean {
  const drawn = markdownLines(text, { width: UNBROKEN, isOpen: false }, pen);
  return lettersOf(stripVTControlCharacters(drawn.join('\n'))) !== lettersOf(text);
}

function lettersOf(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}]/gu, '');
}
