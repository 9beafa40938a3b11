import { stripVTControlCharacters } from 'node:util';
import { exactLine } from '../../../base/terminal-text.ts';
import type { PermissionQuestion, ProposedEdit } from '../../../protocol/question.ts';
import { markdownLines } from './markdown.ts';
import type { PendingQuestion } from '../model/pending-question.ts';
import { textDiff, WHOLE } from '../model/text-diff.ts';
import { diffLines } from './diff-lines.ts';
import { wrapped } from './fit.ts';
import { plainLines, type Pen } from './pen.ts';

/** One line of what is asked. */
export interface AskedLine {
  readonly text: string;
  /** Whether it is the rest of the line before, and no line of its own. */
  readonly isRest: boolean;
}

/** All that a question asks, over as many lines as it takes. `rule`: what "always" gives; null: told elsewhere. */
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
    // Whoever approves it approves all of it: what markdown would leave out is shown as it is written.
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
    ...(rule === null ? [] : over(pen.prose('dim', `always: ${exactLine(rule)}`))),
  ];
}

function whole({ commands, paths, hosts, input }: PermissionQuestion): readonly string[] {
  return [...commands, ...paths, ...hosts, ...(input === null ? [] : [input])];
}

/** All of it: whoever allows it must be able to see it. */
function editLines({ before, after, everywhere }: ProposedEdit, pen: Pen): readonly string[] {
  return [
    ...(everywhere ? [pen.prose('dim', 'at every place:')] : []),
    ...diffLines(textDiff(before, after, WHOLE), pen),
  ];
}

/** So wide that nothing is broken over lines, tables included. */
const UNBROKEN = 100_000;

/** Whether a letter or digit of it is not to be seen once it is drawn: definitions and titles of links, for two. */
function hidesWords(text: string, pen: Pen): boolean {
  const drawn = markdownLines(text, { width: UNBROKEN, isOpen: false }, pen);
  return lettersOf(stripVTControlCharacters(drawn.join('\n'))) !== lettersOf(text);
}

function lettersOf(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}]/gu, '');
}
