import type { AgentDefinition } from '../protocol/agent.ts';
import type { Decision } from '../protocol/permission.ts';
import type { Answer, OnAsk } from '../protocol/question.ts';
import type { TaskState } from '../protocol/state/task-state.ts';
import { explainRefusal } from './explain-refusal.ts';

/** A task that has a question for a person. */
export interface AskingTask {
  /** True if its rights say that everything that would be asked is refused. */
  readonly refusesQuestions: boolean;
  /** The definitions of the task and of all tasks above it, its own first. */
  readonly agents: readonly Pick<AgentDefinition, 'name' | 'refusesQuestions'>[];
  readonly onAsk: OnAsk;
}

/** A call that `decide` wants to be asked about, with what its question depends on. */
export interface PermissionRequest {
  readonly decision: Decision;
  readonly task: AskingTask;
  /** The answer of a person to exactly this question. It is null if there is none yet. */
  readonly answer: Answer | null;
  /** The state of the task, which counts how often the user has said no. */
  readonly state: DeniedTask;
  /**
   * True if the person would not see everything that runs, because redaction removes a part of the question.
   * Called only where the person would be asked.
   */
  readonly isPartlyHidden: () => boolean;
}

export type QuestionOutcome =
  | { readonly kind: 'ask' }
  | { readonly kind: 'allowed' }
  /** `refusal` is the text for the model. */
  | { readonly kind: 'refused'; readonly decision: Decision; readonly refusal: string };

/**
 * Decides what becomes of a call that a person would have to allow. A definition that refuses questions comes before
 * an answer that was given earlier.
 */
export function decidePermissionQuestion(request: PermissionRequest): QuestionOutcome {
  const { decision, task, answer, state } = request;
  if (task.refusesQuestions) return refuseUnasked(decision, explainUnaskedTask(task));
  if (answer?.kind === 'no') return refuseByPerson(answer.reason);
  if (answer !== null) return { kind: 'allowed' };
  if (isEndedByDenials(state)) return refuse(`Not asked: ${describeDenials(state)}.`);
  if (task.onAsk === 'deny') return refuseUnasked(decision);
  return request.isPartlyHidden() ? refuse(HIDDEN) : { kind: 'ask' };
}

const HIDDEN =
  'Not asked: what it would run holds a private key, or a secret of several words, and neither is ever shown, so nobody could see what they allow. Put the secret into a file or a variable, and name that';

function refuseUnasked(decision: Decision, why?: string): QuestionOutcome {
  return { kind: 'refused', decision, refusal: explainRefusal(decision, why) };
}

function refuseByPerson(reason: string | null): QuestionOutcome {
  const why = reason === null ? '' : `, and why: ${reason}`;
  return refuse(`The user was asked and said no${why}`);
}

function refuse(reason: string): QuestionOutcome {
  const text = /[.!?]$/.test(reason) ? reason : `${reason}.`;
  const decision: Decision = { verdict: 'deny', step: 'answer', reason: text };
  return { kind: 'refused', decision, refusal: explainRefusal(decision) };
}

const DECIDE_YOURSELF = 'Decide yourself, and say in your answer what you assumed.';

/** Decides whether AskUser may ask. Returns the refusal for the model, or null where the person is asked. */
export function decideUserQuestion(task: AskingTask): string | null {
  if (task.refusesQuestions) return `${explainUnaskedTask(task)} ${DECIDE_YOURSELF}`;
  if (task.onAsk !== 'deny') return null;
  return `Nobody is here to answer: this run has no user to ask (--on-ask deny). ${DECIDE_YOURSELF}`;
}

/** Decides whether a plan is shown to a person. Returns the refusal for the model, or null where it is shown. */
export function decidePlanQuestion(task: AskingTask): string | null {
  if (!task.refusesQuestions && task.onAsk !== 'deny') return null;
  return 'Nobody is here to approve a plan. Give it as your answer.';
}

/** Explains why a task asks nobody although somebody may be there: one sentence. */
function explainUnaskedTask({ agents }: AskingTask): string {
  const refusing = agents.find(({ refusesQuestions }) => refusesQuestions === true);
  return refusing === undefined
    ? 'It is not asked: a task above wants what would be asked to be refused.'
    : `It is not asked: the definition of \`${refusing.name}\` wants what would be asked to be refused.`;
}

/** Questions of a child that the user answers with no, in a row, before the child is ended. */
const MAX_DENIALS = 3;

type DeniedTask = Pick<TaskState, 'denials'> & DenialCount;
type DenialCount = Pick<TaskState, 'spec' | 'activation'>;

/** Tells whether the user has said no so often that a task ends. A main agent goes on: the user can talk to it. */
export function isEndedByDenials({ spec, activation }: DenialCount): boolean {
  return spec.parent !== null && activation.denials >= MAX_DENIALS;
}

/** Describes for the recipient of a result why the user's denials ended the task. */
export function describeDenials({ denials }: Pick<TaskState, 'denials'>): string {
  return `the user said no ${MAX_DENIALS} times in a row, the last time to ${denials.at(-1) ?? 'a call'}`;
}
