import type { TaskEvent } from '../events/event.ts';
import { formatFormValues } from '../form.ts';
import type { ModeGrant, PermissionMode, PermissionRule, RuleList } from '../permission.ts';
import { questionSubject, type Answer, type AnsweredBy, type Question } from '../question.ts';

/** The state of a question about a call that has no outcome yet. */
export interface QuestionState {
  /** The question. */
  readonly question: Question;
  /** The digest of everything that the call would do. An answer applies only to a call with this digest. */
  readonly digest: string;
  /** True if the task is parked until the question is answered. */
  readonly parks: boolean;
  /** The time of the question, in milliseconds since the epoch. */
  readonly askedAt: number;
  /** The number of the event `question.asked`. */
  readonly seq: number;
  /** The answer; null while the question is open. */
  answer: {
    /** The answer. */
    readonly answer: Answer;
    /** The source of the answer. */
    readonly by: AnsweredBy;
    /** The number of the event `question.answered`. */
    readonly seq: number;
  } | null;
}

/** A rule that the user has granted to this task and all tasks below it. New grants are in the log of the conversation. */
export interface GrantedRule {
  /** The rule. */
  readonly rule: PermissionRule;
  /** The number of the event `rights.granted`. */
  readonly seq: number;
}

/** An ask or deny rule that the user has set for this task and all tasks below it. */
export interface Restriction {
  /** The list to which the rule belongs. */
  readonly list: 'ask' | 'deny';
  /** The rule. */
  readonly rule: PermissionRule;
}

/** A mode that the user has granted to an agent, for this task and all tasks below it. */
export interface RecordedModeGrant {
  /** The grant. */
  readonly grant: ModeGrant;
  /** The number of the event `mode.granted`. */
  readonly seq: number;
}

/** The questions of a task to people, and their answers. */
export interface InboxState {
  /** The questions of calls without an outcome by call id, and of the work of servers by the id of the work. */
  readonly questions: Map<string, QuestionState>;
  /** Descriptions of the outcomes of earlier questions, by question id. */
  readonly closedQuestions: Map<string, string>;
  /** The number of questions that the task has ever asked, also of those that a rewind has cut off. */
  askedQuestions: number;
  /** The rules that the user has granted with the scope `task`. */
  readonly granted: GrantedRule[];
  /** The ask and deny rules that the user has set. The array is replaced when they change. */
  restrictions: readonly Restriction[];
  /** The number of changes that may forbid a call which was allowed before: new restrictions and removed rules. */
  narrowingCount: number;
  /** The newest grant for each definition. */
  readonly modeGrants: RecordedModeGrant[];
  /** The mode that the task would have without a grant; null: no grant has widened its mode. */
  modeWithoutGrant: PermissionMode | null;
  /** The calls that the user has refused, each described in one line. */
  readonly denials: string[];
  /** The ids of the questions (of the task and all tasks below) because of which the task is parked; empty: it is not. */
  parkedOn: readonly string[];
}

export function emptyInbox(): InboxState {
  return {
    questions: new Map(),
    closedQuestions: new Map(),
    askedQuestions: 0,
    granted: [],
    restrictions: [],
    narrowingCount: 0,
    modeGrants: [],
    modeWithoutGrant: null,
    denials: [],
    parkedOn: [],
  };
}

/** Returns the questions without an answer. */
export function openQuestions({ questions }: InboxState): readonly Question[] {
  return [...questions.values()].flatMap(({ question, answer }) =>
    answer === null ? [question] : [],
  );
}

/** Returns true if the task is parked: it waits for a person's answer, and needs no process meanwhile. */
export function isParked({ questions, parkedOn }: InboxState): boolean {
  if (parkedOn.length > 0) return true;
  for (const { parks, answer } of questions.values()) if (parks && answer === null) return true;
  return false;
}

/** Counts the questions of a task. An event that a rewind has cut off counts, too, so that no number is used again. */
export function countQuestion(inbox: InboxState, event: TaskEvent): void {
  if (event.type === 'question.asked') inbox.askedQuestions += 1;
}

