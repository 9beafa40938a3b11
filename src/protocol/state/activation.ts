import { steadyTime } from './steady-time.ts';
import { byteLength } from '../../base/text.ts';
import { NO_ANSWER_TEXTS, type AnswerTexts } from './earlier-report.ts';
import type { EndReason } from '../end-reason.ts';
import { messageText, toolCalls } from '../message.ts';
import type { TaskEvent } from '../events/event.ts';
import type { AnswerUsage } from '../used.ts';
import {
  addAmounts,
  addWork,
  toCount,
  toUsageCounts,
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
} from '../model.ts';
import type { ClaimFlag } from '../result.ts';

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
 * The work of a task from its start, or its last resume, to its end. Its limits count this work. A crash in
 * between and a new owner do not end it.
 */
export interface Activation {
  /** From 0; grows with each resume. */
  readonly number: number;
  /** The caller that created or resumed the task: a task id, or `user`; null for a root. */
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
  readonly compacts: CompactingActivation | null;
  /** Of that: a summary has come, or none will. */
  hasCompacted: boolean;
  /** Turns in a row before each of which something of its context was cleared, summarised or dropped. */
  compactedTurns: number;
  /** Whether that was so since the newest turn. */
  isCompacted: boolean;
  /** The flags of the answer that ended it. */
  claims: readonly ClaimFlag[];
}

interface CompactingActivation {
  readonly keep: string | null;
  readonly end: EndReason;
  readonly result: string;
  readonly claims: readonly ClaimFlag[];
}

/** When it begins, and by whom. */
export type ActivationStart = Pick<Activation, 'by' | 'callId'> &
  Partial<Pick<Activation, 'compacts'>> & { readonly since: number };

/** How a task that is resumed begins; `before`: as it was then. */
export function resumedActivationStart(
  event: Extract<TaskEvent, { type: 'task.resumed' }>,
  before: {
    readonly end: EndReason | null;
    readonly result: string;
    readonly activation: Activation;
  },
): ActivationStart {
  const { by, callId, compacts } = event;
  const { end, result, activation } = before;
  const begin = { since: steadyTime(event), by, callId };
  if (compacts === undefined || end === null) return begin;
  return { ...begin, compacts: { keep: compacts.keep, end, result, claims: activation.claims } };
}

export function startActivation(
  number: number,
  at: ActivationStart & { readonly turns: number },
): Activation {
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
    texts: NO_ANSWER_TEXTS,
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
export function isStartedBy(activation: Activation, caller: string, callId: string): boolean {
  return activation.by === caller && activation.callId === callId;
}

/** `before`: the steady time of the event before this one. */
export function applyToActivation(activation: Activation, event: TaskEvent, before: number): void {
  switch (event.type) {
    case 'task.claimed':
      // The time in which it queued, or nobody had it, does not count.
      if (activation.workingSince !== null)
        activation.workedMs += Math.max(0, before - activation.workingSince);
      activation.workingSince = null;
      activation.since = steadyTime(event);
      return;
    case 'task.started':
      activation.workingSince ??= steadyTime(event);
      return;
    case 'task.ended':
      activation.claims = event.claims ?? [];
      return;
    case 'turn.started':
      activation.lastTurn ||= event.toolChoice === 'none';
      activation.failure = null;
      return;
    case 'turn.failed':
      activation.failure = event.failure;
      activation.hasCompacted = true;
      spend(activation, event);
      return;
    case 'turn.retried':
      spend(activation, event);
      return;
    case 'context.handed':
      // That it could not be asked for is no failure of its own model.
      activation.failure = null;
      return;
    case 'context.cleared':
    case 'context.dropped':
      countCompaction(activation);
      return;
    case 'summary.refused':
    case 'context.summarised':
      if (event.type === 'context.summarised') {
        // Of its parent's conversation: that a try failed before is no failure of its own model.
        if (event.nonce === undefined) countCompaction(activation);
        else activation.failure = null;
      }
      activation.hasCompacted = true;
      spend(activation, event);
      return;
    case 'turn.ended': {
      spend(activation, event);
      activation.work = addWork(activation.work, { turns: 1, toolBytes: 0 });
      const { message } = event;
      const isEmpty = toolCalls(message).length === 0 && messageText(message).trim() === '';
      activation.emptyAnswers = isEmpty ? activation.emptyAnswers + 1 : 0;
      if (!activation.isCompacted) activation.compactedTurns = 0;
      activation.isCompacted = false;
      return;
    }
    case 'call.ended':
      activation.work = addWork(activation.work, { turns: 0, toolBytes: byteLength(event.text) });
      return;
    case 'child.ended':
      activation.spent = addAmounts(activation.spent, countedAmount(event.spent));
      // Not in logs from before it was counted.
      activation.work = addWork(activation.work, countedWork(event.work ?? NO_WORK));
      return;
    case 'question.answered':
      if (event.by === 'user' && event.answer.kind !== 'text') {
        activation.denials = event.answer.kind === 'no' ? activation.denials + 1 : 0;
      }
      return;
    case 'limit.reached': {
      const { limit, value, used, needed, lastAnswerFits, output, unpriced } = event;
      activation.limit ??= {
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
export function applyModelChange(
  activation: Activation,
  from: ResolvedModel,
  { model, fallback }: Extract<TaskEvent, { type: 'terms.changed' }>,
): void {
  if (modelName(from) === modelName(model)) return;
  activation.failure = null;
  if (fallback === undefined) activation.failedModels.length = 0;
  else activation.failedModels.push(from);
}

/** What is only estimated counts too: it is charged all the same. */
function spend(activation: Activation, { usage, costUsd, estimated }: AnswerUsage): void {
  activation.spent = addAmounts(activation.spent, charged(usage, costUsd));
  if (estimated === undefined) return;
  activation.spent = addAmounts(activation.spent, charged(estimated.usage, estimated.costUsd));
}

function charged(usage: Usage, costUsd: number | null | undefined): Amount {
  return { tokens: paidTokens(toUsageCounts(usage)), costUsd: toCount(costUsd) };
}

/** Less than nothing would lift a budget. */
function countedAmount({ tokens, costUsd }: Amount): Amount {
  return { tokens: toCount(tokens), costUsd: toCount(costUsd) };
}

function countedWork({ turns, toolBytes }: Work): Work {
  return { turns: toCount(turns), toolBytes: toCount(toolBytes) };
}

function countCompaction(activation: Activation): void {
  if (!activation.isCompacted) activation.compactedTurns += 1;
  activation.isCompacted = true;
}
