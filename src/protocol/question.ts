import type {
  Decision,
  DecisionStep,
  GrantedDefinition,
  ModeToGrant,
  PermissionMode,
} from './permission.ts';
import type { FormField, FormValues } from './form.ts';

/**
 * The scopes of a grant. `task`: the conversation with all its tasks, also those that start later. `project`: the
 * project. `user`: all projects of the user.
 */
export const GRANT_SCOPES = ['task', 'project', 'user'] as const;
/**
 * The scopes of a grant. `task`: the conversation with all its tasks, also those that start later. `project`: the
 * project. `user`: all projects of the user.
 */
export type GrantScope = (typeof GRANT_SCOPES)[number];

/** A change of text that a call's arguments describe. */
export interface ProposedEdit {
  /** The absolute path of the file. */
  readonly path: string;
  /** The text that is replaced; null if the full file is written. */
  readonly before: string | null;
  /** The new text. */
  readonly after: string;
  /** True if every occurrence of `before` is replaced. Otherwise `before` must occur exactly once. */
  readonly everywhere: boolean;
}

/**
 * The handling of questions. `deny`: the call is refused at once, because no person is present. `park`: the task is
 * parked, and its process ends when nothing else is running. `wait`: the call waits for the answer.
 */
export type OnAsk = 'deny' | 'park' | 'wait';

/** The fields that all questions have in common. */
export interface QuestionBase {
  /** The id of the task, `q` and a number. The id stays the same if the question is asked again after a crash. */
  readonly id: string;
  /** The id of the task that asks. */
  readonly task: string;
  /** The id of the call because of which the question is asked. */
  readonly callId: string;
  /** The names of the agents, from the main agent down to the agent that asks. */
  readonly chain: readonly string[];
  /** The description of the task; absent for the main agent. */
  readonly description?: string;
  /** The canonical name of the tool. */
  readonly tool: string;
}

/** The question whether a call may run. Its texts are complete and never cut. */
export interface PermissionQuestion extends QuestionBase {
  readonly kind: 'permission';
  /** The shell command lines that the call would run. */
  readonly commands: readonly string[];
  /** The absolute paths, with all links resolved. */
  readonly paths: readonly string[];
  /** The names of the hosts that the call would contact. */
  readonly hosts: readonly string[];
  /** The changes of files that the call would make. */
  readonly edits: readonly ProposedEdit[];
  /** The arguments as JSON, for a call without commands, paths, hosts and edits. */
  readonly input: string | null;
  /** The step of the decision that requires the question. */
  readonly step: DecisionStep;
  /** The reason why a person is asked, in one sentence. */
  readonly reason: string;
  /** The hints of an MCP server about its tool, as its own words. Absent if it gives none, and for other tools. */
  readonly serverSays?: string;
  /** The rule that requires the question; null: no rule does. */
  readonly askedBy: Decision['rule'] | null;
  /** The first rule that the answer "always" would add; null if this answer is not offered. */
  readonly rule: string | null;
  /** The other rules that "always" would add: one for each further part of a compound command. Default: none. */
  readonly moreRules?: readonly string[];
  /**
   * The programs of the commands with their subcommands, such as `npm test`, sorted. Absent if they are not known for
   * certain, and for a call without commands.
   */
  readonly programs?: readonly string[];
  /** Set if the answer `edits` is offered: edits would run without a question in the mode acceptEdits. */
  readonly offersEdits?: true;
  /** The scopes that the answer "always" may have; empty if this answer is not offered. */
  readonly scopes: readonly GrantScope[];
  /**
   * The mode that the definition of the agent requests. Set if a grant of this mode would allow the call, and is offered.
   */
  readonly modeToGrant?: ModeToOffer;
}

/** A mode that an answer may grant to an agent. */
export interface ModeToOffer extends ModeToGrant {
  /** The definition to which the grant is limited. */
  readonly definition: GrantedDefinition;
  /** The possible scopes of the grant: the task with all tasks below it, or all projects of the user. */
  readonly scopes: readonly Exclude<GrantScope, 'project'>[];
}

/** A question of the main agent to the user. */
export interface InputQuestion extends QuestionBase {
  readonly kind: 'input';
  /** The question. Text of a model. */
  readonly text: string;
  /** At most 4 options, which are chosen by number. Any other text is also a valid answer. */
  readonly options: readonly string[];
}

/** The question whether the main agent may leave plan mode and carry out its plan. */
export interface PlanQuestion extends QuestionBase {
  readonly kind: 'plan';
  /** The plan as Markdown. */
  readonly text: string;
}

