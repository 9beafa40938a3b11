import type { ProposedEdit, Question } from '../../../protocol/question.ts';
import { plainLines, type Pen } from '../render/pen.ts';
import { wishOf } from '../render/question-title.ts';
import { answerHelp } from './plain-answer.ts';

/** A question in lines, whole: who asks, for exactly what, and which letters answer. */
export function questionText(
  question: Question,
  { waiting, pen }: { readonly waiting: number; readonly pen: Pen },
): readonly string[] {
  const who = question.chain.join(' > ');
  const more = waiting > 1 ? ` ${waiting - 1} more after this one.` : '';
  return [
    pen.prose('text', `Question: ${who} ${wishOf(question)}.${more}`),
    ...bodyText(question, pen).map((line) => `  ${line}`),
    pen.exact('text', answerHelp(question)),
  ];
}

function bodyText(question: Question, pen: Pen): readonly string[] {
  if (question.kind === 'plan') return plainLines(question.text).split('\n');
  if (question.kind === 'input') {
    const options = question.options.map((option, index) => `${index + 1}: ${option}`);
    return [...question.text.split('\n'), ...options].map((line) => pen.prose('text', line));
  }
  const { commands, paths, hosts, input, edits, reason } = question;
  const whole = [...commands, ...paths, ...hosts, ...(input === null ? [] : [input])];
  return [
    ...exactLines(whole, pen),
    ...edits.flatMap((edit) => editText(edit, pen)),
    pen.prose('text', reason),
  ];
}

function editText({ before, after, everywhere }: ProposedEdit, pen: Pen): readonly string[] {
  if (before === null) return ['Writes:', ...exactLines([after], pen)];
  const head = everywhere ? 'Replaces everywhere:' : 'Replaces:';
  return [head, ...exactLines([before], pen), 'By:', ...exactLines([after], pen)];
}

function exactLines(texts: readonly string[], pen: Pen): readonly string[] {
  return texts.flatMap((text) => text.split('\n')).map((line) => pen.exact('text', line));
}
