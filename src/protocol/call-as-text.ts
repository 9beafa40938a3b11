import { isJsonObject } from '../base/json.ts';
import { canonicalToolName } from './tool-aliases.ts';

/** Longer texts are answers, whatever they begin with. */
const LONGEST = 1_000_000;

/** How models write calls when their server does not take them for calls: the whole block. */
const BLOCKS: readonly RegExp[] = [
  /^(?:<tool_call>\s*(?<json>\{[\s\S]*\})\s*<\/tool_call>)$/,
  /^(?:<tool_call>\s*)?<function=(?<name>[\w.-]{1,64})>[\s\S]*<\/function>(?:\s*<\/tool_call>)?$/,
  /^(?:<function_calls>\s*)?<invoke name="(?<name>[\w.-]{1,64})">[\s\S]*<\/invoke>(?:\s*<\/function_calls>)?$/,
  /^```(?:json|tool_call|tool_code)?[ \t]*\n(?<json>\{[\s\S]*\})\s*\n```$/,
  /^\[TOOL_CALLS\]\s*\[?(?<json>\{[\s\S]*\})\]?$/,
  /^<\|python_tag\|>(?<json>\{[\s\S]*\})$/,
  /^(?<json>\{[\s\S]*\})$/,
];
const ARGUMENTS: ReadonlySet<string> = new Set(['arguments', 'parameters', 'input']);

/**
 * The tool that an answer's text calls without being a call: the text is one such block and nothing
 * else, and names one of these tools (canonical names). Null for every other text, one that shows or
 * explains such a block too.
 */
export function callAsText(text: string, tools: readonly string[]): string | null {
  const block = text.trim();
  if (block.length > LONGEST) return null;
  for (const form of BLOCKS) {
    const found = form.exec(block)?.groups;
    if (found === undefined) continue;
    const named = found['name'] ?? nameIn(found['json'] ?? '');
    const tool = named === null ? undefined : canonicalToolName(named);
    if (tool !== undefined && tools.includes(tool)) return tool;
  }
  return null;
}

/** The name in a call's JSON; several calls one after the other are told by the first. */
function nameIn(json: string): string | null {
  const [first = ''] = json.split(/<\/tool_call>\s*<tool_call>/, 1);
  let call: unknown;
  try {
    call = JSON.parse(first);
  } catch {
    // No JSON is no call: the text means something else.
    return null;
  }
  if (!isJsonObject(call) || typeof call['name'] !== 'string') return null;
  const { name, ...rest } = call;
  const fields = Object.keys(rest).filter((key) => key !== 'id' && key !== 'type');
  const isCall = fields.length === 1 && ARGUMENTS.has(fields[0] ?? '');
  return isCall ? name : null;
}
