import type { JsonObject } from '../base/json.ts';
import type { AgentProblem, AgentScope } from './agent.ts';

/** A prompt with a placeholder for an item. One task is created for each item. */
export interface TemplateDefinition {
  /** Unique after shadowing. Compared without case. */
  readonly name: string;
  readonly description: string;
  /** The name of the agent that works on an item. Default: the default agent. */
  readonly agent?: string;
  /** The model, as a Task call would name it. Default: the model of the agent's definition. */
  readonly model?: string;
  readonly maxTurns?: number;
  /** The prompt. Its only placeholders are `{{item}}`, `{{item.FIELD}}`, `{{index}}` and `{{count}}`. */
  readonly body: string;
  readonly scope: AgentScope;
  /** Absolute, or `builtin:` and a name. */
  readonly path: string;
  readonly problems: readonly AgentProblem[];
}

/** The subject of one task: a text, or an object whose fields the template names. */
export type TemplateItem = string | JsonObject;

/** The origin of items. */
export type ItemSource =
  /** Absolute. */
  | { readonly kind: 'file'; readonly path: string }
  /** Matched in the directory of the run. */
  | { readonly kind: 'glob'; readonly pattern: string }
  | { readonly kind: 'stdin' };

/**
 * A template with its items, as it was when the run began, so that the remaining work does not depend on its file.
 */
export interface FanOut extends Pick<
  TemplateDefinition,
  'path' | 'body' | 'agent' | 'model' | 'maxTurns'
> {
  readonly template: string;
  readonly items: readonly TemplateItem[];
  readonly source: ItemSource;
  /** SHA-256 of each item as it was given, because secrets are redacted in logs. */
  readonly digests: readonly string[];
}

const ITEM_CALL = /^item-(\d{1,9})(?:-\w+)?$/;

/**
 * Returns the id that stands for the call of the task of an item, from 0; `again` distinguishes a later one.
 */
export function itemCallId(index: number, again?: string): string {
  return again === undefined ? `item-${index}` : `item-${index}-${again}`;
}

/** Returns the item that such a call is for; null for another call. */
export function itemOfCall(callId: string): number | null {
  const number = ITEM_CALL.exec(callId)?.[1];
  return number === undefined ? null : Number(number);
}
