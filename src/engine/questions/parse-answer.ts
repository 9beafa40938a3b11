import { MusterError } from '../../base/errors.ts';
import { truncate } from '../../base/text.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import {
  type Answer,
  type GrantScope,
  type Question,
  GRANT_SCOPES,
  type InputQuestion,
  type PermissionQuestion,
  type PlanQuestion,
  type ServerQuestion,
} from '../../protocol/question.ts';
import { readFormValues } from './read-form-values.ts';

/** An answer as a person types it. */
export interface AnswerRequest {
  /**
   * The valid texts depend on the question. Permission: `yes`, `no`, `always`, `edits` for this edit and all later ones,
   * or `mode` for the mode that the agent asks for. Plan: `yes`, `no`, or `always`, which also approves edits. Question of
   * AskUser: a text, or the number of an option. Question of a server: `name: value` for each field, a JSON object, `yes`
   * for the defaults or for an address, `no`, or `cancel`.
   */
  readonly text: string;
  /** The scope of an `always` or a `mode`. Default: `task`, the conversation. */
  readonly scope?: string;
  /** The reason for a `no`. */
  readonly reason?: string;
  /** The approved plan with the person's changes. Default: the plan as it was shown. */
  readonly plan?: string;
}

/** The maximum number of code points of a wrong answer that a message shows. */
const MAX_SHOWN_LENGTH = 60;
const OPTION_NUMBER = /^[1-9]$/;

/** Parses an answer to a question. Throws MusterError (`INVALID_PARAM`) that lists the valid answers. */
export function parseAnswer(question: Question, request: AnswerRequest): Answer {
  switch (question.kind) {
    case 'input':
      return readText(question, request);
    case 'plan':
      return readApproval(question, request);
    case 'permission':
      return readVerdict(question, request);
    case 'server':
      return readServerAnswer(question, request);
    default:
      return question satisfies never;
  }
}

function readText({ id, options }: InputQuestion, { text, scope, reason }: AnswerRequest): Answer {
  if (scope !== undefined || reason !== undefined) {
    throw answerError(
      `question ${id} needs a text as its answer: a scope or a reason is not allowed`,
    );
  }
  const answer = text.trim();
  if (answer === '') throw answerError(`question ${id}: the answer is empty`);
  const chosen = OPTION_NUMBER.test(answer) ? options[Number(answer) - 1] : undefined;
  return { kind: 'text', text: chosen ?? answer };
}

/** The words that answer a question of a server without filling in its form. */
const SERVER_WORDS: ReadonlyMap<string, 'filled' | 'declined' | 'cancelled'> = new Map([
  ['yes', 'filled'],
  ['accept', 'filled'],
  ['no', 'declined'],
  ['decline', 'declined'],
  ['cancel', 'cancelled'],
]);

function readServerAnswer(
  { id, fields, url }: ServerQuestion,
  { text, scope, reason }: AnswerRequest,
): Answer {
  if (scope !== undefined || reason !== undefined) {
    throw answerError(`question ${id} is a server's: a scope or a reason is not allowed`);
  }
  const word = SERVER_WORDS.get(text.trim().toLowerCase());
  if (word === 'declined' || word === 'cancelled') return { kind: word };
  if (word === undefined && url !== null) {
    throw answerError(`question ${id}: valid answers are yes (you open the page), no, cancel`);
  }
  const reading = readFormValues(fields, word === undefined ? text : '');
  if (!reading.ok) throw answerError(`question ${id}: ${reading.problem}`);
  return { kind: 'filled', values: reading.values };
}

/** The answers that approve a plan, with the mode that each sets. After `always`, edits run without a question. */
const APPROVALS: ReadonlyMap<string, PermissionMode> = new Map([
  ['yes', 'default'],
  ['always', 'acceptEdits'],
]);

