import type { JsonObject } from '../base/json.ts';
import type { AgentProblem, AgentScope } from './agent.ts';

/** A prompt with a place for an item: one task is made of it for each. */
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

/** What one task is about: a text, or an object whose fields the template names. */
export type TemplateItem = string | JsonObject;

/** Where items came from. */
export type ItemSource =
  /** Absolute. */
  | { readonly kind: 'file'; readonly path: string }
  /** Matched in the directory of the run. */
  | { readonly kind: 'glob'; readonly pattern: string }
  | { readonly kind: 'stdin' };

/** A template over items, as it was when the run began: what is left to do needs no file of it. */
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
  /** sha256 of each item as it was given: in logs secrets are redacted. */
  readonly digests: readonly string[];
}

const ITEM_CALL = /^item-(\d{1,9})(?:-\w+)?$/;

/** What stands for the call of the task of an item, from 0; `again` tells a later one apart. */
export function itemCallId(index: number, again?: string): string {
  return again === undefined ? `item-${index}` : `item-${index}-${again}`;
}

/** The item that such a call is for; null: it is no such call. */
export function itemOfCall(callId: string): number | null {
  const number = ITEM_CALL.exec(callId)?.[1];
  return number === undefined ? null : Number(number);
}
