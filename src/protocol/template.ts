import type { AcceptanceCriteria } from './acceptance.ts';
import type { JsonObject } from '../base/json.ts';
import type { AgentProblem, AgentScope } from './agent.ts';
import type { Isolation } from './workspace.ts';

/** A prompt with a placeholder for an item. One task is created for each item. */
export interface TemplateDefinition {
  /** The name. It is unique among the templates in use, and compared without case. */
  readonly name: string;
  readonly description: string;
  /** The name of the agent that works on an item. Default: the default agent. */
  readonly agent?: string;
  /** The requested model, in the form of a Task call. Default: the model of the agent's definition. */
  readonly model?: string;
  readonly maxTurns?: number;
  /** The conditions under which the work on an item is accepted. Default: those of the agent. */
  readonly accept?: AcceptanceCriteria;
  /** The isolation of the task of an item. Default: as the agent's definition says. */
  readonly isolation?: Isolation;
  /** The prompt. Its only placeholders are `{{item}}`, `{{item.FIELD}}`, `{{index}}` and `{{count}}`. */
  readonly body: string;
  readonly scope: AgentScope;
  /** The absolute path of the file, or `builtin:NAME`. */
  readonly path: string;
  readonly problems: readonly AgentProblem[];
}

/** The subject of one task: a text, or an object whose fields the template names. */
export type TemplateItem = string | JsonObject;

/** The source of the items. */
export type ItemSource =
  /** `path`: an absolute path. */
  | { readonly kind: 'file'; readonly path: string }
  /** `pattern`: is matched in the working directory of the run. */
  | { readonly kind: 'glob'; readonly pattern: string }
  | { readonly kind: 'stdin' };

/**
 * A template with its items, as they were when the run began, so that the remaining work does not depend on the file.
 */
export interface FanOut extends Pick<
  TemplateDefinition,
  'path' | 'body' | 'agent' | 'model' | 'maxTurns' | 'accept' | 'isolation'
> {
  /** The name of the template. */
  readonly template: string;
  readonly items: readonly TemplateItem[];
  readonly source: ItemSource;
  /** The SHA-256 of each original item. Items in the log may differ from them, because secrets are redacted. */
  readonly digests: readonly string[];
}

const ITEM_CALL = /^item-(\d{1,9})(?:-\w+)?$/;

/**
 * Creates the id that is used as the call id of the task for an item. `index`: the number of the item, from 0. `again`: a
 * text that distinguishes a later task for the same item.
 */
export function createItemCallId(index: number, again?: string): string {
  return again === undefined ? `item-${index}` : `item-${index}-${again}`;
}

/** Finds the number of the item in a call id; null: the id is not from `createItemCallId`. */
export function findItemOfCall(callId: string): number | null {
  const number = ITEM_CALL.exec(callId)?.[1];
  return number === undefined ? null : Number(number);
}
