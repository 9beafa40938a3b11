import { steadyTime } from './steady-time.ts';
import { byteLength } from '../base/text.ts';
import { NO_TEXTS, type AnswerTexts } from './earlier-report.ts';
import type { EndReason } from './end-reason.ts';
import { messageText, toolCalls } from './message.ts';
import type { TaskEvent } from './event.ts';
import type { Used } from './used.ts';
import {
  addAmounts,
  addWork,
  counted,
  countedUsage,
  modelName,
  NO_WORK,
  NOTHING,
  paidTokens,
  type Amount,
  type ModelFailure,
  type OutputShare,
  type ResolvedModel,
  type Usage,
  type Work,
} from './model.ts';
import type { ClaimFlag } from './result.ts';

/** A limit that was hit: for the event, the error and whoever reads them. */
export interface LimitHit {
  /** As the user can set it: `max_turns`, `tree_tokens`, … */
  readonly limit: string;
  readonly value: number;
  readonly used: number;
  /** What the next request could take, where that is what did not fit. */
  readonly needed?: number;
  /** Whether one answer without calls still fits: then `needed` is for another turn and that answer. */
  readonly lastAnswerFits?: true;
  /** Set where the output limit of one answer is most of that. */
  readonly output?: OutputShare;
  /** The model, `provider/id`, for which no price is known, where that keeps a cap on cost from acting. */
  readonly unpriced?: string;
}

/**
 * The work of a task from its start, or its last resume, to its end: what its limits count. A crash
 * in between and a new owner are no end of it.
 */
export interface Stint {
  /** From 0; grows with each resume. */
  readonly number: number;
  /** Whose call made or resumed the task: a task id, or `user`; null for a root. */
  readonly by: string | null;
  /** That call, unique only among those of one task; null where a person did. */
  readonly callId: string | null;
  /** Turns of the task before it. */
  readonly turnsBefore: number;
  /** By its own answers and by what has ended below it. */
  spent: Amount;
  /** By itself and by what has ended below it. */
  work: Work;
  /** The first limit that was reached: only its last turn is left. */
  limit: LimitHit | null;
  /** The turn after the limit was begun: none follows it. */
  lastTurn: boolean;
  /** How its newest request failed; null once another one was begun, or another model stands in. */
  failure: ModelFailure | null;
  /** Models that others stood in for, in turn: first the one that it began with. */
  readonly failedModels: ResolvedModel[];
  /** Answers in a row without text or call. */
  emptyAnswers: number;
  /** Answers in a row that end with a call written as text. */
  callsAsText: number;
  /** Answers in a row of which no call could run, since names or arguments were wrong. */
  faultyCalls: number;
  /** Of the newest answer: a call of it has run; one of it was faulty. */
  answerRan: boolean;
  answerFaulty: boolean;
  /** Answers in a row that the model's output limit cut off in their text, and what they said. */
  cutAnswers: number;
  cutText: string;
  /** Texts of its answers, as far as its result may need them. */
  texts: AnswerTexts;
  /** Questions in a row that the user has answered with no. */
  denials: number;
  /** Milliseconds at work under owners that are gone. */
  workedMs: number;
  /** The steady time at which the present owner set it to work; null: not yet. */
  workingSince: number | null;
  /** The steady time at which the present owner took it. */
  since: number;
  /** It only summarises its context, and ends as it had ended before; null: it works. */
  readonly compacts: CompactingStint | null;
  /** Of that: a summary has come, or none will. */
  hasCompacted: boolean;
  /** Turns in a row before each of which something of its context was cleared, summarised or dropped. */
  compactedTurns: number;
  /** Whether that was so since the newest turn. */
  isCompacted: boolean;
  /** The flags of the answer that ended it. */
  claims: readonly ClaimFlag[];
}

interface CompactingStint {
  readonly keep: string | null;
  readonly end: EndReason;
  readonly result: string;
  readonly claims: readonly ClaimFlag[];
}

/** When it begins, and by whom. */
export type StintBegin = Pick<Stint, 'by' | 'callId'> &
  Partial<Pick<Stint, 'compacts'>> & { readonly since: number };

/** How a task that is resumed begins; `before`: as it was then. */
export function resumedBy(
  event: Extract<TaskEvent, { type: 'task.resumed' }>,
  before: { readonly end: EndReason | null; readonly result: string; readonly stint: Stint },
): StintBegin {
  const { by, callId, compacts } = event;
  const { end, result, stint } = before;
  const begin = { since: steadyTime(event), by, callId };
  if (compacts === undefined || end === null) return begin;
  return { ...begin, compacts: { keep: compacts.keep, end, result, claims: stint.claims } };
}

