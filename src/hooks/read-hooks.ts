import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import {
  CALL_HOOK_EVENTS,
  type HookCondition,
  type HookEventName,
  type HookSource,
} from '../protocol/hook.ts';
import type { HookDefinition } from './hook-definition.ts';
import { HOOK_EVENT_SUPPORT, isHookEvent } from './hook-events.ts';
import { findMatcherProblem } from './match-hooks.ts';
import {
  isHookText,
  readHookAction,
  readHookText,
  reportUnknown,
  showName,
  type HookPlace,
} from './read-action.ts';

/** The maximum number of hooks of one file (`hook_count`). */
const MAX_HOOKS = 100;
/** The longest time of a hook in seconds (`hook_timeout_seconds`). */
const MAX_TIMEOUT_SECONDS = 3_600;
/** The maximum number of problems that are reported for one file. */
const MAX_PROBLEMS = 50;

/** The time of a hook in seconds if the file gives none. Claude Code documents the same times. */
const DEFAULT_TIMEOUT_SECONDS = 600;
/** The time of a hook that asks a model or a subagent, in seconds. */
const QUESTION_TIMEOUT_SECONDS = { prompt: 30, agent: 60 } as const;
/** The events at which a person waits, so that the time is shorter. */
const SHORTER_TIMEOUTS: Readonly<Partial<Record<HookEventName, number>>> = {
  UserPromptSubmit: 30,
  PreModelSwitch: 30,
  PostModelSwitch: 30,
  SessionEnd: 60,
};

const GROUP_FIELDS = ['matcher', 'hooks'];
/** The consequence of a condition that cannot be read. */
const RUNS_ALWAYS = 'so the hook runs at every call that its matcher covers, and allows none';

/** The hooks of one file, and what of the file cannot be used. */
export interface HooksOfFile {
  /** In the order of the file. */
  readonly hooks: readonly HookDefinition[];
  /** Sentences for people. Each begins with the path of the value in the file. */
  readonly problems: readonly string[];
}

/** Reads the text of a condition (`if`), which is a permission rule. */
export type ConditionReader = (
  text: string,
  source: HookSource,
) => Omit<HookCondition, 'text'> & {
  /** The part of the rule that cannot be followed, as a clause; null if there is none. */
  readonly problem: string | null;
};

/**
 * Reads hooks in the format of Claude Code's settings. A value that cannot be used is a problem, and the rest of the
 * file still works. A hook whose restriction cannot be read does not run, or runs more often than it should: it never
 * allows more.
 *
 * @param value the value of the key `hooks` of a settings file, or of the front matter of a definition
 */
export function readHooks(
  value: JsonValue,
  source: HookSource,
  readCondition: ConditionReader,
): HooksOfFile {
  const reader = new HooksReader(source, readCondition);
  reader.readEvents(value);
  return { hooks: reader.hooks, problems: reader.listProblems() };
}

class HooksReader {
  readonly hooks: HookDefinition[] = [];
  readonly #problems: string[] = [];
  readonly #source: HookSource;
  readonly #readRule: ConditionReader;
  #hasTooMany = false;

  constructor(source: HookSource, readRule: ConditionReader) {
    this.#source = source;
    this.#readRule = readRule;
  }

