import type { Question } from '../../../protocol/question.ts';

/** What a typed line says to a question. */
export type PlainAnswer = { readonly text: string; readonly reason?: string };

/**
 * The answer that a line is: `y`, `a` and `n` to a call or a plan, `n` with words why not, a number or `t` with words to
 * a question of the main agent. Null: it is none, but a message.
 */
export function readAnswer(question: Question, line: string): PlainAnswer | null {
  const [, letter = '', rest = ''] = /^(\S+)(?:\s+([^]*))?$/.exec(line.trim()) ?? [];
  const words = rest.trim();
  if (question.kind === 'input') {
    if (letter === 't' && words !== '') return { text: words };
    const isOption = /^[1-9]$/.test(letter) && Number(letter) <= question.options.length;
    return isOption && words === '' ? { text: letter } : null;
  }
  if (letter === 'n') return words === '' ? { text: 'no' } : { text: 'no', reason: words };
  if (words !== '') return null;
  if (letter === 'y') return { text: 'yes' };
  return letter === 'a' && mayBeAlways(question) ? { text: 'always' } : null;
}

/** Which letters answer it. */
export function answerHelp(question: Question): string {
  if (question.kind === 'input') {
    const numbers = question.options.length === 0 ? '' : 'the number of one of these, or ';
    return `Type ${numbers}t and your answer.`;
  }
  if (question.kind === 'plan') {
    return 'Type y to have it carried out, a for the same with edits unasked, n for no, or n and why not.';
  }
  const always = mayBeAlways(question) ? `a for always (${question.rule ?? ''}), ` : '';
  return `Type y for once, ${always}n for no, or n and why not.`;
}

function mayBeAlways(question: Exclude<Question, { kind: 'input' }>): boolean {
  return question.kind === 'plan' || (question.rule !== null && question.scopes.length > 0);
}
