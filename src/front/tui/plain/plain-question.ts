import type { ProposedEdit, Question, PermissionQuestion } from '../../../protocol/question.ts';
import { plainLines, type Pen } from '../view/pen.ts';
import { requestedTexts, requestText } from '../view/question-box.ts';

/** Writes a question in full: who asks, the exact request, and the letters that answer. */
export function questionText(question: Question, waiting: number, pen: Pen): readonly string[] {
  const who = question.chain.join(' > ');
  const more = waiting > 1 ? ` ${waiting - 1} more after this one.` : '';
  return [
    pen.prose('text', `Question: ${who} ${requestText(question)}.${more}`),
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
  const { edits, reason } = question;
  return [
    ...exactLines(requestedTexts(question), pen),
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

/** An answer that was typed as a line. */
export type TypedAnswer = {
  readonly text: string;
  readonly reason?: string;
  readonly scope?: 'task' | 'user';
};

/**
 * Reads a typed line as an answer: `y`, `a`, `n`, or `n` and a reason for a call or a plan; `m` or `u` to grant the mode
 * that an agent lacks; a number, or `t` and a text, for a question of AskUser. Returns null if the line is a message.
 */
export function parseTypedLine(question: Question, line: string): TypedAnswer | null {
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
  const scope = MODE_LETTERS.get(letter);
  if (scope !== undefined && modeScopes(question).includes(scope)) return { text: 'mode', scope };
  return letter === 'a' && offersAlways(question) ? { text: 'always' } : null;
}

const MODE_LETTERS: ReadonlyMap<string, 'task' | 'user'> = new Map([
  ['m', 'task'],
  ['u', 'user'],
]);

function modeScopes(question: Exclude<Question, { kind: 'input' }>): readonly string[] {
  return question.kind === 'permission' ? (question.modeToGrant?.scopes ?? []) : [];
}

/** Names the letters that answer a question. */
function answerHelp(question: Question): string {
  if (question.kind === 'input') {
    const numbers = question.options.length === 0 ? '' : 'the number of one of these, or ';
    return `Type ${numbers}t and your answer.`;
  }
  if (question.kind === 'plan') {
    return 'Type y to approve it, a to approve it and allow edits without asking, n for no, or n and the reason.';
  }
  const always = offersAlways(question) ? `a for always (${question.rule ?? ''}), ` : '';
  return `Type y for once, ${always}${modeHelp(question)}n for no, or n and the reason.`;
}

function modeHelp({ modeToGrant }: PermissionQuestion): string {
  if (modeToGrant === undefined) return '';
  const { agent, mode, scopes } = modeToGrant;
  const user = scopes.includes('user') ? 'u for the same in every conversation, ' : '';
  return `m to let ${agent} run in its mode, ${mode}, in this conversation, ${user}`;
}

function offersAlways(question: Exclude<Question, { kind: 'input' }>): boolean {
  return question.kind === 'plan' || (question.rule !== null && question.scopes.length > 0);
}
