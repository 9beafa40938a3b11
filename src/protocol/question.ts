import type {
  Decision,
  DecisionStep,
  GrantedDefinition,
  ModeToGrant,
  PermissionMode,
} from './permission.ts';

/** How far an "always" reaches: the task with all below it, this project, everything of this user. */
export const GRANT_SCOPES = ['task', 'project', 'user'] as const;
export type GrantScope = (typeof GRANT_SCOPES)[number];

/** A change of text as the call's own arguments give it. */
export interface ProposedEdit {
  /** Absolute. */
  readonly path: string;
  /** Null: the whole file is written. */
  readonly before: string | null;
  readonly after: string;
  /** Whether it changes every place that holds `before`, and not the only one. */
  readonly everywhere: boolean;
}

/**
 * What happens to a question: `deny`, refused at once, since nobody is there; `park`, its task is
 * parked, and its process leaves when nothing else goes on; `wait`, it waits until it is answered.
 */
export type OnAsk = 'deny' | 'park' | 'wait';

interface QuestionBase {
  /** The task's id, `q` and a number: the same when it is asked again after a crash. */
  readonly id: string;
  readonly task: string;
  readonly callId: string;
  /** Agent names from the main agent down to the one that asks. */
  readonly chain: readonly string[];
  /** Canonical. */
  readonly tool: string;
}

/** Whether a call may run. Nothing of what it would do is cut. */
export interface PermissionQuestion extends QuestionBase {
  readonly kind: 'permission';
  readonly commands: readonly string[];
  /** Absolute, links resolved. */
  readonly paths: readonly string[];
  readonly hosts: readonly string[];
  readonly edits: readonly ProposedEdit[];
  /** For what has none of these: the arguments as JSON. */
  readonly input: string | null;
  /** Which step of the order asks, and why. */
  readonly step: DecisionStep;
  readonly reason: string;
  /** The rule that asks, where one does. */
  readonly askedBy: Decision['rule'] | null;
  /** The rule that an "always" would give; null: none is offered. */
  readonly rule: string | null;
  /** What an "always" may reach; empty: it is not offered. */
  readonly scopes: readonly GrantScope[];
  /**
   * The mode that the agent's definition asks for, where granting it would let the call run. Absent: no such
   * grant is offered.
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

/** Something that the main agent wants to know. */
export interface InputQuestion extends QuestionBase {
  readonly kind: 'input';
  readonly text: string;
  /** At most 4, to choose from by number; any other text is an answer, too. */
  readonly options: readonly string[];
}

/** Whether the main agent may carry out what it has planned, and leave plan mode for that. */
export interface PlanQuestion extends QuestionBase {
  readonly kind: 'plan';
  /** Markdown. */
  readonly text: string;
}

/** What a person is asked, on behalf of one call of one task. */
export type Question = PermissionQuestion | InputQuestion | PlanQuestion;

export type Answer =
  | { readonly kind: 'once' }
  | { readonly kind: 'always'; readonly scope: GrantScope }
  /** The agent that asks gets the mode that its definition asks for. */
  | { readonly kind: 'mode'; readonly scope: Exclude<GrantScope, 'project'> }
  | { readonly kind: 'no'; readonly reason: string | null }
  /** To a question of AskUser. */
  | { readonly kind: 'text'; readonly text: string }
  /** Of a plan. `plan`: as the person changed it; null: as it was shown. */
  | { readonly kind: 'approved'; readonly mode: PermissionMode; readonly plan: string | null };

/** `rule`: a rule that was given meanwhile lets the call run, and nobody need answer. */
export type AnsweredBy = 'user' | 'rule';

/**
 * Whether a person who types this may mean the question: its whole id, or a beginning of it before
 * its number. Not one that cuts that: `…q1`, once settled, is not `…q10`.
 */
export function matchesQuestionId(
  { id, task }: Pick<Question, 'id' | 'task'>,
  word: string,
): boolean {
  return id === word || (word !== '' && `${task}q`.startsWith(word));
}

/** What is asked for, on one line: the command, the paths, the hosts, or the question. */
export function describeQuestionSubject(question: Question): string {
  if (question.kind !== 'permission') return question.text;
  const { commands, paths, hosts, input } = question;
  const touched = commands.length > 0 ? commands : [...new Set([...paths, ...hosts])];
  return touched.length > 0 ? touched.join(' ') : (input ?? '');
}
