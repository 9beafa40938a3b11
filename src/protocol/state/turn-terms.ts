import type { TaskEvent } from '../events/event.ts';
import type { TaskInput } from '../input.ts';
import { modelName, type ResolvedModel } from '../model.ts';
import type { GrantedRule } from './questions.ts';

/** The terms that a slash command of a person sets until the person's next message. */
export interface TurnTerms {
  /** The rules of each message of the person that no request contains yet, by its id. */
  readonly messageRules: Map<string, readonly GrantedRule[]>;
  /** The rules of the newest message that a request contains. They allow calls of this task and of all tasks below it. */
  turnRules: readonly GrantedRule[];
  /** The model that the conversation has again with the next message; null: it has its own model. */
  modelAfterCommand: ResolvedModel | null;
  /** The id of the newest message whose slash command has changed the model, or could not because a hook refused; null: none. */
  modelMessage: string | null;
}

export function emptyTurnTerms(): TurnTerms {
  return { messageRules: new Map(), turnRules: [], modelAfterCommand: null, modelMessage: null };
}

/** Remembers the rules of a message of a person. `seq`: the number of the event with the message. */
export function noteMessageRules(
  { messageRules }: TurnTerms,
  { id, kind, from, enclosed = [] }: TaskInput,
  seq: number,
): void {
  if (from !== 'user' || (kind !== 'prompt' && kind !== 'message')) return;
  const rules = enclosed.flatMap(({ allow = [] }) => allow);
  messageRules.set(
    id,
    rules.map((rule) => ({ rule, seq })),
  );
}

/** Applies an event. With each message of the person, the rules of the message before it end. */
export function applyToTurnRules(terms: TurnTerms, event: TaskEvent): void {
  switch (event.type) {
    case 'input.queued':
      noteMessageRules(terms, event.input, event.seq);
      return;
    case 'input.withdrawn':
      for (const id of event.ids) terms.messageRules.delete(id);
      return;
    case 'turn.started': {
      const taken = event.inputs.filter((id) => terms.messageRules.has(id));
      const newest = taken.at(-1);
      if (newest !== undefined) terms.turnRules = terms.messageRules.get(newest) ?? [];
      for (const id of taken) terms.messageRules.delete(id);
      return;
    }
    case 'task.ended':
      terms.turnRules = [];
      return;
    default:
  }
}

/** Returns the model that the conversation has again with the next message, after a change of its terms. */
export function findModelAfterCommand(
  { modelAfterCommand }: Pick<TurnTerms, 'modelAfterCommand'>,
  { model, fallback, forMessage }: Extract<TaskEvent, { type: 'terms.changed' }>,
  before: { readonly model: ResolvedModel; readonly failedModels: readonly ResolvedModel[] },
): ResolvedModel | null {
  if (modelName(model) === modelName(before.model) || fallback !== undefined)
    return modelAfterCommand;
  if (forMessage === undefined) return null;
  return modelAfterCommand ?? before.failedModels[0] ?? before.model;
}