function readApproval({ id }: PlanQuestion, { text, scope, reason, plan }: AnswerRequest): Answer {
  const word = text.trim().toLowerCase();
  if (scope !== undefined)
    throw answerError(`question ${id}: a scope is not allowed in the answer to a plan`);
  const mode = APPROVALS.get(word);
  if (mode === undefined) {
    if (word === 'no') return { kind: 'no', reason: reason?.trim() ? reason : null };
    throw answerError(
      `question ${id}: ${JSON.stringify(truncate(text, MAX_SHOWN_LENGTH))} is not a valid answer; valid: yes, always (edits run unasked), no`,
    );
  }
  if (reason !== undefined)
    throw answerError(`question ${id}: a reason is allowed only with the answer no`);
  if (plan?.trim() === '') throw answerError(`question ${id}: the plan is empty`);
  return { kind: 'approved', mode, plan: plan ?? null };
}

function readVerdict(question: PermissionQuestion, { text, scope, reason }: AnswerRequest): Answer {
  const { id } = question;
  const word = text.trim().toLowerCase();
  if (word !== 'always' && word !== 'mode' && scope !== undefined) {
    const allowed =
      question.modeToGrant === undefined ? 'the answer always' : 'the answers always and mode';
    throw answerError(`question ${id}: a scope is allowed only with ${allowed}`);
  }
  if (word !== 'no' && reason !== undefined) {
    throw answerError(`question ${id}: a reason is allowed only with the answer no`);
  }
  switch (word) {
    case 'yes':
      return { kind: 'once' };
    case 'no':
      return { kind: 'no', reason: reason === undefined || reason.trim() === '' ? null : reason };
    case 'always':
      return { kind: 'always', scope: chooseRuleScope(question, scope ?? 'task') };
    case 'edits':
      if (question.offersEdits === true) return { kind: 'edits' };
      throw answerError(
        `question ${id}: the answer "edits" is not offered, since the mode acceptEdits would not allow this call`,
      );
    case 'mode':
      return { kind: 'mode', scope: chooseModeScope(question, scope ?? 'task') };
    default:
      throw answerError(
        `question ${id}: ${JSON.stringify(truncate(text, MAX_SHOWN_LENGTH))} is not a valid answer; valid: ${listValidAnswers(question)}`,
      );
  }
}

function chooseRuleScope(
  { id, scopes, reason }: PermissionQuestion,
  requested: string,
): GrantScope {
  if (scopes.length === 0) {
    throw answerError(
      `question ${id}: the answer "always" is not offered, only yes (this once) and no, since no rule would allow this call: ${reason}`,
    );
  }
  return chooseScope(id, scopes, requested);
}

function chooseModeScope({ id, modeToGrant }: PermissionQuestion, requested: string) {
  if (modeToGrant === undefined) {
    throw answerError(
      `question ${id}: the answer "mode" is not offered, since no mode of the agent would allow this call`,
    );
  }
  return chooseScope(id, modeToGrant.scopes, requested);
}

function chooseScope<Scope extends GrantScope>(
  id: string,
  scopes: readonly Scope[],
  requested: string,
): Scope {
  const scope = scopes.find((each) => each === requested);
  if (scope !== undefined) return scope;
  const isKnown = GRANT_SCOPES.some((each) => each === requested);
  throw answerError(
    `question ${id}: scope ${JSON.stringify(truncate(requested, MAX_SHOWN_LENGTH))} is ${isKnown ? 'not offered here' : 'unknown'}; valid: ${scopes.join(', ')}`,
  );
}

/** Lists the valid answers for a message. */
function listValidAnswers({ scopes, offersEdits, modeToGrant }: PermissionQuestion): string {
  const always = scopes.length === 0 ? '' : 'always, ';
  const edits = offersEdits === undefined ? '' : 'edits, ';
  return `yes, ${always}${edits}${modeToGrant === undefined ? '' : 'mode, '}no`;
}

/** Creates the error for an answer that does not fit its question. */
export function answerError(message: string): MusterError {
  return new MusterError('INVALID_PARAM', message);
}
