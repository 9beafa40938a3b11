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
 * The activation of a task: its work from the start, or the last resume, to the end. The limits of the task count the work
 * of one activation. An activation continues after a crash and under a new owner.
 */
export interface Activation {
  /** The number of the activation, from 0. It grows with each resume. */
  readonly number: number;
  /** The id of the task that created or resumed this task, or `user`; null for a root task that was created. */
  readonly by: string | null;
  /** The id of the call that created or resumed the task, unique only within the calling task; null: a person did. */
  readonly callId: string | null;
  /** The number of turns of the task before this activation. */
  readonly turnsBefore: number;
  /** The paid tokens and cost of the task's answers, and of the tasks below that have ended. */
  spent: Amount;
  /** The work of the task, and of the tasks below that have ended. */
  work: Work;
  /** The first limit that was reached, after which only one last turn follows; null: no limit was reached. */
  limit: LimitHit | null;
  /** True if the last turn has begun, after which no turn follows. */
  hasLastTurnBegun: boolean;
  /** The failure of the newest request; null: it has not failed, or another model has replaced the failed model. */
  failure: ModelFailure | null;
  /** The models that failed and were replaced, in order. The first is the model with which the activation began. */
  readonly failedModels: ResolvedModel[];
  /** The number of answers in a row without a text and without a call. */
  emptyAnswers: number;
  /** The number of answers in a row that end with a call written as text. */
  callsAsText: number;
  /** The number of answers in a row whose calls could all not run, because names or arguments were wrong. */
  faultyCalls: number;
  /** True if a call of the newest answer has run. */
  hasRunCall: boolean;
  /** True if a call of the newest answer was faulty. */
  hasFaultyCall: boolean;
  /** The number of answers in a row whose text was cut off by the output limit of the model. */
  cutAnswers: number;
  /** The joined texts of these answers. */
  cutText: string;
  /** The texts of answers that may become part of the result. */
  texts: AnswerTexts;
  /** The number of questions in a row that the user has answered with no. */
  denials: number;
  /** The milliseconds for which earlier owners have worked. */
  workedMs: number;
  /** The steady time at which the present owner started to work; null: it has not started. */
  workingSince: number | null;
  /** The steady time at which the present owner claimed the task. */
  since: number;
  /** Set if the activation only summarizes the context, and then ends as the task had ended before. */
  readonly compacts: CompactingActivation | null;
  /** True if the summary has arrived, or will not arrive because its request failed. */
  hasCompacted: boolean;
  /** The number of turns in a row before each of which the context was compacted (cleared, summarized or dropped). */
  compactedTurns: number;
  /** True if the context was compacted after the newest turn. */
  isCompacted: boolean;
  /** The flags of the answer that ended the activation. */
  claims: readonly ClaimFlag[];
}

/** An activation that only summarizes the context, and the end of the task that it restores. */
export interface CompactingActivation {
  /** The content that the summary must contain, in the words of a person; null: the person named none. */
  readonly keep: string | null;
  /** The reason why the task had ended. */
  readonly end: EndReason;
  /** The answer with which the task had ended. */
  readonly result: string;
  /** The flags of the answer. */
  readonly claims: readonly ClaimFlag[];
}

/** The start of an activation: its steady time, and the caller that created or resumed the task. */
export type ActivationStart = Pick<Activation, 'by' | 'callId'> &
  Partial<Pick<Activation, 'compacts'>> & { readonly since: number };

/** Creates the start of the activation of a resumed task. `before`: the state of the task before it was resumed. */
export function createResumedStart(
  event: Extract<TaskEvent, { type: 'task.resumed' }>,
  before: {
    readonly end: EndReason | null;
    readonly result: string;
    readonly activation: Activation;
  },
): ActivationStart {
  const { by, callId, compacts } = event;
  const { end, result, activation } = before;
  const start = { since: steadyTime(event), by, callId };
  if (compacts === undefined || end === null) return start;
  return { ...start, compacts: { keep: compacts.keep, end, result, claims: activation.claims } };
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
    hasLastTurnBegun: false,
    failure: null,
    failedModels: [],
    emptyAnswers: 0,
    callsAsText: 0,
    faultyCalls: 0,
    hasRunCall: false,
    hasFaultyCall: false,
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

/** Returns true if this call of the task `caller` started the activation. */
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
      activation.hasLastTurnBegun ||= event.toolChoice === 'none';
      activation.failure = null;
      return;
    case 'turn.failed':
      activation.failure = event.failure;
      activation.hasCompacted = true;
      addCost(activation, event);
      return;
    case 'turn.retried':
    case 'request.ended':
      addCost(activation, event);
      return;
    case 'context.handed':
      // The failure of the request for the summary is not a failure of the model of the task.
      activation.failure = null;
      return;
    case 'context.cleared':
    case 'context.dropped':
      countCompaction(activation);
      return;
    case 'summary.refused':
    case 'context.summarised':
      if (event.type === 'context.summarised') {
        // An earlier failure to summarize the parent's conversation is not a failure of the model of the task.
        if (event.nonce === undefined) countCompaction(activation);
        else activation.failure = null;
      }
      activation.hasCompacted = true;
      addCost(activation, event);
      return;
    case 'turn.ended': {
      addCost(activation, event);
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
      activation.spent = addAmounts(activation.spent, readAmount(event.spent));
      // Older logs do not contain the work.
      activation.work = addWork(activation.work, readWork(event.work ?? NO_WORK));
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

/** Applies a change of the model. `from`: the previous model. A model that a person chooses is not a fallback. */
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

/** Adds the usage of an answer. Estimated usage is included, because the provider charges for it. */
function addCost(activation: Activation, { usage, costUsd, estimated }: AnswerUsage): void {
  activation.spent = addAmounts(activation.spent, toAmount(usage, costUsd));
  if (estimated === undefined) return;
  activation.spent = addAmounts(activation.spent, toAmount(estimated.usage, estimated.costUsd));
}

function toAmount(usage: Usage, costUsd: number | null | undefined): Amount {
  return { tokens: paidTokens(toUsageCounts(usage)), costUsd: toCount(costUsd) };
}

/** Reads an amount from a log. Invalid numbers count as 0, because a negative number would raise a budget. */
function readAmount({ tokens, costUsd }: Amount): Amount {
  return { tokens: toCount(tokens), costUsd: toCount(costUsd) };
}

function readWork({ turns, toolBytes }: Work): Work {
  return { turns: toCount(turns), toolBytes: toCount(toolBytes) };
}

function countCompaction(activation: Activation): void {
  if (!activation.isCompacted) activation.compactedTurns += 1;
  activation.isCompacted = true;
}
