import type { JsonObject } from '../base/json.ts';
import type { AgentProblem, AgentScope } from './agent.ts';

/** A prompt with a placeholder for an item. One task is created for each item. */
export interface TemplateDefinition {
  /** Unique after shadowing. Compared without case. */
  readonly name: string;
  readonly description: string;
  /** The agent that works on an item, by name; absent: the default one. */
  readonly agent?: string;
  /** As a Task call would name it; absent: as the agent's definition says. */
  readonly model?: string;
  readonly maxTurns?: number;
  /** With `{{item}}`, `{{item.FIELD}}`, `{{index}}` and `{{count}}` in it; known to hold no other. */
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

/** A template with its items, as it was when the run began. The remaining work needs no file of it. */
export interface FanOut {
  readonly template: string;
  /** Of the file that it came from. */
  readonly path: string;
  readonly body: string;
  readonly agent?: string;
  readonly model?: string;
  readonly maxTurns?: number;
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
