import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { sanitizeLine } from '../base/terminal-text.ts';
import { truncate } from '../base/text.ts';
import type { HookEventName, HookSource } from '../protocol/hook.ts';
import type {
  CommandAction,
  HookAction,
  HookDefinition,
  HttpAction,
  PromptAction,
} from './hook-definition.ts';
import { HOOK_EVENT_SUPPORT, isHookEvent } from './hook-events.ts';
import { findMatcherProblem } from './match-hooks.ts';

/** The maximum number of hooks of one file (`hook_count`). */
const MAX_HOOKS = 100;
/** The maximum length of one text of a hook in characters (`hook_text_characters`). */
const MAX_TEXT = 20_000;
/** The maximum number of arguments, headers or variables of one hook (`hook_list_items`). */
const MAX_ITEMS = 100;
/** The longest time of a hook in seconds (`hook_timeout_seconds`). */
const MAX_TIMEOUT_SECONDS = 3_600;
/** The maximum number of problems that are reported for one file. */
const MAX_PROBLEMS = 50;
/** The maximum length of a name from the file in a problem. */
const MAX_SHOWN_NAME = 80;

/** The time of a hook in seconds if the file gives none. Claude Code documents the same times. */
const DEFAULT_TIMEOUT_SECONDS = 600;
/** The time of a hook that asks a model, in seconds. */
const PROMPT_TIMEOUT_SECONDS = 30;
/** The events at which a person waits, so that the time is shorter. */
const SHORTER_TIMEOUTS: Readonly<Partial<Record<HookEventName, number>>> = {
  UserPromptSubmit: 30,
  SessionEnd: 60,
};

const GROUP_FIELDS: ReadonlySet<string> = new Set(['matcher', 'hooks']);
const COMMON_FIELDS = ['type', 'timeout', 'once', 'statusMessage', 'onFailure', 'if'];
const COMMAND_FIELDS: ReadonlySet<string> = new Set([
  ...COMMON_FIELDS,
  'command',
  'args',
  'shell',
  'async',
]);
const HTTP_FIELDS: ReadonlySet<string> = new Set([
  ...COMMON_FIELDS,
  'url',
  'headers',
  'allowedEnvVars',
]);
const PROMPT_FIELDS: ReadonlySet<string> = new Set([...COMMON_FIELDS, 'prompt']);
/** Kinds of hooks that exist in Claude Code and that Muster does not run yet. */
const LATER_KINDS: ReadonlySet<string> = new Set(['agent', 'mcp_tool']);

/** The hooks of one file, and what of the file cannot be used. */
export interface HooksOfFile {
  /** In the order of the file. */
  readonly hooks: readonly HookDefinition[];
  /** Sentences for people. Each begins with the path of the value in the file. */
  readonly problems: readonly string[];
}

/**
 * Reads hooks in the format of Claude Code's settings. A value that cannot be used is a problem, and the rest of the
 * file still works. A hook whose restriction cannot be read does not run, or runs more often than it should: it never
 * allows more.
 *
 * @param value the value of the key `hooks` of a settings file, or of the front matter of a definition
 */
export function readHooks(value: JsonValue, source: HookSource): HooksOfFile {
  const reader = new HooksReader(source);
  reader.readEvents(value);
  return { hooks: reader.hooks, problems: reader.listProblems() };
}

class HooksReader {
  readonly hooks: HookDefinition[] = [];
  readonly #problems: string[] = [];
  readonly #source: HookSource;
  #hasTooMany = false;

