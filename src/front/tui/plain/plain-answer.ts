import type { PermissionQuestion, Question } from '../../../protocol/question.ts';

/** What a typed line says to a question. */
export type PlainAnswer = {
  readonly text: string;
  readonly reason?: string;
  readonly scope?: 'task' | 'user';
};

/**
 * The answer that a line is: `y`, `a` and `n` to a call or a plan, `n` with words why not, `m` and `u` for the mode that
 * an agent asks for, a number or `t` with words to a question of the main agent. Null: it is none, but a message.
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
  const scope = MODE_LETTERS.get(letter);
  if (scope !== undefined && modeScopes(question).includes(scope)) return { text: 'mode', scope };
  return letter === 'a' && mayBeAlways(question) ? { text: 'always' } : null;
}

const MODE_LETTERS: ReadonlyMap<string, 'task' | 'user'> = new Map([
  ['m', 'task'],
  ['u', 'user'],
]);

function modeScopes(question: Exclude<Question, { kind: 'input' }>): readonly string[] {
  return question.kind === 'permission' ? (question.modeToGrant?.scopes ?? []) : [];
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
  return `Type y for once, ${always}${modeHelp(question)}n for no, or n and why not.`;
}

function modeHelp({ modeToGrant }: PermissionQuestion): string {
  if (modeToGrant === undefined) return '';
  const { agent, mode, scopes } = modeToGrant;
  const user = scopes.includes('user') ? 'u for the same in every conversation, ' : '';
  return `m to let ${agent} run in its mode, ${mode}, in this conversation, ${user}`;
}

function mayBeAlways(question: Exclude<Question, { kind: 'input' }>): boolean {
  return question.kind === 'plan' || (question.rule !== null && question.scopes.length > 0);
}
