import type {
  Decision,
  DecisionStep,
  GrantedDefinition,
  ModeToGrant,
  PermissionMode,
} from './permission.ts';

/**
 * The scopes of the answer "always": the task with all tasks below it, this project, or everything of this
 * user.
 */
export const GRANT_SCOPES = ['task', 'project', 'user'] as const;
export type GrantScope = (typeof GRANT_SCOPES)[number];

/** A change of text that a call's arguments describe. */
export interface ProposedEdit {
  /** Absolute. */
  readonly path: string;
  /** The text to be replaced; null if the full file is written. */
  readonly before: string | null;
  readonly after: string;
  /** True if every occurrence of `before` is replaced. Otherwise it must occur exactly once. */
  readonly everywhere: boolean;
}

/**
 * The handling of a question. `deny`: it is refused at once, because nobody is there. `park`: its task is
 * parked, and its process ends when nothing else is running. `wait`: it waits for an answer.
 */
export type OnAsk = 'deny' | 'park' | 'wait';

interface QuestionBase {
  /** The task's id, `q` and a number. It is the same if the question is asked again after a crash. */
  readonly id: string;
  readonly task: string;
  readonly callId: string;
  /** Agent names from the main agent down to the one that asks. */
  readonly chain: readonly string[];
  /** Canonical. */
  readonly tool: string;
}

/** The question whether a call may run. Its content is complete and never cut. */
export interface PermissionQuestion extends QuestionBase {
  readonly kind: 'permission';
  readonly commands: readonly string[];
  /** Absolute, links resolved. */
  readonly paths: readonly string[];
  readonly hosts: readonly string[];
  readonly edits: readonly ProposedEdit[];
  /** The arguments as JSON, for a call without commands, paths, hosts and edits. */
  readonly input: string | null;
  /** The step of the decision that asks. */
  readonly step: DecisionStep;
  readonly reason: string;
  /** The rule that asks, if one does. */
  readonly askedBy: Decision['rule'] | null;
  /** The rule that "always" would add; null if it is not offered. */
  readonly rule: string | null;
  /** The scopes that "always" may have; empty if it is not offered. */
  readonly scopes: readonly GrantScope[];
  /**
   * The mode that the agent's definition asks for. Set if a grant of it would allow the call and is offered.
   */
  readonly modeToGrant?: ModeToOffer;
}

/** A mode that an answer may grant to an agent. */
export interface ModeToOffer extends ModeToGrant {
  /** The definition that the grant is bound to. */
  readonly definition: GrantedDefinition;
  /** Scopes of the grant: the conversation, or everything of this user. */
  readonly scopes: readonly Exclude<GrantScope, 'project'>[];
}

/** A question of the main agent to the user. */
export interface InputQuestion extends QuestionBase {
  readonly kind: 'input';
  readonly text: string;
  /** At most 4 options, chosen by number. Any other text is also an answer. */
  readonly options: readonly string[];
}

/** The question whether the main agent may leave plan mode and carry out its plan. */
export interface PlanQuestion extends QuestionBase {
  readonly kind: 'plan';
  /** Markdown. */
  readonly text: string;
}

/** A question to a person on behalf of one call of one task. */
export type Question = PermissionQuestion | InputQuestion | PlanQuestion;

/** An answer to a question. */
export type Answer =
  | { readonly kind: 'once' }
  | { readonly kind: 'always'; readonly scope: GrantScope }
  /** The agent that asks gets the mode that its definition asks for. */
  | { readonly kind: 'mode'; readonly scope: Exclude<GrantScope, 'project'> }
  | { readonly kind: 'no'; readonly reason: string | null }
  /** An answer to a question of AskUser. */
  | { readonly kind: 'text'; readonly text: string }
  /** The approval of a plan. `plan`: the plan as the person changed it; null if it is unchanged. */
  | { readonly kind: 'approved'; readonly mode: PermissionMode; readonly plan: string | null };

/** `rule`: a rule that was added meanwhile allows the call, so that nobody needs to answer. */
export type AnsweredBy = 'user' | 'rule';

/**
 * Tells whether a typed text identifies the question: its full id, or a beginning of it before its number. A
 * beginning that cuts the number does not count, because `…q1` must not mean `…q10`.
 */
export function isMeantBy({ id, task }: Pick<Question, 'id' | 'task'>, word: string): boolean {
  return id === word || (word !== '' && `${task}q`.startsWith(word));
}

/** Returns the subject of a question on one line: the command, the paths, the hosts, or its text. */
export function questionSubject(question: Question): string {
  if (question.kind !== 'permission') return question.text;
  const { commands, paths, hosts, input } = question;
  const touched = commands.length > 0 ? commands : [...new Set([...paths, ...hosts])];
  return touched.length > 0 ? touched.join(' ') : (input ?? '');
}
