import { dropMissing } from '../base/drop-missing.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { sanitizeLine } from '../base/terminal-text.ts';
import { truncate } from '../base/text.ts';
import { CALL_HOOK_EVENTS, type HookEventName, type HookSource } from '../protocol/hook.ts';
import type {
  AgentAction,
  CommandAction,
  HookAction,
  HttpAction,
  PromptAction,
  ToolAction,
} from './hook-definition.ts';

/** The maximum length of one text of a hook in characters (`hook_text_characters`). */
const MAX_TEXT = 20_000;
/** The maximum number of arguments, headers or variables of one hook (`hook_list_items`). */
const MAX_ITEMS = 100;
/** The maximum length of a name from the file in a problem. */
const MAX_SHOWN_NAME = 80;

const TOO_LONG = `is too long (limit hook_text_characters = ${MAX_TEXT})`;
/** The limits on lists and their texts, for problems. */
const ITEM_LIMITS = `limits hook_list_items = ${MAX_ITEMS}, hook_text_characters = ${MAX_TEXT}`;

/** The fields that hooks of all kinds have. */
const COMMON_FIELDS = ['type', 'timeout', 'once', 'statusMessage', 'onFailure', 'if'];
const COMMAND_FIELDS = [...COMMON_FIELDS, 'command', 'args', 'shell', 'async', 'asyncRewake'];
const HTTP_FIELDS = [...COMMON_FIELDS, 'url', 'headers', 'allowedEnvVars'];
const PROMPT_FIELDS = [...COMMON_FIELDS, 'prompt'];
const AGENT_FIELDS = [...PROMPT_FIELDS, 'model'];
/** The events at which a task can wait for a subagent. The same events as in Claude Code. */
const AGENT_EVENTS: ReadonlySet<HookEventName> = new Set([
  ...CALL_HOOK_EVENTS,
  'PostToolBatch',
  'UserPromptSubmit',
  'Stop',
  'SubagentStop',
]);
const TOOL_FIELDS = [...COMMON_FIELDS, 'server', 'tool', 'input'];

/** The place of a hook in its file, and where its problems go. */
export interface HookPlace {
  /** The position in the file, such as `hooks.PreToolUse[0].hooks[1]`. */
  readonly path: string;
  readonly event: HookEventName;
  readonly source: HookSource;
  /**
   * Adds a problem of the file.
   *
   * @param path the position of the value
   * @param problem what is wrong with it and what happens instead, as a clause
   */
  readonly report: (path: string, problem: string) => void;
}

/** Reads what a hook does. Returns null, after a report, if it cannot run. */
export function readHookAction(hook: JsonObject, place: HookPlace): HookAction | null {
  const { type } = hook;
  if (type === 'command') return readCommand(hook, place);
  if (type === 'http') return readHttp(hook, place);
  if (type === 'prompt') return readPrompt(hook, place);
  if (type === 'agent') return readAgent(hook, place);
  if (type === 'mcp_tool') return readTool(hook, place);
  const kinds = '"command", "http", "mcp_tool", "prompt" or "agent"';
  place.report(`${place.path}.type`, `must be ${kinds}, so the hook is not run`);
  return null;
}

function readPrompt(hook: JsonObject, place: HookPlace): PromptAction | null {
  reportUnknown(hook, PROMPT_FIELDS, place);
  const prompt = readQuestion(hook, place);
  return prompt === null ? null : { kind: 'prompt', prompt };
}

function readAgent(hook: JsonObject, place: HookPlace): AgentAction | null {
  const { event, path, report } = place;
  if (!AGENT_EVENTS.has(event)) {
    report(`${path}.type`, `"agent" does not run at ${event}, so the hook is not run`);
    return null;
  }
  reportUnknown(hook, AGENT_FIELDS, place);
  const prompt = readQuestion(hook, place);
  const model = readHookText(hook, 'model', place);
  return prompt === null ? null : { kind: 'agent', prompt, ...dropMissing({ model }) };
}