export function applyToInbox(inbox: InboxState, event: TaskEvent): void {
  const { questions } = inbox;
  countQuestion(inbox, event);
  switch (event.type) {
    case 'question.asked': {
      const { question, digest, parks, ts, seq } = event;
      closeQuestion(inbox, question.callId, 'withdrawn: what its call would do has changed');
      const asked = { question, digest, parks, askedAt: ts, seq, answer: null };
      questions.set(question.callId, asked);
      return;
    }
    case 'question.answered':
      applyAnswer(inbox, event);
      return;
    case 'rights.granted':
      if (event.scope === 'task') inbox.granted.push({ rule: event.rule, seq: event.seq });
      return;
    case 'rights.restricted': {
      const { list, rule } = event;
      inbox.restrictions = [
        ...inbox.restrictions.filter((each) => !isSame(each, event)),
        { list, rule },
      ];
      inbox.narrowingCount += 1;
      return;
    }
    case 'rule.removed':
      if (event.scope === 'task') removeRule(inbox, event);
      inbox.narrowingCount += 1;
      return;
    case 'mode.granted':
      inbox.modeWithoutGrant = event.without ?? inbox.modeWithoutGrant;
      if (event.scope === 'task') addModeGrant(inbox, event);
      return;
    case 'call.ended':
    case 'call.refused':
      closeQuestion(inbox, event.callId, 'withdrawn: its call was ended');
      return;
    case 'shell.ended':
      closeQuestion(inbox, event.shell, 'withdrawn: the work of its server has ended');
      return;
    case 'task.ended':
      for (const callId of questions.keys())
        closeQuestion(inbox, callId, 'withdrawn: its task has ended');
      return;
    case 'task.parked':
      inbox.parkedOn = event.questions;
      return;
    case 'task.claimed':
      inbox.parkedOn = [];
      return;
    default:
  }
}

function removeRule(
  inbox: InboxState,
  removed: Extract<TaskEvent, { type: 'rule.removed' }>,
): void {
  if (removed.list !== 'allow') {
    inbox.restrictions = inbox.restrictions.filter((each) => !isSame(each, removed));
    return;
  }
  const kept = inbox.granted.filter(({ rule }) => !isSame({ list: 'allow', rule }, removed));
  inbox.granted.splice(0, inbox.granted.length, ...kept);
}

interface ListedRule {
  readonly list: RuleList;
  readonly rule: PermissionRule;
}

function isSame(a: ListedRule, b: ListedRule): boolean {
  return a.list === b.list && a.rule.tool === b.rule.tool && a.rule.specifier === b.rule.specifier;
}

/** Adds a grant. It replaces an earlier grant for the same definition, even if it is narrower. */
function addModeGrant(
  { modeGrants }: InboxState,
  { grant, seq }: Extract<TaskEvent, { type: 'mode.granted' }>,
): void {
  const before = modeGrants.findIndex(
    (each) =>
      each.grant.agent === grant.agent && each.grant.definition?.path === grant.definition?.path,
  );
  if (before === -1) modeGrants.push({ grant, seq });
  else modeGrants[before] = { grant, seq };
}

function applyAnswer(
  inbox: InboxState,
  { callId, question, answer, by, seq }: Extract<TaskEvent, { type: 'question.answered' }>,
): void {
  const asked = inbox.questions.get(callId);
  // Only the first answer counts.
  if (asked === undefined || asked.question.id !== question || asked.answer !== null) return;
  asked.answer = { answer, by, seq };
  if (answer.kind === 'no' && asked.question.kind !== 'plan')
    inbox.denials.push(formatDenial(asked.question, answer.reason));
}

function formatDenial(question: Question, reason: string | null): string {
  const call = `${question.tool} ${questionSubject(question)}`.replaceAll(/\s+/g, ' ');
  return reason === null ? call : `${call} (${reason.replaceAll(/\s+/g, ' ')})`;
}

/** Moves the question of a call to the closed questions. `unanswered`: the outcome if the question has no answer. */
function closeQuestion(
  { questions, closedQuestions }: InboxState,
  callId: string,
  unanswered: string,
): void {
  const asked = questions.get(callId);
  if (asked === undefined) return;
  questions.delete(callId);
  const { answer, question } = asked;
  closedQuestions.set(
    question.id,
    answer === null ? unanswered : answerText(answer.answer, answer.by),
  );
}

/** Describes an answer for people. */
export function answerText(answer: Answer, by: AnsweredBy): string {
  if (by === 'rule') return 'answered: a rule or mode that was set meanwhile allows it';
  if (by === 'server') return 'withdrawn: the server no longer waits for an answer';
  switch (answer.kind) {
    case 'once':
      return 'answered: yes';
    case 'always':
      return `answered: always (${answer.scope})`;
    case 'edits':
      return 'answered: yes, and edits run without a question from then on';
    case 'mode':
      return `answered: the agent gets its mode (${answer.scope})`;
    case 'no':
      return answer.reason === null ? 'answered: no' : `answered: no (${answer.reason})`;
    case 'text':
      return `answered: ${answer.text}`;
    case 'approved':
      return `answered: approved${answer.plan === null ? '' : ', changed'} (${answer.mode})`;
    case 'filled': {
      const values = formatFormValues(answer.values);
      return values === '' ? 'answered: accepted' : `answered: ${values}`;
    }
    case 'declined':
      return 'answered: declined';
    case 'cancelled':
      return 'answered: cancelled';
    default:
      return answer satisfies never;
  }
}
