import { escapeTags } from '../../base/control-tags.ts';
import { MusterError } from '../../base/errors.ts';
import { collapseWhitespace, truncate } from '../../base/text.ts';
import { endsTurn, refuseByUser } from '../../policy/decide-question.ts';
import { parseRule } from '../../policy/rules/rules.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import { answerText, type InboxState } from '../../protocol/state/questions.ts';
import type { ModeGrant, PermissionRule } from '../../protocol/permission.ts';
import {
  offeredRules,
  questionSubject,
  type Answer,
  type GrantScope,
  type Question,
} from '../../protocol/question.ts';
import {
  type Asker,
  type ModeGrantStore,
  workingDirectory,
  type StandingRules,
  type AnswerWriter,
  isWaiting,
  type Inbox,
} from '../task/inbox.ts';
import { answerError, parseAnswer, type AnswerRequest } from './parse-answer.ts';
import { acceptEdits, planApprovalEvents } from './set-mode.ts';
import { stopOrder } from '../task/stop-order.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import { TaskPermissions } from '../task/task-permissions.ts';

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
 * Records a person's answer. What an answer grants is recorded before the answer: after a crash between these events
 * the question is still open, and the grant settles it. An answer without its rules or its mode is impossible.
 *
 * @param ending the events that end the turn of the task because of the answer; they are one batch with the answer
 */
function recordAnswer(
  asker: AnswerWriter,
  { question, answer, approvals }: AnswerToRecord,
  ending: readonly EventBody[] = [],
): void {
  const { id, callId } = question;
  if (answer.kind === 'mode') recordModeGrant(asker, { question, scope: answer.scope, approvals });
  if (answer.kind === 'always') recordRules(asker, { question, scope: answer.scope, approvals });
  if (answer.kind === 'edits') acceptEdits(asker);
  asker.journal.record(
    ...(answer.kind === 'approved' ? planApprovalEvents(asker, answer.mode) : []),
    { type: 'question.answered', question: id, callId, answer, by: 'user' },
    ...ending,
  );
}

/** An answer that grants something, with the scope of the grant. */
type GrantToRecord<Scope extends GrantScope> = Omit<AnswerToRecord, 'answer'> & {
  readonly scope: Scope;
};

/**
 * Records the rules of an "always" in the log of the conversation, because they hold for all its tasks. Rules that hold
 * outside of the conversation are also stored for the user.
 */
function recordRules(
  asker: AnswerWriter,
  { question, scope, approvals: { standingRules } }: GrantToRecord<GrantScope>,
): void {
  const rules = parseOfferedRules(question);
  if (scope !== 'task') {
    if (standingRules === null) {
      throw answerError(
        `scope ${scope}: permanent approvals are not available; use the scope task`,
      );
    }
    const directory = workingDirectory(asker.permissions.rights);
    for (const rule of rules) standingRules.add(rule, { scope, directory });
  }
  asker.top.journal.record(
    ...rules.map(
      (rule) =>
        ({ type: 'rights.granted', rule, scope, by: 'user', question: question.id }) as const,
    ),
  );
}

/**
 * Records the grant of a mode in the log of the conversation, because it holds for all tasks of that agent in the
 * conversation.
 */
function recordModeGrant(
  asker: AnswerWriter,
  { question, scope, approvals }: GrantToRecord<'task' | 'user'>,
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

/** Parses the rules that a permission question offers for the answer "always". */
function parseOfferedRules(question: Question): readonly PermissionRule[] {
  const rules = offeredRules(question);
  if (rules.length === 0) {
    throw answerError(`question ${question.id}: the answer "always" is not offered`);
  }
  const where = `the user's answer to question ${question.id}`;
  return rules.map((text) => {
    const parsed = parseRule({ text, source: { kind: 'answer', where } }, [question.tool]);
    if (parsed.ok) return parsed.rule;
    throw new MusterError('INTERNAL_ERROR', parsed.problem.message);
  });
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
      if (answer === null && question.kind === 'server') throw lostServerError(question);
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

function lostServerError({ id, task }: Question): MusterError {
  const message = `the process in which the server of question ${id} was waiting has ended, so the answer would reach nobody: \`muster tasks resume ${task}\` continues without it`;
  return new MusterError('CONFLICT', message);
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
  const toRecord = { question, answer, approvals: inbox };
  if (endsTurn(answer, { parent: asker.spec.parent, isUserPresent: inbox.isUserPresent })) {
    endTurn(asker, toRecord);
  } else {
    recordAnswer(asker, toRecord);
  }
  // The answer may have added a rule that settles other questions, or it may be the denial that ends the task.
  inbox.reconsider();
  return question;
}

/**
 * Records a no that ends the turn of the main agent: the refusal of the call, and then the interruption, so that no
 * further request is sent. A process that resumes the task after a crash finds all of this or nothing. The tool that
 * presents a plan records the result of its call itself.
 */
function endTurn(asker: Asker, toRecord: AnswerToRecord): void {
  const { question } = toRecord;
  const { decision, refusal } = refuseByUser(null);
  const { callId, tool } = question;
  const refused = {
    type: 'call.refused',
    callId,
    tool,
    text: escapeTags(refusal),
    error: 'PERMISSION_DENIED',
    decision,
  } as const;
  const subject = collapseWhitespace(truncate(questionSubject(question), MAX_SUBJECT_LENGTH));
  const because =
    question.kind === 'plan'
      ? 'the user said no to the plan'
      : `the user said no to ${tool} ${subject}`;
  asker.interrupt(stopOrder('user', because), (interruption) =>
    recordAnswer(asker, toRecord, [
      ...(question.kind === 'permission' ? [refused] : []),
      interruption,
    ]),
  );
}

/** The maximum number of code points of a call in the reason for the end of a turn. */
const MAX_SUBJECT_LENGTH = 120;
