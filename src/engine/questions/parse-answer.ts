import { MusterError } from '../../base/errors.ts';
import { truncate } from '../../base/text.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import {
  GRANT_SCOPES,
  type Answer,
  type GrantScope,
  type InputQuestion,
  type PermissionQuestion,
  type PlanQuestion,
  type Question,
} from '../../protocol/question.ts';

/** An answer as a person types it. */
export interface AnswerRequest {
  /**
   * To a permission question: `yes`, `no`, `always`, or `mode` for the mode that the agent asks for. To a plan: `yes`,
   * `no`, or `always`, which also approves edits. To a question of AskUser: a text or the number of an option.
   */
  readonly text: string;
  /** The scope of an `always` or a `mode`. Default: `task`. */
  readonly scope?: string;
  /** The reason for a `no`. */
  readonly reason?: string;
  /** The approved plan as the person changed it. Default: as it was shown. */
  readonly plan?: string;
}

const SHOWN_WORD = 60;
const NUMBER = /^[1-9]$/;

/** Parses an answer to a question. Throws MusterError (`INVALID_PARAM`) that lists the valid answers. */
export function parseAnswer(question: Question, request: AnswerRequest): Answer {
  switch (question.kind) {
    case 'input':
      return readText(question, request);
    case 'plan':
      return readApproval(question, request);
    case 'permission':
      return readVerdict(question, request);
    default:
      return question satisfies never;
  }
}

function readText({ id, options }: InputQuestion, { text, scope, reason }: AnswerRequest): Answer {
  if (scope !== undefined || reason !== undefined) {
    throw invalid(`question ${id} wants a text: neither a scope nor a reason goes with it`);
  }
  const answer = text.trim();
  if (answer === '') throw invalid(`question ${id}: the answer is empty`);
  const chosen = NUMBER.test(answer) ? options[Number(answer) - 1] : undefined;
  return { kind: 'text', text: chosen ?? answer };
}

/** The answers that approve a plan, with the mode that they set. With `always`, edits run unasked. */
const APPROVALS: ReadonlyMap<string, PermissionMode> = new Map([
  ['yes', 'default'],
  ['always', 'acceptEdits'],
]);

function readApproval({ id }: PlanQuestion, { text, scope, reason, plan }: AnswerRequest): Answer {
  const word = text.trim().toLowerCase();
  if (scope !== undefined) throw invalid(`question ${id}: no scope goes with a plan`);
  const mode = APPROVALS.get(word);
  if (mode === undefined) {
    if (word === 'no') return { kind: 'no', reason: reason?.trim() ? reason : null };
    throw invalid(
      `question ${id}: ${JSON.stringify(truncate(text, SHOWN_WORD))} is no answer to it; valid: yes, always (edits run unasked), no`,
    );
  }
  if (reason !== undefined) throw invalid(`question ${id}: a reason goes with no alone`);
  if (plan?.trim() === '') throw invalid(`question ${id}: the plan is empty`);
  return { kind: 'approved', mode, plan: plan ?? null };
}

function readVerdict(question: PermissionQuestion, { text, scope, reason }: AnswerRequest): Answer {
  const { id } = question;
  const word = text.trim().toLowerCase();
  if (word !== 'always' && word !== 'mode' && scope !== undefined) {
    const alone = question.modeToGrant === undefined ? 'always' : 'always and mode';
    throw invalid(`question ${id}: a scope goes with ${alone} alone`);
  }
  if (word !== 'no' && reason !== undefined) {
    throw invalid(`question ${id}: a reason goes with no alone`);
  }
  switch (word) {
    case 'yes':
      return { kind: 'once' };
    case 'no':
      return { kind: 'no', reason: reason === undefined || reason.trim() === '' ? null : reason };
    case 'always':
      return { kind: 'always', scope: offeredScope(question, scope ?? 'task') };
    case 'mode':
      return { kind: 'mode', scope: modeScope(question, scope ?? 'task') };
    default:
      throw invalid(
        `question ${id}: ${JSON.stringify(truncate(text, SHOWN_WORD))} is no answer to it; valid: ${validAnswers(question)}`,
      );
  }
}

function offeredScope({ id, scopes, reason }: PermissionQuestion, wanted: string): GrantScope {
  if (scopes.length === 0) {
    throw invalid(
      `question ${id}: always is not offered, only yes (this once) and no, since no rule would let this run: ${reason}`,
    );
  }
  return chosenScope(id, scopes, wanted);
}

function modeScope({ id, modeToGrant }: PermissionQuestion, wanted: string) {
  if (modeToGrant === undefined) {
    throw invalid(
      `question ${id}: mode is not offered, since no mode of the agent would let this run`,
    );
  }
  return chosenScope(id, modeToGrant.scopes, wanted);
}

function chosenScope<Scope extends GrantScope>(
  id: string,
  scopes: readonly Scope[],
  wanted: string,
): Scope {
  const scope = scopes.find((each) => each === wanted);
  if (scope !== undefined) return scope;
  const isKnown = GRANT_SCOPES.some((each) => each === wanted);
  throw invalid(
    `question ${id}: scope ${JSON.stringify(truncate(wanted, SHOWN_WORD))} is ${isKnown ? 'not offered here' : 'none'}; valid: ${scopes.join(', ')}`,
  );
}

/** Lists the valid answers for a message. */
function validAnswers({ scopes, modeToGrant }: PermissionQuestion): string {
  const always = scopes.length === 0 ? '' : 'always, ';
  return `yes, ${always}${modeToGrant === undefined ? '' : 'mode, '}no`;
}

function invalid(message: string): MusterError {
  return new MusterError('INVALID_PARAM', message);
}
