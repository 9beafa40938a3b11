import type { TaskEvent } from '../events/event.ts';
import { addToLedger, knownCost, sumLedger, type Ledger } from './ledger.ts';
import { messageText } from '../message.ts';
import { modelName, NO_USAGE, type FinishReason, type Usage } from '../model.ts';
import { readOutputCap, type OutputCap } from '../output-cap.ts';
import type { TaskSpec } from '../task.ts';

/** The answers of a task's models, and their usage. */
export interface Answers {
  /** A request that was begun and has no outcome yet. After a crash it is sent again unchanged. */
  openTurn: {
    readonly turn: number;
    readonly toolChoice: 'auto' | 'none';
    /** True if an answer to it has begun. */
    readonly accepted: boolean;
    /** True if it requests a summary, to make room for that turn. */
    readonly isSummary: boolean;
    /** The output cap, if a budget has lowered it. */
    readonly outputCap?: OutputCap;
  } | null;
  /** The newest answer; null after another request was begun. */
  answer: {
    readonly reason: FinishReason;
    /** Its text, together with that of the cut answers before it that it continues. */
    readonly text: string;
    /** The output cap of its request, if a budget has lowered it. */
    readonly outputCap?: OutputCap;
  } | null;
  /** The reason why a person has interrupted the task; null if nobody has, or after another request was begun. */
  interrupted: string | null;
  /** The number of complete answers. */
  turns: number;
  /** The usage of all answers as the provider reported it. Estimates are only in the ledger. */
  usage: Usage;
  /** The cost of that usage; null if the price of an answer is not known. */
  costUsd: number | null;
  ledger: Ledger;
  /** All models that answered, the last one at the end. */
  readonly models: string[];
  /** The text of the newest answer that had any. */
  lastText: string;
}

export function initialAnswers(): Answers {
  return {
    openTurn: null,
    answer: null,
    interrupted: null,
    turns: 0,
    usage: NO_USAGE,
    costUsd: 0,
    ledger: [],
    models: [],
    lastText: '',
  };
}

/** Other parts of the task's state before the event. */
interface Surroundings {
  readonly spec: Pick<TaskSpec, 'model'>;
  /** The text of the cut answers that the newest one continues. */
  readonly cutText: string;
}

export function applyToAnswers(
  answers: Answers,
  event: TaskEvent,
  { spec, cutText }: Surroundings,
): void {
  applyUsage(answers, event, spec);
  switch (event.type) {
    case 'task.resumed':
      // The refusal ended the previous activation, and must not end this one.
      if (answers.answer?.reason === 'content_filter') answers.answer = null;
      answers.interrupted = null;
      return;
    case 'turn.interrupted':
      answers.interrupted = event.because;
      return;
    case 'task.reused':
      answers.lastText = event.text;
      answers.answer = { reason: 'stop', text: event.text };
      return;
    case 'turn.started':
    case 'summary.started': {
      const { turn, toolChoice } = event;
      const isSummary = event.type === 'summary.started';
      const cap = cappedBy(event.outputCap);
      answers.openTurn = { turn, toolChoice, accepted: false, isSummary, ...cap };
      if (!isSummary) answers.answer = null;
      answers.interrupted = null;
      return;
    }
    case 'summary.refused':
    case 'context.summarised':
    case 'context.handed':
      answers.openTurn = null;
      return;
    case 'turn.accepted':
    case 'turn.retried':
      if (answers.openTurn !== null)
        answers.openTurn = { ...answers.openTurn, accepted: event.type === 'turn.accepted' };
      return;
    case 'turn.failed':
      if (event.text !== undefined && answers.openTurn?.isSummary !== true)
        answers.lastText = `${cutText}${event.text}`;
      answers.openTurn = null;
      return;
    case 'turn.ended': {
      const { outputCap } = answers.openTurn ?? {};
      answers.openTurn = null;
      answers.turns = event.turn;
      addModel(answers.models, event.model);
      const text = `${cutText}${messageText(event.message)}`;
      if (text.trim() !== '') answers.lastText = text;
      answers.answer = { reason: event.reason, text, ...cappedBy(outputCap) };
      return;
    }
    default:
  }
}

/** Adds the usage of an event, and nothing else. An event that a rewind has cut off was still paid for. */
export function applyUsage(
  answers: Answers,
  event: TaskEvent,
  { model }: Pick<TaskSpec, 'model'>,
): void {
  const ledger = addToLedger(answers.ledger, event, modelName(model));
  if (ledger === answers.ledger) return;
  const reported = sumLedger(ledger, { isEstimated: false });
  answers.ledger = ledger;
  answers.usage = reported.usage;
  answers.costUsd = knownCost(reported);
}

/** Reads a cap from a log, which may contain anything. */
function cappedBy(logged: OutputCap | undefined): { readonly outputCap?: OutputCap } {
  const outputCap = readOutputCap(logged);
  return outputCap === undefined ? {} : { outputCap };
}

function addModel(models: string[], name: string): void {
  const at = models.indexOf(name);
  if (at !== -1) models.splice(at, 1);
  models.push(name);
}
