import type { TaskEvent } from '../events/event.ts';
import { addToLedger, knownCost, sumLedger, type Ledger } from './ledger.ts';
import { messageText } from '../message.ts';
import { modelName, NO_USAGE, type FinishReason, type Usage } from '../model.ts';
import { readOutputCap, type OutputCap } from '../output-cap.ts';
import type { TaskSpec } from '../task.ts';

/** The answers of the models of a task, and their usage. */
export interface AnswersState {
  /** The request that was begun and has no outcome yet; null: there is none. After a crash it is sent again unchanged. */
  openTurn: {
    /** The number of the turn, from 1. */
    readonly turn: number;
    readonly toolChoice: 'auto' | 'none';
    /** True if the answer to the request has begun. */
    readonly accepted: boolean;
    /** True if the request is for a summary, which makes room for the turn. */
    readonly isSummary: boolean;
    /** The output cap of the request. Absent if no budget required one. */
    readonly outputCap?: OutputCap;
  } | null;
  /** The newest answer; null: there is none, or another request was begun after it. */
  answer: {
    /** The reason why the answer ended. */
    readonly reason: FinishReason;
    /** The text of the answer, after the texts of the cut answers that it continues. */
    readonly text: string;
    /** The output cap of its request. Absent if no budget required one. */
    readonly outputCap?: OutputCap;
  } | null;
  /** The reason of the interruption by a person; null: there was none, or another request was begun after it. */
  interrupted: string | null;
  /** The number of complete answers. */
  turns: number;
  /** The usage of all answers that the provider reported. Estimated usage is only in the ledger. */
  usage: Usage;
  /** The cost of `usage` in USD; null: the price of an answer is not known. */
  costUsd: number | null;
  /** The usage by day and model, with estimated usage. */
  ledger: Ledger;
  /** All models that answered, as `provider/id`. The model of the newest answer is the last. */
  readonly models: string[];
  /** The text of the newest answer that contains text. */
  lastText: string;
}

export function initialAnswers(): AnswersState {
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

/** Other parts of the state of the task, before the event is applied. */
interface OtherState {
  readonly spec: Pick<TaskSpec, 'model'>;
  /** The text of the cut answers that the newest answer continues. */
  readonly cutText: string;
}

export function applyToAnswers(
  answers: AnswersState,
  event: TaskEvent,
  { spec, cutText }: OtherState,
): void {
  applyUsage(answers, event, spec);
  switch (event.type) {
    case 'task.resumed':
      // The refused answer ended the previous activation, and must not end the new activation.
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
      const cap = toOutputCapField(event.outputCap);
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
      moveModelToEnd(answers.models, event.model);
      const text = `${cutText}${messageText(event.message)}`;
      if (text.trim() !== '') answers.lastText = text;
      answers.answer = { reason: event.reason, text, ...toOutputCapField(outputCap) };
      return;
    }
    default:
  }
}

/** Adds only the usage of an event. It also counts if a rewind has cut the event off, because it was paid for. */
export function applyUsage(
  answers: AnswersState,
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

/** Reads an output cap from a log, which may contain any value. Returns no field if there is no valid cap. */
function toOutputCapField(logged: OutputCap | undefined): { readonly outputCap?: OutputCap } {
  const outputCap = readOutputCap(logged);
  return outputCap === undefined ? {} : { outputCap };
}

function moveModelToEnd(models: string[], name: string): void {
  const at = models.indexOf(name);
  if (at !== -1) models.splice(at, 1);
  models.push(name);
}
