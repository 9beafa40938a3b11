import { MusterError } from '../../base/errors.ts';
import { parseRule } from '../../policy/rules/rules.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import { answerText, type InboxState } from '../../protocol/state/questions.ts';
import type { ModeGrant, PermissionRule } from '../../protocol/permission.ts';
import type { Answer, GrantScope, Question } from '../../protocol/question.ts';
import {
  type ModeGrantStore,
  workingDirectory,
  type StandingRules,
  type AnswerWriter,
  isWaiting,
  type Inbox,
} from '../task/inbox.ts';
import { parseAnswer, type AnswerRequest } from './parse-answer.ts';
import { planApprovalEvents } from './set-mode.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import { TaskPermissions } from '../task/task-permissions.ts';

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
      : [{ type: 'rights.granted', ...grant, by: 'user', question: question.id } as const]),
    ...(answer.kind === 'approved' ? planApprovalEvents(asker, answer.mode) : []),
    {
      type: 'question.answered',
      question: question.id,
      callId: question.callId,
      answer,
      by: 'user',
    },
  ];
  asker.journal.record(...events);
}

/** Records the grant of a mode in the log of the conversation, since it is for all tasks of that agent in it. */
function recordModeGrant(
  asker: AnswerWriter,
  { question, scope, kept }: Omit<GivenAnswer, 'answer'> & { readonly scope: 'task' | 'user' },
): void {
  const offered = question.kind === 'permission' ? question.modeToGrant : undefined;
  if (offered === undefined) {
    throw new MusterError('INVALID_PARAM', `question ${question.id}: mode is not offered`);
  }
  const { agent, mode, definition } = offered;
  const where = `the user's answer to question ${question.id}`;
  const given: ModeGrant = { agent, mode, definition, source: { kind: 'answer', where } };
  if (scope === 'user' && kept.modeGrants === null) {
    throw new MusterError('INVALID_PARAM', 'scope user: nothing is kept here');
  }
  const grant = scope === 'user' ? (kept.modeGrants?.add(given) ?? given) : given;
  asker.top.journal.record({
    type: 'mode.granted',
    grant,
    scope,
    by: 'user',
    question: question.id,
  });
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
  { question: id, ...wish }: AnswerRequest & { readonly question: string },
  kept: KeptAnswers,
): void {
  for (const task of tasks) {
    const settled = task.state.settledQuestions.get(id);
    if (settled !== undefined) throw new MusterError('CONFLICT', `question ${id} is ${settled}`);
    for (const { question, answer, seq } of task.state.questions.values()) {
      if (question.id !== id) continue;
      if (!task.permissions.isTrusted(seq)) throw askedElsewhere(question);
      if (answer === null) {
        recordAnswer(task, { question, answer: parseAnswer(question, wish), kept });
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
export function answerQuestion(inbox: Inbox, prefix: string, wish: AnswerRequest): Question {
  const waiting = inbox.find(prefix);
  const { asker, question } = waiting;
  const answer = parseAnswer(question, wish);
  if (!isWaiting(waiting)) {
    throw new MusterError('CONFLICT', `question ${question.id} is answered already`);
  }
  recordAnswer(asker, { question, answer, kept: inbox });
  // The answer may have added a rule that settles other questions, or have been the denial that ends the task.
  inbox.reconsider();
  return question;
}