/** A question of an MCP server to the user, during a call of one of its tools. All texts of the server are untrusted. */
export interface ServerQuestion extends QuestionBase {
  readonly kind: 'server';
  /** The name of the server, as the configuration has it. */
  readonly server: string;
  /** The question. Text of the server. */
  readonly text: string;
  /** The fields of the form to fill in; empty if there are none. */
  readonly fields: readonly FormField[];
  /** The address that the user is asked to open; null for a form. Muster itself does not open it. */
  readonly url: string | null;
}

/** A question to a person because of one call of a task. */
export type Question = PermissionQuestion | InputQuestion | PlanQuestion | ServerQuestion;

/** An answer to a question. */
export type Answer =
  /** The call may run this time. */
  | { readonly kind: 'once' }
  /** The call and calls like it may run in this scope. */
  | { readonly kind: 'always'; readonly scope: GrantScope }
  /** The edit is allowed, and the conversation continues in the mode acceptEdits. */
  | { readonly kind: 'edits' }
  /** The agent that asks gets the mode that its definition requests. */
  | { readonly kind: 'mode'; readonly scope: Exclude<GrantScope, 'project'> }
  /** The call or the plan is refused. `reason`: the words of the person for the model; null: there are none. */
  | { readonly kind: 'no'; readonly reason: string | null }
  /** An answer to a question of AskUser. */
  | { readonly kind: 'text'; readonly text: string }
  /** The approval of a plan. `plan`: the plan as the person changed it; null if it is unchanged. */
  | { readonly kind: 'approved'; readonly mode: PermissionMode; readonly plan: string | null }
  /** The values for the form of a server; empty for an address that the user opens. */
  | { readonly kind: 'filled'; readonly values: FormValues }
  /** The user says no to the question of a server, or leaves it open. */
  | { readonly kind: 'declined' | 'cancelled' };

/**
 * The source of an answer. `rule`: a rule that was added in the meantime allows the call, so no person has to answer.
 * `server`: the server that has asked no longer waits for an answer.
 */
export type AnsweredBy = 'user' | 'rule' | 'server';

/**
 * Returns true if a typed text identifies a question: it is the full id, or a beginning of the id that ends before its
 * number. A text that ends inside the number does not count, because `…q1` must not mean `…q10`.
 */
export function isMeantBy({ id, task }: Pick<Question, 'id' | 'task'>, typed: string): boolean {
  return id === typed || (typed !== '' && `${task}q`.startsWith(typed));
}

/** Returns the subject of a question: the commands, the paths and hosts, the arguments, or the text of the question. */
export function questionSubject(question: Question): string {
  if (question.kind !== 'permission') return question.text;
  const { commands, paths, hosts, input } = question;
  const subjects = commands.length > 0 ? commands : [...new Set([...paths, ...hosts])];
  return subjects.length > 0 ? subjects.join(' ') : (input ?? '');
}

/** Returns the rules that the answer "always" adds; an empty list if this answer is not offered. */
export function offeredRules(question: Question): readonly string[] {
  if (question.kind !== 'permission' || question.rule === null) return [];
  return question.scopes.length === 0 ? [] : [question.rule, ...(question.moreRules ?? [])];
}

/**
 * Returns true if one answer makes sense for both questions: they are about the same tool, and they offer the same
 * rules, are about the same commands, files or arguments, or run the same programs and subcommands.
 */
export function areSimilar(a: Question, b: Question): boolean {
  if (a.kind !== 'permission' || b.kind !== 'permission' || a.tool !== b.tool) return false;
  if (questionSubject(a) === questionSubject(b)) return true;
  return (
    isSameFilledList(offeredRules(a), offeredRules(b)) || isSameFilledList(a.programs, b.programs)
  );
}

function isSameFilledList(a: readonly string[] = [], b: readonly string[] = []): boolean {
  return a.length > 0 && a.length === b.length && a.every((each, index) => each === b[index]);
}

/**
 * Creates the answer that refuses a question, for a program that has no other answer. A question of AskUser is answered with the
 * reason, because it has no refusal.
 */
export function createRefusal(
  { kind }: Pick<Question, 'kind'>,
  reason: string,
): { readonly text: string; readonly reason?: string } {
  switch (kind) {
    case 'permission':
    case 'plan':
      return { text: 'no', reason };
    case 'input':
      return { text: reason };
    case 'server':
      return { text: 'cancel' };
  }
}
