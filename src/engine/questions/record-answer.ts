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

/**
 * The stores of the user's permanent approvals, to which an answer may add. A store is null when it is not
 * available.
 */
interface PermanentApprovals {
  readonly standingRules: StandingRules | null;
  readonly modeGrants: ModeGrantStore | null;
}

/** A checked answer with its question. */
interface AnswerToRecord {
  readonly question: Question;
  readonly answer: Answer;
  readonly approvals: PermanentApprovals;
}

/**
 * Records a person's answer. The rule of an "always" and the mode of an approved plan are recorded before the answer:
 * after a crash between these events the question is still open, and the new rule or mode settles it. An answer
 * without its rule or mode is impossible.
 */
function recordAnswer(asker: AnswerWriter, { question, answer, approvals }: AnswerToRecord): void {
  const { id, callId } = question;
  const { standingRules } = approvals;
  if (answer.kind === 'mode') recordModeGrant(asker, { question, scope: answer.scope, approvals });
  const grant = answer.kind === 'always' ? parseOfferedRule(question, answer.scope) : null;
  if (grant !== null && grant.scope !== 'task') {
    if (standingRules === null) {
      throw answerError(
        `scope ${grant.scope}: permanent approvals are not available; use the scope task`,
      );
    }
    const directory = workingDirectory(asker.permissions.rights);
    standingRules.add(grant.rule, { scope: grant.scope, directory });
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

/**
 * Records the grant of a mode in the log of the conversation, because it holds for all tasks of that agent in the
 * conversation.
 */
function recordModeGrant(
  asker: AnswerWriter,
  {
    question,
    scope,
    approvals,
  }: Omit<AnswerToRecord, 'answer'> & { readonly scope: 'task' | 'user' },
): void {
  const { id } = question;
  const offered = question.kind === 'permission' ? question.modeToGrant : undefined;
  if (offered === undefined) {
    throw answerError(`question ${id}: the answer "mode" is not offered`);
  }
  const { agent, mode, definition } = offered;
  const where = `the user's answer to question ${id}`;
  const newGrant: ModeGrant = { agent, mode, definition, source: { kind: 'answer', where } };
  if (scope === 'user' && approvals.modeGrants === null) {
    throw answerError('scope user: permanent approvals are not available; use the scope task');
  }
  const grant = scope === 'user' ? (approvals.modeGrants?.add(newGrant) ?? newGrant) : newGrant;
  asker.top.journal.record({ type: 'mode.granted', grant, scope, by: 'user', question: id });
}

/** Parses the rule that a permission question offers for the answer "always". */
function parseOfferedRule(
  question: Question,
  scope: GrantScope,
): { readonly rule: PermissionRule; readonly scope: GrantScope } {
  const text = question.kind === 'permission' ? question.rule : null;
  if (text === null) {
    throw answerError(`question ${question.id}: the answer "always" is not offered`);
  }
  const where = `the user's answer to question ${question.id}`;
  const parsed = parseRule({ text, source: { kind: 'answer', where } }, [question.tool]);
  if (parsed.ok) return { rule: parsed.rule, scope };
  throw new MusterError('INTERNAL_ERROR', parsed.problem.message);
}

/** A task that was opened from its log. The log may hold questions without an answer. */
interface RecoveredAsker extends AnswerWriter {
  readonly state: InboxState & Pick<TaskState, 'conversation'>;
  readonly permissions: AnswerWriter['permissions'] & Pick<TaskPermissions, 'isTrusted'>;
}

/**
 * Answers a question of parked tasks before they are resumed. Throws MusterError: `NOT_FOUND` when none of the tasks
 * asks this question, `CONFLICT` when the question is settled already, `INVALID_PARAM` when the text is not a valid
 * answer.
 */
export function answerRecordedQuestion(
  tasks: readonly RecoveredAsker[],
  { question: id, ...request }: AnswerRequest & { readonly question: string },
  approvals: PermanentApprovals,
): void {
  for (const task of tasks) {
    const settled = task.state.closedQuestions.get(id);
    if (settled !== undefined) throw new MusterError('CONFLICT', `question ${id} is ${settled}`);
    for (const { question, answer, seq } of task.state.questions.values()) {
      if (question.id !== id) continue;
      if (!task.permissions.isTrusted(seq)) throw importedQuestionError(question);
      if (answer === null) {
        recordAnswer(task, { question, answer: parseAnswer(question, request), approvals });
        return;
      }
      const message = `question ${id} is ${answerText(answer.answer, answer.by)}`;
      throw new MusterError('CONFLICT', message);
    }
  }
  throw new MusterError('NOT_FOUND', `no task of this tree asks question ${id}`);
}

function importedQuestionError({ id, task }: Question): MusterError {
  const message = `question ${id} is in an imported log, so its text can't be trusted: \`muster tasks resume ${task} --on-ask park\` asks it again on this machine`;
  return new MusterError('CONFLICT', message);
}

/**
 * Answers a question that waits in this process. `prefix` is its id or the unique beginning of its id. Throws
 * MusterError: `NOT_FOUND` when no such question waits here, `CONFLICT` when it is answered already, `INVALID_PARAM`
 * when the text is not a valid answer.
 */
export function answerQuestion(inbox: Inbox, prefix: string, request: AnswerRequest): Question {
  const waiting = inbox.find(prefix);
  const { asker, question } = waiting;
  const answer = parseAnswer(question, request);
  if (!isWaiting(waiting)) {
    throw new MusterError('CONFLICT', `question ${question.id} is answered already`);
  }
  recordAnswer(asker, { question, answer, approvals: inbox });
  // The answer may have added a rule that settles other questions, or it may be the denial that ends the task.
  inbox.reconsider();
  return question;
}

/** An answer as a person types it. */
export interface AnswerRequest {
  /**
   * The valid texts depend on the question. Permission: `yes`, `no`, `always`, or `mode` for the mode that the agent
   * asks for. Plan: `yes`, `no`, or `always`, which also approves edits. Question of AskUser: a text, or the number
   * of an option.
   */
  readonly text: string;
  /** The scope of an `always` or a `mode`. Default: `task`. */
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
function listValidAnswers({ scopes, modeToGrant }: PermissionQuestion): string {
  const always = scopes.length === 0 ? '' : 'always, ';
  return `yes, ${always}${modeToGrant === undefined ? '' : 'mode, '}no`;
}

function answerError(message: string): MusterError {
  return new MusterError('INVALID_PARAM', message);
}
