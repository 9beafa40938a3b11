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
  NO_AMOUNT,
  paidTokens,
  type Amount,
  type ModelFailure,
  type ResolvedModel,
  type Usage,
  type Work,
} from '../model.ts';
import type { LimitHit } from '../limits.ts';
import type { ClaimFlag } from '../result.ts';

export type { LimitHit };

/**
 * The work of a task from its start, or its last resume, to its end. Its limits count this work. A crash in
 * between and a new owner do not end it.
 */
export interface Activation {
  /** The number of the activation, from 0. It grows with each resume. */
  readonly number: number;
  /** The caller that created or resumed the task: a task id, or `user`; null for a root. */
  readonly by: string | null;
  /** The call that did, unique only among those of one task; null if a person did. */
  readonly callId: string | null;
  /** The number of turns of the task before this activation. */
  readonly turnsBefore: number;
  /** The cost of its own answers and of tasks that have ended below it. */
  spent: Amount;
  /** The work of the task itself and of tasks that have ended below it. */
  work: Work;
  /** The first limit that was reached, after which only the last turn remains; null if none was. */
  limit: LimitHit | null;
  /** True if the last turn has begun: no turn follows it. */
  lastTurn: boolean;
  /** The failure of the newest request; null after another request has begun or another model replaces this one. */
  failure: ModelFailure | null;
  /** The models that failed and were replaced, in order. The first is the one that the activation began with. */
  readonly failedModels: ResolvedModel[];
  /** The number of answers in a row without text or call. */
  emptyAnswers: number;
  /** The number of answers in a row that end with a call written as text. */
  callsAsText: number;
  /** The number of answers in a row of which no call could run, because names or arguments were wrong. */
  faultyCalls: number;
  /** True if a call of the newest answer has run. */
  answerRan: boolean;
  /** True if a call of the newest answer was faulty. */
  answerFaulty: boolean;
  /** The number of answers in a row whose text was cut off by the model's output limit. */
  cutAnswers: number;
  /** The text of these answers. */
  cutText: string;
  /** The texts of its answers that its result may need. */
  texts: AnswerTexts;
  /** The number of questions in a row that the user has answered with no. */
  denials: number;
  /** The milliseconds of work under earlier owners. */
  workedMs: number;
  /** The steady time at which the present owner started its work; null if it has not started yet. */
  workingSince: number | null;
  /** The steady time at which the present owner claimed the task. */
  since: number;
  /** Set if the activation only summarizes the context, and then ends as the task had ended before. */
  readonly compacts: CompactingActivation | null;
  /** True if the summary has arrived, or will not. */
  hasCompacted: boolean;
  /** The number of turns in a row before each of which a part of the context was cleared, summarized or dropped. */
  compactedTurns: number;
  /** True if that happened after the newest turn. */
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

/** The start of an activation: its time, and the caller that causes it. */
export type ActivationStart = Pick<Activation, 'by' | 'callId'> &
  Partial<Pick<Activation, 'compacts'>> & { readonly since: number };

/** Returns the start of the activation of a resumed task. `before` is its state until then. */
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
    spent: NO_AMOUNT,
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

/** Tells whether this call of a task started the activation. */
export function isStartedBy(activation: Activation, caller: string, callId: string): boolean {
  return activation.by === caller && activation.callId === callId;
}

/** Applies an event. `before`: the steady time of the previous event. */
export function applyToActivation(activation: Activation, event: TaskEvent, before: number): void {
  switch (event.type) {
    case 'task.claimed':
      // The time in which the task was queued or had no owner does not count.
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
      // A summary that could not be requested is no failure of the task's own model.
      activation.failure = null;
      return;
    case 'context.cleared':
    case 'context.dropped':
      countCompaction(activation);
      return;
    case 'summary.refused':
    case 'context.summarised':
      if (event.type === 'context.summarised') {
        // A failed attempt to summarize the parent's conversation is no failure of the task's own model.
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
      // Older logs do not contain it.
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

/** Applies a change of the model. `from`: the model before. A model that a person chooses replaces no failed one. */
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

/** Adds the cost of an answer. Estimated usage counts too, because the provider charges for it. */
function spend(activation: Activation, { usage, costUsd, estimated }: AnswerUsage): void {
  activation.spent = addAmounts(activation.spent, charged(usage, costUsd));
  if (estimated === undefined) return;
  activation.spent = addAmounts(activation.spent, charged(estimated.usage, estimated.costUsd));
}

function charged(usage: Usage, costUsd: number | null | undefined): Amount {
  return { tokens: paidTokens(toUsageCounts(usage)), costUsd: toCount(costUsd) };
}

/** Reads an amount from a log. A negative number would raise a budget. */
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