function readTool(hook: JsonObject, place: HookPlace): ToolAction | null {
  const { path, report } = place;
  reportUnknown(hook, TOOL_FIELDS, place);
  const [server, tool] = [readHookText(hook, 'server', place), readHookText(hook, 'tool', place)];
  const { input = {} } = hook;
  if (server === undefined || tool === undefined) {
    const missing = server === undefined ? 'server' : 'tool';
    report(`${path}.${missing}`, 'must be a name, so the hook is not run');
    return null;
  }
  if (!isJsonObject(input) || JSON.stringify(input).length > MAX_TEXT) {
    report(
      `${path}.input`,
      `must be an object, so the hook is not run (limit hook_text_characters = ${MAX_TEXT})`,
    );
    return null;
  }
  return { kind: 'mcp_tool', server, tool, input: structuredClone(input) };
}

function readQuestion(hook: JsonObject, place: HookPlace): string | null {
  const prompt = readHookText(hook, 'prompt', place);
  if (prompt !== undefined && prompt.trim() !== '') return prompt;
  place.report(`${place.path}.prompt`, 'must be a text, so the hook is not run');
  return null;
}

function readCommand(hook: JsonObject, place: HookPlace): CommandAction | null {
  const { path, report } = place;
  reportUnknown(hook, COMMAND_FIELDS, place);
  const command = readHookText(hook, 'command', place);
  if (command === undefined || command.trim() === '') {
    report(`${path}.command`, 'must be a command, so the hook is not run');
    return null;
  }
  const { shell = 'bash', args } = hook;
  if (shell !== 'bash') {
    report(`${path}.shell`, 'must be "bash", so the hook is not run');
    return null;
  }
  if (args === undefined) return { kind: 'command', command };
  if (!isListOfTexts(args)) {
    report(`${path}.args`, `must be a list of texts, so the hook is not run (${ITEM_LIMITS})`);
    return null;
  }
  return { kind: 'command', command, args: [...args] };
}

function readHttp(hook: JsonObject, place: HookPlace): HttpAction | null {
  const { path, report } = place;
  reportUnknown(hook, HTTP_FIELDS, place);
  const url = readHookText(hook, 'url', place);
  const parsed = url === undefined ? null : URL.parse(url);
  if (url === undefined || (parsed?.protocol !== 'http:' && parsed?.protocol !== 'https:')) {
    report(`${path}.url`, 'must be an address with http:// or https://, so the hook is not run');
    return null;
  }
  const { headers = {}, allowedEnvVars = [] } = hook;
  const texts = isJsonObject(headers) ? Object.values(headers) : null;
  if (!isJsonObject(headers) || texts === null || !isListOfTexts(texts)) {
    report(
      `${path}.headers`,
      `must be an object of texts, so the hook is not run (${ITEM_LIMITS})`,
    );
    return null;
  }
  if (!isListOfTexts(allowedEnvVars)) {
    report(
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
    allowedVariables: selectVariables(allowedEnvVars, place),
  };
}

/** Returns the variables that headers may use. A file of a project would otherwise send the user's keys to any server. */
function selectVariables(names: JsonValue, { path, source, report }: HookPlace): readonly string[] {
  if (!isListOfTexts(names) || names.length === 0) return [];
  if (source.kind === 'user') return [...names];
  report(
    `${path}.allowedEnvVars`,
    "counts only in the user's own settings, so the headers get no variables",
  );
  return [];
}

/** Reads a text of a hook. Returns undefined if it is absent, and, after a report, if it is no text or too long. */
export function readHookText(
  hook: JsonObject,
  field: string,
  { path, report }: HookPlace,
): string | undefined {
  const value = hook[field];
  if (value === undefined || isHookText(value)) return value;
  report(`${path}.${field}`, typeof value === 'string' ? TOO_LONG : 'must be a text');
  return undefined;
}

/** Tells whether a value is a text within the limit. */
export function isHookText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_TEXT;
}

/** Reports the fields that have no meaning. */
export function reportUnknown(
  value: JsonObject,
  known: readonly string[],
  { path, report }: Pick<HookPlace, 'path' | 'report'>,
): void {
  for (const field of Object.keys(value)) {
    if (!known.includes(field))
      report(`${path}.${showName(field)}`, 'is not known and has no effect');
  }
}

/** Returns a name from the file for a message. */
export function showName(name: string): string {
  return truncate(sanitizeLine(name.slice(0, 2 * MAX_SHOWN_NAME)), MAX_SHOWN_NAME);
}

function isListOfTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length <= MAX_ITEMS && value.every(isHookText);
}
