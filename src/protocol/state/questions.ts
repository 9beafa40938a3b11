import type { TaskEvent } from '../events/event.ts';
import type { ModeGrant, PermissionMode, PermissionRule } from '../permission.ts';
import { questionSubject, type Answer, type AnsweredBy, type Question } from '../question.ts';

/** The question of a call that has no outcome yet. */
export interface QuestionState {
  readonly question: Question;
  /** The digest of everything that the call would do. An answer holds for this only. */
  readonly digest: string;
  /** True if the task is parked until the question is answered. */
  readonly parks: boolean;
  readonly askedAt: number;
  /** The number of the event that asks it. */
  readonly seq: number;
  /** The answer; null while the question is open. */
  answer: {
    readonly answer: Answer;
    readonly by: AnsweredBy;
    /** The number of the event. */
    readonly seq: number;
  } | null;
}

/** A rule that the user gave this task and all below it. */
export interface GrantedRule {
  readonly rule: PermissionRule;
  /** The number of the event. */
  readonly seq: number;
}

/** A mode that the user gave an agent, for this task and all below it. */
interface RecordedModeGrant {
  readonly grant: ModeGrant;
  /** The number of the event. */
  readonly seq: number;
}

/** The questions of a task to people, and their answers. */
export interface InboxState {
  /** The questions of calls without an outcome, by call id. */
  readonly questions: Map<string, QuestionState>;
  /** The outcomes of earlier questions, by question id. */
  readonly settledQuestions: Map<string, string>;
  readonly granted: GrantedRule[];
  /** The newest grant for each definition. */
  readonly modeGrants: RecordedModeGrant[];
  /** The mode that the task would have without the grant that widened it; null if no grant did. */
  modeWithoutGrant: PermissionMode | null;
  /** The calls that the user refused, one line each. */
  readonly denials: string[];
  /** Ids of the questions of the task and all tasks below it because of which its process left it. */
  parkedOn: readonly string[];
}

export function emptyInbox(): InboxState {
  return {
    questions: new Map(),
    settledQuestions: new Map(),
    granted: [],
    modeGrants: [],
    modeWithoutGrant: null,
    denials: [],
    parkedOn: [],
  };
}

export function openQuestions({ questions }: InboxState): readonly Question[] {
  return [...questions.values()].flatMap(({ question, answer }) =>
    answer === null ? [question] : [],
  );
}

/** Tells whether the task waits for an answer without needing its process. */
export function isParked({ questions, parkedOn }: InboxState): boolean {
  if (parkedOn.length > 0) return true;
  for (const { parks, answer } of questions.values()) if (parks && answer === null) return true;
  return false;
}

export function applyToInbox(inbox: InboxState, event: TaskEvent): void {
  const { questions } = inbox;
  switch (event.type) {
    case 'question.asked': {
      const { question, digest, parks, ts, seq } = event;
      settle(inbox, question.callId, 'withdrawn: what its call would do has changed');
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
    case 'mode.granted':
      inbox.modeWithoutGrant = event.without ?? inbox.modeWithoutGrant;
      if (event.scope === 'task') addModeGrant(inbox, event);
      return;
    case 'call.ended':
    case 'call.refused':
      settle(inbox, event.callId, 'withdrawn: its call was ended');
      return;
    case 'task.ended':
      for (const callId of questions.keys()) settle(inbox, callId, 'withdrawn: its task has ended');
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

/** Adds a grant. It replaces an earlier grant for the same definition, and may be narrower. */
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
  // The first answer counts.
  if (asked === undefined || asked.question.id !== question || asked.answer !== null) return;
  asked.answer = { answer, by, seq };
  if (answer.kind === 'no' && asked.question.kind !== 'plan')
    inbox.denials.push(denialLine(asked.question, answer.reason));
}

function denialLine(question: Question, reason: string | null): string {
  const what = `${question.tool} ${questionSubject(question)}`.replaceAll(/\s+/g, ' ');
  return reason === null ? what : `${what} (${reason.replaceAll(/\s+/g, ' ')})`;
}

function settle(
  { questions, settledQuestions }: InboxState,
  callId: string,
  unanswered: string,
): void {
  const asked = questions.get(callId);
  if (asked === undefined) return;
  questions.delete(callId);
  const { answer, question } = asked;
  settledQuestions.set(
    question.id,
    answer === null ? unanswered : answerText(answer.answer, answer.by),
  );
}

/** Describes an answer for people. */
export function answerText(answer: Answer, by: AnsweredBy): string {
  if (by === 'rule') return 'answered: a rule or mode that was set meanwhile allows it';
  switch (answer.kind) {
    case 'once':
      return 'answered: yes';
    case 'always':
      return `answered: always (${answer.scope})`;
    case 'mode':
      return `answered: the agent gets its mode (${answer.scope})`;
    case 'no':
      return answer.reason === null ? 'answered: no' : `answered: no (${answer.reason})`;
    case 'text':
      return `answered: ${answer.text}`;
    case 'approved':
      return `answered: approved${answer.plan === null ? '' : ', changed'} (${answer.mode})`;
    default:
      return answer satisfies never;
  }
}
