import { MusterError } from '../../base/errors.ts';
import { parseRule } from '../../policy/rules/rules.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import { answerText, type InboxState } from '../../protocol/state/questions.ts';
import type { ModeGrant, PermissionRule, PermissionMode } from '../../protocol/permission.ts';
import {
  type Answer,
  type GrantScope,
  type Question,
  GRANT_SCOPES,
  type InputQuestion,
  type PermissionQuestion,
  type PlanQuestion,
} from '../../protocol/question.ts';
import {
  type ModeGrantStore,
  workingDirectory,
  type StandingRules,
  type AnswerWriter,
  isWaiting,
  type Inbox,
} from '../task/inbox.ts';
import { planApprovalEvents } from './set-mode.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import { TaskPermissions } from '../task/task-permissions.ts';
import { truncate } from '../../base/text.ts';

/** The permanent approvals of the user, to which an answer may add. */
interface KeptAnswers {
  readonly standingRules: StandingRules | null;
  readonly modeGrants: ModeGrantStore | null;
}

interface GivenAnswer {
  readonly question: Question;
  readonly answer: Answer;
  readonly kept: KeptAnswers;
}

/**
 * Records a person's answer, with the rule of an "always" or the mode of an approved plan. These events come first, so that
 * a crash in between leaves an open question that they settle, and never an answer without them.
 */
function recordAnswer(asker: AnswerWriter, { question, answer, kept }: GivenAnswer): void {
  const { id, callId } = question;
  const { standingRules: standing } = kept;
  if (answer.kind === 'mode') recordModeGrant(asker, { question, scope: answer.scope, kept });
  const grant = answer.kind === 'always' ? grantOf(question, answer.scope) : null;
  if (grant !== null && grant.scope !== 'task') {
    if (standing === null) {
      throw new MusterError('INVALID_PARAM', `scope ${grant.scope}: nothing is kept here`);
    }
    const directory = workingDirectory(asker.permissions.rights);
    standing.add(grant.rule, { scope: grant.scope, directory });
  }
  const events: readonly EventBody[] = [
    ...(grant === null
      ? []
      : [{ type: 'rights.granted', ...grant, by: 'user', question: id } as const]),
    ...(answer.kind === 'approved' ? planApprovalEvents(asker, answer.mode) : []),
    { type: 'question.answered', question: id, callId, answer, by: 'user' },
  ];
  asker.journal.record(...events);
}

/** Records the grant of a mode in the log of the conversation, since it is for all tasks of that agent in it. */
function recordModeGrant(
  asker: AnswerWriter,
  { question, scope, kept }: Omit<GivenAnswer, 'answer'> & { readonly scope: 'task' | 'user' },
): void {
  const { id } = question;
  const offered = question.kind === 'permission' ? question.modeToGrant : undefined;
  if (offered === undefined) {
    throw new MusterError('INVALID_PARAM', `question ${id}: mode is not offered`);
  }
  const { agent, mode, definition } = offered;
  const where = `the user's answer to question ${id}`;
  const given: ModeGrant = { agent, mode, definition, source: { kind: 'answer', where } };
  if (scope === 'user' && kept.modeGrants === null) {
    throw new MusterError('INVALID_PARAM', 'scope user: nothing is kept here');
  }
  const grant = scope === 'user' ? (kept.modeGrants?.add(given) ?? given) : given;
  asker.top.journal.record({ type: 'mode.granted', grant, scope, by: 'user', question: id });
}

function grantOf(
  question: Question,
  scope: GrantScope,
): { readonly rule: PermissionRule; readonly scope: GrantScope } {
  const text = question.kind === 'permission' ? question.rule : null;
  if (text === null) {
    throw new MusterError('INVALID_PARAM', `question ${question.id}: always is not offered`);
  }
  const where = `the user's answer to question ${question.id}`;
  const parsed = parseRule({ text, source: { kind: 'answer', where } }, [question.tool]);
  if (parsed.ok) return { rule: parsed.rule, scope };
  throw new MusterError('INTERNAL_ERROR', parsed.problem.message);
}

/** A task that was opened from its log and has open questions there. */
interface LeftAsker extends AnswerWriter {
  readonly state: InboxState & Pick<TaskState, 'conversation'>;
  readonly permissions: AnswerWriter['permissions'] & Pick<TaskPermissions, 'isTrusted'>;
}

/**
 * Answers a question of parked tasks before they are resumed. Throws MusterError: `NOT_FOUND` when none of them asks
 * it, `CONFLICT` when it is settled already.
 */
export function answerRecordedQuestion(
  tasks: readonly LeftAsker[],
  { question: id, ...request }: AnswerRequest & { readonly question: string },
  kept: KeptAnswers,
): void {
  for (const task of tasks) {
    const settled = task.state.closedQuestions.get(id);
    if (settled !== undefined) throw new MusterError('CONFLICT', `question ${id} is ${settled}`);
    for (const { question, answer, seq } of task.state.questions.values()) {
      if (question.id !== id) continue;
      if (!task.permissions.isTrusted(seq)) throw askedElsewhere(question);
      if (answer === null) {
        recordAnswer(task, { question, answer: parseAnswer(question, request), kept });
        return;
      }
      const message = `question ${id} is ${answerText(answer.answer, answer.by)}`;
      throw new MusterError('CONFLICT', message);
    }
  }
  throw new MusterError('NOT_FOUND', `no task of this tree asks question ${id}`);
}

function askedElsewhere({ id, task }: Question): MusterError {
  const message = `question ${id} came with a file, which may show anything: \`muster tasks resume ${task} --on-ask park\` asks it here`;
  return new MusterError('CONFLICT', message);
}

/**
 * Answers a question that waits in this process, named by its id or by the unique beginning of its id.
 * Throws MusterError: `NOT_FOUND` when it does not wait here, `CONFLICT` when it is answered already,
 * `INVALID_PARAM` when the text is no answer to it.
 */
export function answerQuestion(inbox: Inbox, prefix: string, request: AnswerRequest): Question {
  const waiting = inbox.find(prefix);
  const { asker, question } = waiting;
  const answer = parseAnswer(question, request);
  if (!isWaiting(waiting)) {
    throw new MusterError('CONFLICT', `question ${question.id} is answered already`);
  }
  recordAnswer(asker, { question, answer, kept: inbox });
  // The answer may have added a rule that settles other questions, or have been the denial that ends the task.
  inbox.reconsider();
  return question;
}

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
