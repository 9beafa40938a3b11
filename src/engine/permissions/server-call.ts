import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { suggestNames } from '../../base/name-suggestions.ts';
import { sanitizeLine } from '../../base/terminal-text.ts';
import { truncate } from '../../base/text.ts';
import type { ToolCallPart } from '../../protocol/message.ts';
import { isServerToolName } from '../../protocol/server-tool-names.ts';

/** The keys under which models send the name of the tool and its arguments, the documented ones first. */
const TOOL_KEYS = ['tool', 'name', 'tool_name'];
const ARGUMENT_KEYS = ['arguments', 'args', 'input', 'parameters', 'params'];

const MAX_SHOWN_NAME = 100;
const MAX_CANDIDATES = 5;

/**
 * The call of a server's tool that a call of McpCall stands for. If there is none, `problem` says what to send, and
 * `tool` is the real name of the tool if only its arguments are wrong.
 */
export type ServerCall =
  | { readonly ok: true; readonly call: ToolCallPart }
  | { readonly ok: false; readonly problem: string; readonly tool?: string };

/**
 * Reads a call of McpCall. Models make these mistakes, and their meaning is clear: arguments as a JSON text, beside the
 * name instead of in `arguments`, or in a nested call of McpCall, and names of tools with another prefix or case.
 *
 * @param tools the names of all tools of the task
 */
export function readServerCall(sent: ToolCallPart, tools: readonly string[]): ServerCall {
  const input = parseObject(sent.input);
  if (input === undefined) return { ok: false, problem: TOOL_MISSING };
  const inner = readNestedCall(input) ?? input;
  const toolKey = TOOL_KEYS.find((key) => typeof inner[key] === 'string');
  const named = String(toolKey === undefined ? '' : inner[toolKey]).trim();
  if (toolKey === undefined || named === '') return { ok: false, problem: TOOL_MISSING };
  const resolved = resolveServerTool(named, tools, { knowsServer: true });
  // An unknown name of a server's tool is refused as such, so that the log names it.
  const name = resolved.name ?? (isServerToolName(named) ? named : undefined);
  if (name === undefined) {
    return { ok: false, problem: explainName(named, tools, resolved.candidates) };
  }
  const args = readArguments(inner, toolKey);
  if (args === undefined) return { ok: false, problem: WRONG_ARGUMENTS, tool: name };
  return { ok: true, call: { ...sent, name, input: args } };
}

const TOOL_MISSING = 'tool: is missing; send {"tool": "mcp__SERVER__TOOL", "arguments": {…}}';
const WRONG_ARGUMENTS = 'arguments: must be an object (or its JSON text)';

function readNestedCall(input: JsonObject): JsonObject | undefined {
  const key = TOOL_KEYS.find((each) => typeof input[each] === 'string');
  if (key === undefined || !/^mcp_?call$/i.test(String(input[key]).trim())) return undefined;
  return readArguments(input, key);
}

/** Reads the arguments of a tool. Returns undefined if they are no object. */
function readArguments(input: JsonObject, toolKey: string): JsonObject | undefined {
  const given = input['arguments'];
  if (given !== undefined) return parseObject(given);
  const others = Object.fromEntries(Object.entries(input).filter(([key]) => key !== toolKey));
  const isAlone = Object.keys(others).length === 1;
  // Beside other keys, a text or null is an argument of the tool with the same name.
  const wrapped = ARGUMENT_KEYS.map((key) => others[key]).find(
    (value) =>
      value !== undefined && (isAlone ? parseObject(value) !== undefined : isJsonObject(value)),
  );
  return wrapped === undefined ? others : parseObject(wrapped);
}

/** Reads an object or its JSON text. No value and an empty text are an empty object. */
function parseObject(value: JsonValue): JsonObject | undefined {
  if (value === null) return {};
  if (typeof value !== 'string') return isJsonObject(value) ? value : undefined;
  if (value.trim() === '') return {};
  try {
    const parsed = JSON.parse(value) as JsonValue;
    return isJsonObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function explainName(
  name: string,
  tools: readonly string[],
  candidates: readonly string[],
): string {
  const shown = JSON.stringify(truncate(sanitizeLine(name), MAX_SHOWN_NAME));
  if (tools.includes(name)) return `tool: ${shown} is no tool of an MCP server: call it by itself`;
  if (candidates.length > 0) {
    const some = candidates.slice(0, MAX_CANDIDATES).join(', ');
    return `tool: ${shown} may be one of several tools; send one of: ${some}`;
  }
  const near = suggestServerTools(name, tools);
  const hint = near.length === 0 ? '' : `; did you mean ${near.join(' or ')}?`;
  return `tool: there is no tool ${shown}${hint} (ToolSearch finds names)`;
}

/** Suggests tools of servers with a similar name, with or without the part for the server. */
function suggestServerTools(name: string, tools: readonly string[]): readonly string[] {
  const ofServers = tools.filter(isServerToolName);
  const shortNames = new Map(ofServers.map((tool) => [tool.split('__').slice(1).join('__'), tool]));
  const near = [
    ...suggestNames(name, ofServers),
    ...suggestNames(name, [...shortNames.keys()]).flatMap((each) => shortNames.get(each) ?? []),
  ];
  return [...new Set(near)].slice(0, MAX_CANDIDATES);
}

/** The tool that a name means, or else the tools between which it does not decide. */
interface ResolvedTool {
  readonly name?: string;
  readonly candidates: readonly string[];
}

/**
 * Finds the tool of a server that a name means. Case and separators do not matter, `mcp` may be missing or come after
 * another prefix, as in `functions.mcp__demo__echo`.
 *
 * @param options.knowsServer true if it is certain that a tool of a server is meant. Its own name is then enough.
 */
export function resolveServerTool(
  name: string,
  tools: readonly string[],
  { knowsServer }: { readonly knowsServer: boolean },
): ResolvedTool {
  if (isServerToolName(name) && tools.includes(name)) return { name, candidates: [] };
  const wanted = toKey(name);
  const keyed = tools.filter(isServerToolName).map((tool) => {
    const [, server = '', ...rest] = tool.split('__');
    return {
      tool,
      full: toKey(tool),
      short: toKey(`${server} ${rest.join(' ')}`),
      own: toKey(rest.join(' ')),
    };
  });
  const levels: readonly ((key: (typeof keyed)[number]) => boolean)[] = [
    ({ full }) => wanted === full,
    ({ short }) => wanted === short,
    ({ full }) => wanted.endsWith(` ${full}`),
    ...(knowsServer
      ? [
          ({ short }: (typeof keyed)[number]) => wanted.endsWith(` ${short}`),
          ({ own }: (typeof keyed)[number]) => wanted === own,
        ]
      : []),
  ];
  for (const isMeant of levels) {
    const [found, ...others] = keyed.filter(isMeant).map(({ tool }) => tool);
    if (found === undefined) continue;
    if (others.length === 0) return { name: found, candidates: [] };
    return { candidates: [found, ...others] };
  }
  return { candidates: [] };
}

/** Returns the words of a name in lower case, so that case and separators do not matter. */
function toKey(name: string): string {
  const spaced = name.replaceAll(/([a-z\d])([A-Z])/g, '$1 $2');
  return (spaced.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' ');
}