  constructor(source: HookSource) {
    this.#source = source;
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
    this.#reportUnknown(group, GROUP_FIELDS, path);
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
    const action = this.#readAction(hook, path);
    if (action === null) return;
    if (hook['if'] !== undefined) {
      this.#report(
        `${path}.if`,
        'is not supported yet, so the hook runs at every call that its matcher covers',
      );
    }
    const statusMessage = this.#readText(hook, 'statusMessage', path);
    this.hooks.push({
      ...place,
      action,
      source: this.#source,
      timeoutMs: this.#readTimeout(hook, event, path) * 1000,
      isAsync: this.#readFlag(hook, 'async', path),
      isOnce: this.#readFlag(hook, 'once', path),
      blocksOnFailure: this.#readOnFailure(hook, path),
      ...(statusMessage === undefined ? {} : { statusMessage }),
    });
  }

  #readAction(hook: JsonObject, path: string): HookAction | null {
    const { type } = hook;
    if (type === 'command') return this.#readCommand(hook, path);
    if (type === 'http') return this.#readHttp(hook, path);
    if (type === 'prompt') return this.#readPrompt(hook, path);
    const isLater = typeof type === 'string' && LATER_KINDS.has(type);
    this.#report(
      `${path}.type`,
      isLater
        ? `hooks of the type "${type}" are not supported yet, so the hook is not run`
        : 'must be "command", "http" or "prompt", so the hook is not run',
    );
    return null;
  }

  #readPrompt(hook: JsonObject, path: string): PromptAction | null {
    this.#reportUnknown(hook, PROMPT_FIELDS, path);
    const prompt = this.#readText(hook, 'prompt', path);
    if (prompt !== undefined && prompt.trim() !== '') return { kind: 'prompt', prompt };
    this.#report(`${path}.prompt`, 'must be a text, so the hook is not run');
    return null;
  }

  #readCommand(hook: JsonObject, path: string): CommandAction | null {
    this.#reportUnknown(hook, COMMAND_FIELDS, path);
    const command = this.#readText(hook, 'command', path);
    if (command === undefined || command.trim() === '') {
      this.#report(`${path}.command`, 'must be a command, so the hook is not run');
      return null;
    }
    const { shell = 'bash', args } = hook;
    if (shell !== 'bash') {
      this.#report(`${path}.shell`, 'must be "bash", so the hook is not run');
      return null;
    }
    if (args === undefined) return { kind: 'command', command };
    if (!isListOfTexts(args)) {
      this.#report(
        `${path}.args`,
        `must be a list of texts, so the hook is not run (${ITEM_LIMITS})`,
      );
      return null;
    }
    return { kind: 'command', command, args: [...args] };
  }

  #readHttp(hook: JsonObject, path: string): HttpAction | null {
    this.#reportUnknown(hook, HTTP_FIELDS, path);
    const url = this.#readText(hook, 'url', path);
    const parsed = url === undefined ? null : URL.parse(url);
    if (url === undefined || (parsed?.protocol !== 'http:' && parsed?.protocol !== 'https:')) {
      this.#report(
        `${path}.url`,
        'must be an address with http:// or https://, so the hook is not run',
      );
      return null;
    }
    const { headers = {}, allowedEnvVars = [] } = hook;
    const texts = isJsonObject(headers) ? Object.values(headers) : null;
    if (!isJsonObject(headers) || texts === null || !isListOfTexts(texts)) {
      this.#report(
        `${path}.headers`,
        `must be an object of texts, so the hook is not run (${ITEM_LIMITS})`,
      );
      return null;
    }
    if (!isListOfTexts(allowedEnvVars)) {
      this.#report(
        `${path}.allowedEnvVars`,
        `must be a list of names, so no variable is used (${ITEM_LIMITS})`,
      );
    }
    return {
      kind: 'http',
      url,
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, text]) => [name, String(text)] as const),
      ),
      allowedVariables: this.#selectVariables(allowedEnvVars, path),
    };
  }

  /** Returns the variables that headers may use. A file of a project would otherwise send the user's keys to any server. */
  #selectVariables(names: JsonValue, path: string): readonly string[] {
    if (!isListOfTexts(names) || names.length === 0) return [];
    if (this.#source.kind === 'user') return [...names];
    this.#report(
      `${path}.allowedEnvVars`,
      "counts only in the user's own settings, so the headers get no variables",
    );
    return [];
  }

  #readTimeout(hook: JsonObject, event: HookEventName, path: string): number {
    const asked = hook['type'] === 'prompt' ? PROMPT_TIMEOUT_SECONDS : undefined;
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

  #readFlag(hook: JsonObject, field: 'async' | 'once', path: string): boolean {
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

  #readText(hook: JsonObject, field: string, path: string): string | undefined {
    const value = hook[field];
    if (value === undefined || (typeof value === 'string' && value.length <= MAX_TEXT))
      return value;
    this.#report(
      `${path}.${field}`,
      typeof value === 'string'
        ? `is too long (limit hook_text_characters = ${MAX_TEXT})`
        : 'must be a text',
    );
    return undefined;
  }

  #reportUnknown(value: JsonObject, known: ReadonlySet<string>, path: string): void {
    for (const field of Object.keys(value)) {
      if (!known.has(field))
        this.#report(`${path}.${showName(field)}`, 'is not known and has no effect');
    }
  }

  #report(path: string, problem: string): void {
    this.#problems.push(`${path}: ${problem}`);
  }
}

/** The limits on lists and their texts, for problems. */
const ITEM_LIMITS = `limits hook_list_items = ${MAX_ITEMS}, hook_text_characters = ${MAX_TEXT}`;

function isListOfTexts(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) &&
    value.length <= MAX_ITEMS &&
    value.every((each) => typeof each === 'string' && each.length <= MAX_TEXT)
  );
}

function describeOtherEvent(event: string): string {
  const known = HOOK_EVENT_SUPPORT.get(event);
  if (known === undefined) return 'is not an event, so its hooks are not run';
  return known.support === 'later'
    ? `is not supported yet: ${known.note}`
    : `has no meaning here: ${known.note}`;
}

function showName(name: string): string {
  return truncate(sanitizeLine(name.slice(0, 2 * MAX_SHOWN_NAME)), MAX_SHOWN_NAME);
}