  listProblems(): readonly string[] {
    const more = this.#problems.length - MAX_PROBLEMS;
    if (more <= 0) return this.#problems;
    return [...this.#problems.slice(0, MAX_PROBLEMS), `hooks: there are ${more} more problems`];
  }

  readEvents(value: JsonValue): void {
    if (!isJsonObject(value)) {
      this.#report('hooks', 'must be an object with a list of hooks for each event');
      return;
    }
    for (const [event, groups = null] of Object.entries(value)) {
      const path = `hooks.${showName(event)}`;
      if (!isHookEvent(event)) this.#report(path, describeOtherEvent(event));
      else if (!Array.isArray(groups)) this.#report(path, 'must be a list');
      else groups.forEach((group, index) => this.#readGroup(group, event, `${path}[${index}]`));
    }
  }

  #readGroup(group: JsonValue, event: HookEventName, path: string): void {
    if (!isJsonObject(group)) {
      this.#report(path, 'must be an object with "matcher" and "hooks"');
      return;
    }
    reportUnknown(group, GROUP_FIELDS, { path, report: this.#report });
    const { matcher = '', hooks } = group;
    if (typeof matcher !== 'string') {
      this.#report(`${path}.matcher`, 'must be a text, so its hooks are not run');
      return;
    }
    const problem = findMatcherProblem(matcher);
    if (problem !== null) {
      this.#report(`${path}.matcher`, `${problem}, so its hooks are not run`);
      return;
    }
    if (!Array.isArray(hooks)) {
      this.#report(`${path}.hooks`, 'must be a list of hooks');
      return;
    }
    hooks.forEach((hook, index) =>
      this.#readHook(hook, { event, matcher, path: `${path}.hooks[${index}]` }),
    );
  }

  #readHook(hook: JsonValue, place: Pick<HookDefinition, 'event' | 'matcher' | 'path'>): void {
    const { path, event } = place;
    if (this.hooks.length >= MAX_HOOKS) {
      if (!this.#hasTooMany)
        this.#report(
          path,
          `this hook and the next ones are not run (limit hook_count = ${MAX_HOOKS})`,
        );
      this.#hasTooMany = true;
      return;
    }
    if (!isJsonObject(hook)) {
      this.#report(path, 'must be an object with "type"');
      return;
    }
    const at: HookPlace = { path, event, source: this.#source, report: this.#report };
    const action = readHookAction(hook, at);
    if (action === null) return;
    const conditioned = this.#readCondition(hook, place);
    if (conditioned === null) return;
    // Accepted as it is in Claude Code, which shows it while the hook runs.
    readHookText(hook, 'statusMessage', at);
    const isRewaking = this.#readAsyncFlag(hook, 'asyncRewake', path);
    this.hooks.push({
      ...place,
      ...conditioned,
      action,
      source: this.#source,
      timeoutMs: this.#readTimeout(hook, event, path) * 1000,
      isAsync: isRewaking || this.#readAsyncFlag(hook, 'async', path),
      isRewaking,
      isOnce: this.#readFlag(hook, 'once', path),
      blocksOnFailure: this.#readOnFailure(hook, path),
    });
  }

  /** Reads the condition of a hook. Returns null if the hook can never run. */
  #readCondition(
    hook: JsonObject,
    { event, path }: Pick<HookDefinition, 'event' | 'path'>,
  ): Pick<HookDefinition, 'condition'> | null {
    const { if: text } = hook;
    if (text === undefined) return {};
    if (!CALL_HOOK_EVENTS.has(event)) {
      this.#report(`${path}.if`, `has no meaning at ${event}, so the hook is not run`);
      return null;
    }
    const { problem, ...rules } = isHookText(text)
      ? this.#readRule(text, this.#source)
      : { rules: [], allowing: [], problem: 'must be a text with one permission rule' };
    if (problem !== null) {
      const isRead = rules.rules.length > 0;
      this.#report(`${path}.if`, isRead ? problem : `${problem}, ${RUNS_ALWAYS}`);
    }
    return { condition: { text: isHookText(text) ? text : '?', ...rules } };
  }

  #readTimeout(hook: JsonObject, event: HookEventName, path: string): number {
    const { type } = hook;
    const isQuestion = type === 'prompt' || type === 'agent';
    const asked = isQuestion ? QUESTION_TIMEOUT_SECONDS[type] : undefined;
    const usual = asked ?? SHORTER_TIMEOUTS[event] ?? DEFAULT_TIMEOUT_SECONDS;
    const { timeout } = hook;
    if (timeout === undefined) return usual;
    if (typeof timeout !== 'number' || !(timeout > 0)) {
      this.#report(`${path}.timeout`, `must be a number of seconds above 0, so ${usual} s count`);
      return usual;
    }
    if (timeout <= MAX_TIMEOUT_SECONDS) return timeout;
    this.#report(
      `${path}.timeout`,
      `is longer than allowed and counted in seconds, so ${MAX_TIMEOUT_SECONDS} s count (limit hook_timeout_seconds = ${MAX_TIMEOUT_SECONDS})`,
    );
    return MAX_TIMEOUT_SECONDS;
  }

  /** Reads a flag of commands. The task waits for every other hook, whose file has it as an unknown field. */
  #readAsyncFlag(hook: JsonObject, field: 'async' | 'asyncRewake', path: string): boolean {
    return hook['type'] === 'command' && this.#readFlag(hook, field, path);
  }

  #readFlag(hook: JsonObject, field: 'async' | 'asyncRewake' | 'once', path: string): boolean {
    const value = hook[field];
    if (value === undefined || typeof value === 'boolean') return value ?? false;
    this.#report(`${path}.${field}`, 'must be true or false, so false counts');
    return false;
  }

  /** A wrong value counts as `block`: someone wanted the hook to guard something. */
  #readOnFailure(hook: JsonObject, path: string): boolean {
    const { onFailure = 'continue' } = hook;
    if (onFailure === 'continue' || onFailure === 'block') return onFailure === 'block';
    this.#report(`${path}.onFailure`, 'must be "continue" or "block", so "block" counts');
    return true;
  }

  readonly #report = (path: string, problem: string): void => {
    this.#problems.push(`${path}: ${problem}`);
  };
}

function describeOtherEvent(event: string): string {
  const known = HOOK_EVENT_SUPPORT.get(event);
  if (known === undefined) return 'is not an event, so its hooks are not run';
  return known.support === 'later'
    ? `is not supported yet: ${known.note}`
    : `has no meaning here: ${known.note}`;
}
