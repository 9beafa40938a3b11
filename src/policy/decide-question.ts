import type { AgentDefinition } from '../protocol/agent.ts';
import type { Decision } from '../protocol/permission.ts';
import type { Answer, OnAsk } from '../protocol/question.ts';
import type { TaskState } from '../protocol/state/task-state.ts';
import { explainRefusal } from './explain-refusal.ts';

/** A task that has a question for a person. */
export interface AskingTask {
  /** True if the rights of the task say that every question is refused. */
  readonly refusesQuestions: boolean;
  /** The definitions of the task and of all tasks above it, its own first. */
  readonly agents: readonly Pick<AgentDefinition, 'name' | 'refusesQuestions'>[];
  readonly onAsk: OnAsk;
}

/** A call for which `decide` returned `ask`, with everything that determines whether a person is asked. */
export interface PermissionRequest {
  readonly decision: Decision;
  readonly task: AskingTask;
  /** The answer of a person to exactly this question; null if there is none yet. */
  readonly answer: Answer | null;
  /** The state of the task, with the number of times that the user has said no. */
  readonly state: DeniedTask;
  /**
   * Tells whether redaction would remove a part of the question, so that the person would not see everything that runs.
   * Called only if the person would be asked.
   */
  readonly isPartlyHidden: () => boolean;
}

/** A refusal. `refusal` is the text for the model. */
interface Refused {
  readonly kind: 'refused';
  readonly decision: Decision;
  readonly refusal: string;
}

export type QuestionOutcome = { readonly kind: 'ask' } | { readonly kind: 'allowed' } | Refused;

/**
 * Decides whether a call that only a person can allow is asked about, allowed or refused. If a definition refuses
 * questions, an earlier answer has no effect.
 */
export function decidePermissionQuestion(request: PermissionRequest): QuestionOutcome {
  const { decision, task, answer, state } = request;
  if (task.refusesQuestions) return refuseUnasked(decision, explainUnaskedTask(task));
  if (answer?.kind === 'no') return refuseByUser(answer.reason);
  if (answer !== null) return { kind: 'allowed' };
  if (isEndedByDenials(state)) return refuse(`Not asked: ${describeDenials(state)}.`);
  if (task.onAsk === 'deny') return refuseUnasked(decision);
  return request.isPartlyHidden() ? refuse(HIDDEN) : { kind: 'ask' };
}

const HIDDEN =
  'Not asked: what it would run holds a private key, or a secret of several words, and neither is ever shown, so nobody could see what they allow. Put the secret into a file or a variable, and name that';

function refuseUnasked(decision: Decision, why?: string): Refused {
  return { kind: 'refused', decision, refusal: explainRefusal(decision, why) };
}

/**
 * Returns the refusal of a call to which the user said no. A reason is the user's instruction, which the model is to
 * follow instead of only going on without the call.
 */
export function refuseByUser(reason: string | null): Refused {
  if (reason === null) return refuse('The user was asked and said no');
  return refuse(`The user said no and gave this instruction: ${reason}`, 'Follow it.');
}

function refuse(reason: string, instead?: string): Refused {
  const text = /[.!?]$/.test(reason) ? reason : `${reason}.`;
  const decision: Decision = {
    verdict: 'deny',
    step: 'answer',
    reason: text,
    ...(instead === undefined ? {} : { instead }),
  };
  return { kind: 'refused', decision, refusal: explainRefusal(decision) };
}

const DECIDE_YOURSELF = 'Decide yourself, and say in your answer what you assumed.';

/** Decides whether AskUser may ask. Returns the refusal for the model, or null if the person is asked. */
export function decideUserQuestion(task: AskingTask): string | null {
  if (task.refusesQuestions) return `${explainUnaskedTask(task)} ${DECIDE_YOURSELF}`;
  if (task.onAsk !== 'deny') return null;
  return `Nobody is here to answer: this run has no user to ask (--on-ask deny). ${DECIDE_YOURSELF}`;
}

/**
 * Decides whether a question of an MCP server is shown to a person. Returns the reason why it is cancelled, or null. A
 * parked task has no process in which the server could wait.
 */
export function decideServerQuestion(task: AskingTask): string | null {
  if (task.refusesQuestions) return explainUnaskedTask(task);
  if (task.onAsk === 'wait') return null;
  return `Nobody is here to answer (--on-ask ${task.onAsk}).`;
}

/** Decides whether a plan is shown to a person. Returns the refusal for the model, or null if the plan is shown. */
export function decidePlanQuestion(task: AskingTask): string | null {
  if (!task.refusesQuestions && task.onAsk !== 'deny') return null;
  return 'Nobody is here to approve a plan. Give it as your answer.';
}

/** Explains in one sentence why a task does not ask the user. */
function explainUnaskedTask({ agents }: AskingTask): string {
  const refusing = agents.find(({ refusesQuestions }) => refusesQuestions === true);
  return refusing === undefined
    ? 'It is not asked: a task above wants what would be asked to be refused.'
    : `It is not asked: the definition of \`${refusing.name}\` wants what would be asked to be refused.`;
}

/**
 * Decides whether an answer ends the turn of the task that asked. A plain no to the main agent does if the user is
 * present, so that the user can type what to do instead. A no with a reason is an instruction that the model follows.
 */
export function endsTurn(
  answer: Answer,
  task: { readonly parent: string | null; readonly isUserPresent: boolean },
): boolean {
  if (answer.kind !== 'no' || answer.reason !== null) return false;
  return task.parent === null && task.isUserPresent;
}

/** The number of questions in a row that the user can answer with no before a child is ended. */
const MAX_DENIALS = 3;

type DeniedTask = Pick<TaskState, 'denials'> & DenialCount;
type DenialCount = Pick<TaskState, 'spec' | 'activation'>;

/**
 * Tells whether the user has said no so often that a child ends. A main agent does not end: the user can talk to it.
 */
export function isEndedByDenials({ spec, activation }: DenialCount): boolean {
  return spec.parent !== null && activation.denials >= MAX_DENIALS;
}

/** Describes for the recipient of a result why the user's denials ended the task. */
export function describeDenials({ denials }: Pick<TaskState, 'denials'>): string {
  return `the user said no ${MAX_DENIALS} times in a row, the last time to ${denials.at(-1) ?? 'a call'}`;
}
