import {
  offeredRules,
  type ProposedEdit,
  type Question,
  type PermissionQuestion,
  type ServerQuestion,
} from '../../../protocol/question.ts';
import { canAcceptAsShown, describeServerQuestion } from '../../../report/server-question.ts';
import { sanitizeLine } from '../../../base/terminal-text.ts';
import { plainLines, type Pen } from '../view/pen.ts';
import {
  aboutText,
  offeredRuleTexts,
  requestedTexts,
  requestText,
} from '../view/question-texts.ts';

/** The questions that wait together with one question, and the directory to which paths are relative. */
interface WaitingQuestions {
  /** The number of waiting questions, this question included. */
  readonly waiting: number;
  /** The others that one answer may answer together with this question. */
  readonly similar: readonly Question[];
  readonly cwd: string;
}

/** Writes a question in full: who asks, the exact request, and the letters that answer. */
export function questionText(
  question: Question,
  { waiting, similar, cwd }: WaitingQuestions,
  pen: Pen,
): readonly string[] {
  const who = `${question.chain.join(' > ')}${aboutText(question)}`;
  const more = waiting > 1 ? ` ${waiting - 1} more after this one.` : '';
  return [
    pen.prose('text', `Question: ${who} ${requestText(question)}.${more}`),
    ...bodyText(question, cwd, pen).map((line) => `  ${line}`),
    pen.exact('text', answerHelp(question, cwd)),
    ...similarText(similar, { isFirst: true, cwd }, pen),
  ];
}

/**
 * Writes what the other questions ask that get the same answer after `A`. `isFirst`: none of them was written before, so
 * that the user does not know yet how to answer them alike.
 */
export function similarText(
  similar: readonly Question[],
  { isFirst, cwd }: { readonly isFirst: boolean; readonly cwd: string },
  pen: Pen,
): readonly string[] {
  if (similar.length === 0) return [];
  return [
    isFirst
      ? 'Type A before your answer, such as A y, to answer these alike:'
      : 'A before your answer also answers these alike:',
    ...similar.flatMap((each) => [
      pen.prose('text', `  ${each.chain.at(-1) ?? ''}${aboutText(each)}`),
      ...bodyText(each, cwd, pen).map((line) => `    ${line}`),
    ]),
  ];
}

