import type { AcceptanceCriteria } from './acceptance.ts';
import type { JsonObject } from '../base/json.ts';
import type { AgentProblem, AgentScope } from './agent.ts';
import type { Isolation } from './workspace.ts';

/** A prompt with a placeholder for an item. One task is created for each item. */
export interface TemplateDefinition {
  /** The name. It is unique among the templates in use, and compared without case. */
  readonly name: string;
  /** The purpose of the template, for people and for models. */
  readonly description: string;
  /** The name of the agent that works on an item. Default: the default agent. */
  readonly agent?: string;
  /** The requested model, in the form of a Task call. Default: the model of the agent's definition. */
  readonly model?: string;
  /** The maximum number of answers for one item. Default: that of the agent. */
  readonly maxTurns?: number;
  /** The conditions under which the work on an item is accepted. Default: those of the agent. */
  readonly accept?: AcceptanceCriteria;
  /** The isolation of the task of an item. Default: as the agent's definition says. */
  readonly isolation?: Isolation;
  /** The number of tasks that work on each item, of which the best can be landed. Default: 1. */
  readonly attempts?: number;
  /** The models of the attempts, in turn. Default: `model` for all of them. */
  readonly models?: readonly string[];
  /** A command line that scores the work on an item. Default: none. */
  readonly score?: string;
  /** The prompt. Its only placeholders are `{{item}}`, `{{item.FIELD}}`, `{{index}}` and `{{count}}`. */
  readonly body: string;
  /** The owner of the template. */
  readonly scope: AgentScope;
  /** The absolute path of the file, or `builtin:NAME`. */
  readonly path: string;
  /** The warnings about the template. */
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
  /** The items were lines of the standard input. */
  | { readonly kind: 'stdin' }
  /** The items were arguments of the command line. */
  | { readonly kind: 'arguments' };

/**
 * A template with its items, as they were when the run began, so that the remaining work does not depend on the file.
 */
export interface FanOut extends Pick<
  TemplateDefinition,
  | 'path'
  | 'body'
  | 'agent'
  | 'model'
  | 'maxTurns'
  | 'accept'
  | 'isolation'
  | 'attempts'
  | 'models'
  | 'score'
> {
  /** The name of the template. */
  readonly template: string;
  /** The items, in the order of their tasks. */
  readonly items: readonly TemplateItem[];
  /** The source of the items. */
  readonly source: ItemSource;
  /** The SHA-256 of each original item. Items in the log may differ from them, because secrets are redacted. */
  readonly digests: readonly string[];
}

/** Returns true if a run compares attempts for an item. RunTemplate can't run such a template. */
export function comparesAttempts({
  attempts = 1,
  models,
  score,
}: Pick<TemplateDefinition, 'attempts' | 'models' | 'score'>): boolean {
  return attempts > 1 || models !== undefined || score !== undefined;
}

/** The maximum number of attempts for an item. */
export const MAX_ATTEMPTS = 100;

/** Returns the number of tasks of a run: the attempts for all items. Those for one item follow each other. */
export function countItemTasks({
  items,
  attempts = 1,
}: Pick<FanOut, 'items' | 'attempts'>): number {
  return items.length * attempts;
}

/**
 * Finds the item on which a task works, and its attempt. Both numbers are from 0.
 *
 * @param index the number of the task in the run, from 0
 */
export function locateItemTask(
  { attempts = 1 }: Pick<FanOut, 'attempts'>,
  index: number,
): { readonly item: number; readonly attempt: number } {
  return { item: Math.floor(index / attempts), attempt: index % attempts };
}

const ITEM_CALL = /^item-(\d{1,9})(?:-\w+)?$/;

/**
 * Creates the id that is used as the call id of a task of a run. `index`: the number of the task, from 0. `again`: a text
 * that distinguishes a later task in its place.
 */
export function createItemCallId(index: number, again?: string): string {
  return again === undefined ? `item-${index}` : `item-${index}-${again}`;
}

/** Finds the number of the task in a call id; null: the id is not from `createItemCallId`. */
export function findItemOfCall(callId: string): number | null {
  const number = ITEM_CALL.exec(callId)?.[1];
  return number === undefined ? null : Number(number);
}
