import { MusterError } from '../../base/errors.ts';
import { parseRule } from '../../policy/rules/rules.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import { answerText, type InboxState } from '../../protocol/state/questions.ts';
import type { ModeGrant, PermissionRule } from '../../protocol/permission.ts';
import type { Answer, GrantScope, Question } from '../../protocol/question.ts';
import type { ModeGrantStore } from '../task/mode-grant-store.ts';
import { readAnswer, type AnswerRequest } from './read-answer.ts';
import { approvedTerms } from './set-mode.ts';
import { workingDirectory, type StandingRules } from '../task/standing-rules.ts';
import type { AnswerWriter } from '../task/inbox.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import { TaskPermissions } from '../task/task-permissions.ts';

/** The permanent approvals of the user, to which an answer may add. */
interface KeptAnswers {
  readonly standing: StandingRules | null;
  readonly modeGrants: ModeGrantStore | null;
}

interface GivenAnswer {
  readonly question: Question;
  readonly answer: Answer;
  readonly kept: KeptAnswers;
}

/**
 * Writes a person's answer down, with the rule that an "always" gives, or the mode that the approval of a plan
 * does. These first: a crash in between leaves an open question that they settle, never an answer without them.
 */
export function recordAnswer(asker: AnswerWriter, { question, answer, kept }: GivenAnswer): void {
  const { standing } = kept;
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
    ...(answer.kind === 'approved' ? approvedTerms(asker, answer.mode) : []),
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

/**
 * A mode is granted in the log of the conversation, not of the task that asks: it is for every task of that agent
 * below.
 */
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

/** A task that was opened from its log, and asks there. */
interface LeftAsker extends AnswerWriter {
  readonly state: InboxState & Pick<TaskState, 'conversation'>;
  readonly permissions: AnswerWriter['permissions'] & Pick<TaskPermissions, 'isTrusted'>;
}

/**
 * Answers a question of tasks that were left, before they go on. Throws MusterError: `NOT_FOUND` when
 * none of them asks it, `CONFLICT` when it is settled already.
 */
export function answerRecorded(
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
        recordAnswer(task, { question, answer: readAnswer(question, wish), kept });
        return;
      }
      throw new MusterError(
        'CONFLICT',
        `question ${id} is ${answerText(answer.answer, answer.by)}`,
      );
    }
  }
  throw new MusterError('NOT_FOUND', `no task of this tree asks question ${id}`);
}

function askedElsewhere({ id, task }: Question): MusterError {
  return new MusterError(
    'CONFLICT',
    `question ${id} came with a file, which may show anything: \`muster tasks resume ${task} --on-ask park\` asks it here`,
  );
}