function bodyText(question: Question, cwd: string, pen: Pen): readonly string[] {
  if (question.kind === 'plan') return plainLines(question.text).split('\n');
  if (question.kind === 'input') {
    const options = question.options.map((option, index) => `${index + 1}: ${option}`);
    return [...question.text.split('\n'), ...options].map((line) => pen.prose('text', line));
  }
  if (question.kind === 'server') {
    return describeServerQuestion(question).map((line) => pen.exact('text', line));
  }
  const { edits, reason, serverSays } = question;
  return [
    ...exactLines(requestedTexts(question, cwd), pen),
    ...edits.flatMap((edit) => editText(edit, pen)),
    pen.prose('text', reason),
    ...(serverSays === undefined ? [] : [pen.prose('text', sanitizeLine(serverSays))]),
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
  readonly scope?: 'task' | 'project' | 'user';
};

/** An answer, and whether it is also for all similar questions. */
export interface TypedLine {
  readonly answer: TypedAnswer;
  readonly isForSimilar: boolean;
}

/**
 * Reads a typed line as an answer: `y`, `a`, `p`, `n`, or `n` and a reason for a call or a plan; `e` to accept edits from
 * then on; `m` or `u` to grant the mode that an agent lacks; a number, or `t` and a text, for a question of AskUser; `t`
 * and values, `y`, `n` or `c` for a question of a server. `A` before an answer is for all similar questions. Returns null if the line is a message.
 */
export function parseTypedLine(question: Question, line: string): TypedLine | null {
  const [, forSimilar, rest = ''] = /^\s*(A\s+)?([^]*)$/.exec(line) ?? [];
  const answer = parseTypedAnswer(question, rest);
  return answer === null ? null : { answer, isForSimilar: forSimilar !== undefined };
}

function parseTypedAnswer(question: Question, line: string): TypedAnswer | null {
  const [, letter = '', rest = ''] = /^(\S+)(?:\s+([^]*))?$/.exec(line.trim()) ?? [];
  const words = rest.trim();
  if (question.kind === 'input') {
    if (letter === 't' && words !== '') return { text: words };
    const isOption = /^[1-9]$/.test(letter) && Number(letter) <= question.options.length;
    return isOption && words === '' ? { text: letter } : null;
  }
  if (question.kind === 'server') return parseServerAnswer(question, { letter, words });
  if (letter === 'n') return words === '' ? { text: 'no' } : { text: 'no', reason: words };
  if (words !== '') return null;
  if (letter === 'y') return { text: 'yes' };
  if (letter === 'e' && offersEdits(question)) return { text: 'edits' };
  if (letter === 'p' && offersProject(question)) return { text: 'always', scope: 'project' };
  const scope = MODE_LETTERS.get(letter);
  if (scope !== undefined && modeScopes(question).includes(scope)) return { text: 'mode', scope };
  return letter === 'a' && offersAlways(question) ? { text: 'always' } : null;
}

function parseServerAnswer(
  question: ServerQuestion,
  { letter, words }: { readonly letter: string; readonly words: string },
): TypedAnswer | null {
  if (letter === 't' && words !== '' && question.url === null) return { text: words };
  if (words !== '') return null;
  if (letter === 'y' && canAcceptAsShown(question)) return { text: 'yes' };
  if (letter === 'n') return { text: 'no' };
  return letter === 'c' ? { text: 'cancel' } : null;
}

const MODE_LETTERS: ReadonlyMap<string, 'task' | 'user'> = new Map([
  ['m', 'task'],
  ['u', 'user'],
]);

function modeScopes(question: Question): readonly string[] {
  return question.kind === 'permission' ? (question.modeToGrant?.scopes ?? []) : [];
}

/** Names the letters that answer a question. */
function answerHelp(question: Question, cwd: string): string {
  if (question.kind === 'input') {
    const numbers = question.options.length === 0 ? '' : 'the number of one of these, or ';
    return `Type ${numbers}t and your answer.`;
  }
  if (question.kind === 'server') return serverAnswerHelp(question);
  if (question.kind === 'plan') {
    return 'Type y to approve it, a to approve it and allow edits without asking, n for no, or n and the reason.';
  }
  const edits = offersEdits(question) ? 'e to accept edits from here on, ' : '';
  return `Type y for once, ${alwaysHelp(question, cwd)}${edits}${modeHelp(question)}n for no, or n and the reason.`;
}

function serverAnswerHelp(question: ServerQuestion): string {
  if (question.url !== null) return 'Type y if you open the page, n to decline, or c to cancel.';
  const preset = canAcceptAsShown(question) ? 'y to send it with its defaults, ' : '';
  const [field] = question.fields;
  const fill =
    field === undefined
      ? ''
      : `t and your values, such as t ${field.name}: value, with ; between several, `;
  return `Type ${fill}${preset}n to decline, or c to cancel.`;
}

function modeHelp({ modeToGrant }: PermissionQuestion): string {
  if (modeToGrant === undefined) return '';
  const { agent, mode, scopes } = modeToGrant;
  const user = scopes.includes('user') ? 'u for the same in every conversation, ' : '';
  return `m to let ${agent} run in its mode, ${mode}, in this conversation, ${user}`;
}

function alwaysHelp(question: PermissionQuestion, cwd: string): string {
  if (!offersAlways(question)) return '';
  const project = offersProject(question) ? 'p for always in this project, ' : '';
  return `a for always in this conversation (${offeredRuleTexts(question, cwd).join(', ')}), ${project}`;
}

function offersAlways(question: Question): boolean {
  return question.kind === 'plan' || offeredRules(question).length > 0;
}

function offersProject(question: Question): boolean {
  return question.kind === 'permission' && question.scopes.includes('project');
}

function offersEdits(question: Question): boolean {
  return question.kind === 'permission' && question.offersEdits === true;
}
