import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import type { CallHookTool, HookSource } from '../protocol/hook.ts';
import type { ToolAction } from './hook-definition.ts';
import type { HookEnd } from './read-hook-output.ts';

/** `${NAME}` or `${NAME.NAME}` in a text of the input. */
const PLACEHOLDER = /\$\{([\w-]+(?:\.[\w-]+)*)\}/g;

/** One call of a tool. */
interface ToolHookRun {
  readonly action: ToolAction;
  readonly source: HookSource;
  /** The input of the hook, from which the placeholders are filled. */
  readonly input: JsonObject;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Absent if the hook does not run in a task. */
  readonly callTool?: CallHookTool;
}

/**
 * Calls the tool of an MCP server. Its text counts like the stdout of a command that has ended well. Never rejects because
 * of the server.
 */
export async function runToolHook(run: ToolHookRun): Promise<HookEnd> {
  const { action, source, input, timeoutMs, signal, callTool } = run;
  if (callTool === undefined)
    return { kind: 'failed', reason: 'it was not called: tools are called only in a task' };
  const { kind: _, input: template, ...named } = action;
  const call = { ...named, source, input: fillObject(template, input) };
  const ended = AbortSignal.timeout(timeoutMs);
  try {
    const answer = await callTool(call, AbortSignal.any([signal, ended]));
    return answer.ok
      ? { kind: 'exited', code: 0, signal: null, stdout: answer.text, stderr: '' }
      : { kind: 'failed', reason: answer.problem };
  } catch (thrown) {
    if (signal.aborted || !ended.aborted) throw thrown;
    return { kind: 'timeout', limitMs: timeoutMs };
  }
}

function fillObject(template: JsonObject, values: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(template).map(([key, value = null]) => [key, fill(value, values)] as const),
  );
}

/** Replaces the placeholders in all texts of a value. One that names nothing is empty. */
function fill(value: JsonValue, values: JsonObject): JsonValue {
  if (typeof value === 'string')
    return value.replaceAll(PLACEHOLDER, (_, path: string) => findText(values, path.split('.')));
  if (isJsonObject(value)) return fillObject(value, values);
  return Array.isArray(value) ? value.map((each: JsonValue) => fill(each, values)) : value;
}

function findText(values: JsonObject, path: readonly string[]): string {
  let found: JsonValue | undefined = values;
  for (const key of path)
    found = isJsonObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  if (found === undefined || found === null) return '';
  return typeof found === 'string' ? found : JSON.stringify(found);
}
