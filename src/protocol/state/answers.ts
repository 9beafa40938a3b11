import type { TaskEvent } from '../events/event.ts';
import { addToLedger, knownCost, sumLedger, type Ledger } from './ledger.ts';
import { messageText } from '../message.ts';
import { modelName, NO_USAGE, type FinishReason, type Usage } from '../model.ts';
import { readOutputCap, type OutputCap } from '../output-cap.ts';
import type { TaskSpec } from '../task.ts';

/** What the models of a task have answered, and used for it. */
export interface Answers {
  /** A request that was begun and has no outcome: after a crash it is sent again as it was. */
  openTurn: {
    readonly turn: number;
    readonly toolChoice: 'auto' | 'none';
    /** Whether an answer to it has begun. */
    readonly accepted: boolean;
    /** It asks for a summary, to make room for that turn. */
    readonly isSummary: boolean;
    /** The output cap, if a budget has lowered it. */
    readonly outputCap?: OutputCap;
  } | null;
  /**
   * How the newest answer ended, and its text, with that of those before it that were cut off and that
   * it goes on from; null once a request went out after it.
   */
  answer: {
    readonly reason: FinishReason;
    readonly text: string;
    /** The output cap of its request, where a budget lowered it. */
    readonly outputCap?: OutputCap;
  } | null;
  /** Why a person has ended what it was doing; null: nobody has, or a request went out after it. */
  interrupted: string | null;
  /** Answers that ended. */
  turns: number;
  /** The provider's own, of all answers. What is only estimated stands in the ledger alone. */
  usage: Usage;
  /** Of that; null once an answer came for which no price is known. */
  costUsd: number | null;
  ledger: Ledger;
  /** All that answered, the one that did so last at the end. */
  readonly models: string[];
  /** The text of the newest answer that had any. */
  lastText: string;
}

const ASKED = { accepted: false, isSummary: false } as const;

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

/** What else the state says of the task, before the event. */
interface Surroundings {
  readonly spec: Pick<TaskSpec, 'model'>;
  /** Of the cut answers that the newest one goes on from. */
  readonly cutText: string;
}

export function applyToAnswers(
  answers: Answers,
  event: TaskEvent,
  { spec, cutText }: Surroundings,
): void {
  switch (event.type) {
    case 'task.resumed':
      // That was the end of the stint before, and must not be that of this one.
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
      answers.openTurn = {
        turn: event.turn,
        toolChoice: event.toolChoice,
        ...ASKED,
        ...cappedBy(event.outputCap),
      };
      answers.answer = null;
      answers.interrupted = null;
      return;
    case 'summary.started':
      answers.openTurn = {
        turn: event.turn,
        toolChoice: event.toolChoice,
        accepted: false,
        isSummary: true,
        ...cappedBy(event.outputCap),
      };
      answers.interrupted = null;
      return;
    case 'summary.refused':
    case 'context.summarised':
      answers.openTurn = null;
      addUsed(answers, event, spec);
      return;
    case 'context.handed':
      answers.openTurn = null;
      return;
    case 'turn.accepted':
      setAccepted(answers, true);
      return;
    case 'turn.retried':
      setAccepted(answers, false);
      addUsed(answers, event, spec);
      return;
    case 'turn.failed':
      if (event.text !== undefined && answers.openTurn?.isSummary !== true)
        answers.lastText = `${cutText}${event.text}`;
      answers.openTurn = null;
      addUsed(answers, event, spec);
      return;
    case 'turn.ended': {
      const { outputCap } = answers.openTurn ?? {};
      answers.openTurn = null;
      answers.turns = event.turn;
      addModel(answers.models, event.model);
      addUsed(answers, event, spec);
      const text = `${cutText}${messageText(event.message)}`;
      if (text.trim() !== '') answers.lastText = text;
      answers.answer = { reason: event.reason, text, ...cappedBy(outputCap) };
      return;
    }
    default:
  }
}

/** Of an event that a rewind has cut off: what it used was used. */
export function applyUsageOnly(
  answers: Answers,
  event: TaskEvent,
  spec: Pick<TaskSpec, 'model'>,
): void {
  switch (event.type) {
    case 'turn.retried':
    case 'turn.failed':
    case 'turn.ended':
    case 'summary.refused':
    case 'context.summarised':
      addUsed(answers, event, spec);
      return;
    default:
  }
}

/** A log that was brought here may say anything. */
function cappedBy(logged: OutputCap | undefined): { readonly outputCap?: OutputCap } {
  const outputCap = readOutputCap(logged);
  return outputCap === undefined ? {} : { outputCap };
}

function setAccepted(answers: Answers, accepted: boolean): void {
  if (answers.openTurn !== null) answers.openTurn = { ...answers.openTurn, accepted };
}

function addModel(models: string[], name: string): void {
  const at = models.indexOf(name);
  if (at !== -1) models.splice(at, 1);
  models.push(name);
}

function addUsed(answers: Answers, event: TaskEvent, { model }: Pick<TaskSpec, 'model'>): void {
  answers.ledger = addToLedger(answers.ledger, event, modelName(model));
  const reported = sumLedger(answers.ledger, { isEstimated: false });
  answers.usage = reported.usage;
  answers.costUsd = knownCost(reported);
}
