import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { sanitizeLine } from '../base/terminal-text.ts';
import { truncate } from '../base/text.ts';
import type { HookEventName } from '../protocol/hook.ts';
import { HOOK_EVENT_SUPPORT, isHookEvent } from './hook-events.ts';

/** A product that has hooks of its own. */
interface HookProduct {
  readonly name: string;
  /** The paths of its files, relative to the user's home. */
  readonly userFiles: readonly string[];
  /** The paths of its files, relative to a project. */
  readonly projectFiles: readonly string[];
  /** The reason why none of its hooks can be imported; null if they can. */
  readonly noEquivalent: string | null;
  /** The events that have another name than in Claude Code. */
  readonly events: Readonly<Record<string, HookEventName>>;
  /** The milliseconds in one unit of `timeout`. */
  readonly timeoutUnitMs: 1 | 1000;
  /** The variable that names the project in commands; null if there is none. */
  readonly projectVariable: string | null;
  /** A hint what a person should check in the imported hooks; null for nothing. */
  readonly note: string | null;
}

/** A product whose hooks have the format of Claude Code. */
const SAME_FORMAT = {
  noEquivalent: null,
  events: {},
  timeoutUnitMs: 1000,
  projectVariable: null,
  note: null,
} as const;
/** A product whose hooks read and print something else, so that a guard would no longer guard. */
const OTHER_PROTOCOL = {
  ...SAME_FORMAT,
  noEquivalent: 'its hooks read other fields and answer in another format: write them anew',
} as const;

/** The hooks of Gemini CLI, also in its extensions. */
export const GEMINI_HOOKS: HookProduct = {
  ...SAME_FORMAT,
  name: 'Gemini CLI',
  userFiles: ['.gemini/settings.json'],
  projectFiles: ['.gemini/settings.json'],
  events: {
    BeforeTool: 'PreToolUse',
    AfterTool: 'PostToolUse',
    BeforeAgent: 'UserPromptSubmit',
    AfterAgent: 'Stop',
    PreCompress: 'PreCompact',
  },
  timeoutUnitMs: 1,
  projectVariable: 'GEMINI_PROJECT_DIR',
  note: 'the scripts get the tools and arguments of Muster, such as Bash instead of run_shell_command: check what they compare',
};

/** The products whose hooks can be found. Each format is that of the product's documentation. */
export const HOOK_PRODUCTS: readonly HookProduct[] = [
  GEMINI_HOOKS,
  {
    ...SAME_FORMAT,
    name: 'Factory Droid',
    userFiles: ['.factory/hooks.json', '.factory/settings.json'],
    projectFiles: ['.factory/hooks.json', '.factory/settings.json', '.factory/settings.local.json'],
    projectVariable: 'FACTORY_PROJECT_DIR',
    note: null,
  },
  {
    ...SAME_FORMAT,
    name: 'Codex',
    userFiles: ['.codex/hooks.json'],
    projectFiles: ['.codex/hooks.json'],
  },
  {
    ...OTHER_PROTOCOL,
    name: 'Cursor',
    userFiles: ['.cursor/hooks.json'],
    projectFiles: ['.cursor/hooks.json'],
  },
  {
    ...OTHER_PROTOCOL,
    name: 'Windsurf',
    userFiles: ['.codeium/windsurf/hooks.json'],
    projectFiles: ['.windsurf/hooks.json'],
  },
  {
    ...OTHER_PROTOCOL,
    name: 'GitHub Copilot',
    userFiles: ['.copilot/hooks/hooks.json'],
    projectFiles: ['.github/hooks/hooks.json'],
  },
];

/** The maximum length of a name from a file in a message. */
const MAX_SHOWN_NAME = 80;

/** The hooks of one file in the format of Claude Code. */
export interface ConvertedHooks {
  /** The groups of hooks by event. */
  readonly groups: ReadonlyMap<HookEventName, readonly JsonObject[]>;
  /** The events and groups that have no equivalent: one sentence each. */
  readonly missing: readonly string[];
}

/**
 * Converts the hooks in a file of another product. What the converted hooks mean is checked when they are read as hooks.
 *
 * @param content the content of the file
 */
export function convertHooks(product: HookProduct, content: JsonValue): ConvertedHooks {
  const groups = new Map<HookEventName, readonly JsonObject[]>();
  const missing: string[] = [];
  for (const [name, value = null] of Object.entries(findEvents(content))) {
    const shown = truncate(sanitizeLine(name.slice(0, 2 * MAX_SHOWN_NAME)), MAX_SHOWN_NAME);
    const event = Object.hasOwn(product.events, name) ? product.events[name] : name;
    if (product.noEquivalent !== null) {
      missing.push(`${shown}: ${product.noEquivalent}`);
    } else if (event === undefined || !isHookEvent(event)) {
      missing.push(
        `${shown}: ${HOOK_EVENT_SUPPORT.get(name)?.note ?? 'Muster has no such moment.'}`,
      );
    } else if (!Array.isArray(value)) {
      missing.push(`${shown}: it is not a list`);
    } else {
      const converted = value.filter(isJsonObject).map((group) => convertGroup(product, group));
      groups.set(event, [...(groups.get(event) ?? []), ...converted]);
    }
  }
  return { groups, missing };
}

/** Finds the events: under the key `hooks`, or in the file itself, as Factory Droid has them. */
function findEvents(content: JsonValue): JsonObject {
  if (!isJsonObject(content)) return {};
  const { hooks } = content;
  if (hooks !== undefined) return isJsonObject(hooks) ? hooks : {};
  return Object.fromEntries(Object.entries(content).filter(([, value]) => Array.isArray(value)));
}

function convertGroup(product: HookProduct, group: JsonObject): JsonObject {
  const { sequential: _, hooks, ...rest } = group;
  if (!Array.isArray(hooks)) return group;
  return {
    ...rest,
    hooks: hooks.map((hook) => (isJsonObject(hook) ? convertHook(product, hook) : hook)),
  };
}

function convertHook(
  { timeoutUnitMs, projectVariable }: HookProduct,
  hook: JsonObject,
): JsonObject {
  const { name: _name, description: _description, timeout, command, ...rest } = hook;
  return {
    ...rest,
    ...(command === undefined ? {} : { command: replaceVariable(command, projectVariable) }),
    ...(typeof timeout === 'number'
      ? { timeout: Math.max(1, Math.ceil((timeout * timeoutUnitMs) / 1000)) }
      : {}),
  };
}

function replaceVariable(command: JsonValue, variable: string | null): JsonValue {
  if (variable === null || typeof command !== 'string') return command;
  return command.replaceAll(new RegExp(`\\b${variable}\\b`, 'g'), 'CLAUDE_PROJECT_DIR');
}