export function startStint(number: number, at: StintBegin & { readonly turns: number }): Stint {
  return {
    number,
    by: at.by,
    callId: at.callId,
    turnsBefore: at.turns,
    spent: NOTHING,
    work: NO_WORK,
    limit: null,
    lastTurn: false,
    failure: null,
    failedModels: [],
    emptyAnswers: 0,
    callsAsText: 0,
    faultyCalls: 0,
    answerRan: false,
    answerFaulty: false,
    cutAnswers: 0,
    cutText: '',
    texts: NO_TEXTS,
    denials: 0,
    workedMs: 0,
    workingSince: null,
    since: at.since,
    compacts: at.compacts ?? null,
    hasCompacted: false,
    compactedTurns: 0,
    isCompacted: false,
    claims: [],
  };
}

/** Whether this call of a task began it. */
export function isBegunBy(stint: Stint, caller: string, callId: string): boolean {
  return stint.by === caller && stint.callId === callId;
}

/** `before`: the steady time of the event before this one. */
export function applyToStint(stint: Stint, event: TaskEvent, before: number): void {
  switch (event.type) {
    case 'task.claimed':
      // The time in which it queued, or nobody had it, does not count.
      if (stint.workingSince !== null) stint.workedMs += Math.max(0, before - stint.workingSince);
      stint.workingSince = null;
      stint.since = steadyTime(event);
      return;
    case 'task.started':
      stint.workingSince ??= steadyTime(event);
      return;
    case 'task.ended':
      stint.claims = event.claims ?? [];
      return;
    case 'turn.started':
      stint.lastTurn ||= event.toolChoice === 'none';
      stint.failure = null;
      return;
    case 'turn.failed':
      stint.failure = event.failure;
      stint.hasCompacted = true;
      spend(stint, event);
      return;
    case 'turn.retried':
      spend(stint, event);
      return;
    case 'context.handed':
      // That it could not be asked for is no failure of its own model.
      stint.failure = null;
      return;
    case 'context.cleared':
    case 'context.dropped':
      countCompaction(stint);
      return;
    case 'summary.refused':
    case 'context.summarised':
      if (event.type === 'context.summarised') {
        // Of its parent's conversation: that a try failed before is no failure of its own model.
        if (event.nonce === undefined) countCompaction(stint);
        else stint.failure = null;
      }
      stint.hasCompacted = true;
      spend(stint, event);
      return;
    case 'turn.ended': {
      spend(stint, event);
      stint.work = addWork(stint.work, { turns: 1, toolBytes: 0 });
      const { message } = event;
      const isEmpty = toolCalls(message).length === 0 && messageText(message).trim() === '';
      stint.emptyAnswers = isEmpty ? stint.emptyAnswers + 1 : 0;
      if (!stint.isCompacted) stint.compactedTurns = 0;
      stint.isCompacted = false;
      return;
    }
    case 'call.ended':
      stint.work = addWork(stint.work, { turns: 0, toolBytes: byteLength(event.text) });
      return;
    case 'child.ended':
      stint.spent = addAmounts(stint.spent, countedAmount(event.spent));
      // Not in logs from before it was counted.
      stint.work = addWork(stint.work, countedWork(event.work ?? NO_WORK));
      return;
    case 'question.answered':
      if (event.by === 'user' && event.answer.kind !== 'text') {
        stint.denials = event.answer.kind === 'no' ? stint.denials + 1 : 0;
      }
      return;
    case 'limit.reached': {
      const { limit, value, used, needed, lastAnswerFits, output, unpriced } = event;
      stint.limit ??= {
        limit,
        value,
        used,
        ...(needed === undefined ? {} : { needed }),
        ...(output === undefined ? {} : { output }),
        ...(lastAnswerFits === undefined ? {} : { lastAnswerFits }),
        ...(unpriced === undefined ? {} : { unpriced }),
      };
      return;
    }
    default:
  }
}

/** `from`: its model until the terms change. One that a person chooses stands in for none. */
export function changeModel(
  stint: Stint,
  from: ResolvedModel,
  { model, fallback }: Extract<TaskEvent, { type: 'terms.changed' }>,
): void {
  if (modelName(from) === modelName(model)) return;
  stint.failure = null;
  if (fallback === undefined) stint.failedModels.length = 0;
  else stint.failedModels.push(from);
}

/** What is only estimated counts too: it is charged all the same. */
function spend(stint: Stint, { usage, costUsd, estimated }: Used): void {
  stint.spent = addAmounts(stint.spent, charged(usage, costUsd));
  if (estimated === undefined) return;
  stint.spent = addAmounts(stint.spent, charged(estimated.usage, estimated.costUsd));
}

function charged(usage: Usage, costUsd: number | null | undefined): Amount {
  return { tokens: paidTokens(countedUsage(usage)), costUsd: counted(costUsd) };
}

/** Less than nothing would lift a budget. */
function countedAmount({ tokens, costUsd }: Amount): Amount {
  return { tokens: counted(tokens), costUsd: counted(costUsd) };
}

function countedWork({ turns, toolBytes }: Work): Work {
  return { turns: counted(turns), toolBytes: counted(toolBytes) };
}

function countCompaction(stint: Stint): void {
  if (!stint.isCompacted) stint.compactedTurns += 1;
  stint.isCompacted = true;
}
