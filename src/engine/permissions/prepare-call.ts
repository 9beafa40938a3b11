import type { ToolCallPart } from '../../protocol/message.ts';
import { NO_ACCESS } from '../../protocol/permission.ts';
import { refuseMissingTool } from '../../policy/decide.ts';
import { canonicalToolName } from '../../protocol/tool-aliases.ts';
import type { AnyTool } from '../../protocol/tool.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { ReadyCall, PreparedCall, BrokenCall } from '../task/prepared-call.ts';
import type { CallerPermissions } from '../task/task-permissions.ts';
import { unescapeTags } from '../../base/control-tags.ts';
import { dropMissing } from '../../base/drop-missing.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { findToolOfFamily } from '../../protocol/model-families/describe-tools.ts';
import { readServerCall, resolveServerTool, type ServerCall } from './server-call.ts';
import { MCP_CALL } from '../../protocol/sent-call.ts';
import { isServerToolName } from '../../protocol/server-tool-names.ts';
import { RESOURCE_TOOL, toResourceTool } from '../../protocol/tool-names.ts';

/** Finds the tool, the arguments and the access of a call: everything that is known before the decision. */
export function prepareCall(
  run: Pick<TaskRun, 'spec' | 'state' | 'view'>,
  sent: ToolCallPart,
): PreparedCall {
  const read = readRequestedCall(run, sent);
  if (!read.ok) {
    const { problem, tool: name = sent.name } = read;
    return createBrokenCall({ ...sent, name }, { name }, problem);
  }
  const requested = read.call;
  const name = findToolName(run.view, requested.name);
  const tool = run.view.get(name);
  if (tool === undefined) {
    const decision = refuseMissingTool(requested.name, {
      tools: [...run.view.keys()],
      isForked: run.spec.inherited !== undefined,
    });
    return {
      ready: false,
      call: requested,
      tool: name,
      text: decision.reason,
      error: 'PERMISSION_DENIED',
      decision,
    };
  }
  const call = unescapeArguments(requested, tool);
  if (call.malformed !== undefined) {
    return createBrokenCall(call, tool, isCutOff(run, call) ? CUT_OFF : INVALID_JSON);
  }
  const parsed = tool.parse(call.input);
  if (!parsed.ok) return createBrokenCall(call, tool, parsed.issues.join('; '));
  const access = tool.describe?.(parsed.input, { cwd: run.spec.cwd }) ?? null;
  return {
    ready: true,
    call,
    tool,
    input: parsed.input,
    ...(parsed.notes === undefined ? {} : { notes: parsed.notes }),
    // A meta tool without `describe` accesses nothing. Any other tool without it may access anything.
    access: access ?? (tool.kind === 'meta' ? NO_ACCESS : null),
  };
}

/**
 * Prepares a call again with the arguments that a hook has given it. What hooks had said about the other arguments does not
 * count any more.
 */
export function prepareChangedCall(
  { spec, state, view }: Pick<TaskRun, 'spec' | 'state' | 'view'>,
  { call, tool, byCommand }: ReadyCall,
  input: JsonObject,
): PreparedCall {
  const caller = { spec, state, view: new Map([...view, [tool.name, tool]]) };
  const prepared = prepareCall(caller, { ...call, name: tool.name, input });
  if (prepared.ready) return { ...prepared, ...dropMissing({ byCommand }) };
  return refuseChangedCall({ call: prepared.call, tool }, prepared.text);
}

/**
 * Refuses a call because of what hooks have made of its arguments.
 *
 * @param reason a sentence
 */
export function refuseChangedCall(
  { call, tool }: Pick<ReadyCall, 'call' | 'tool'>,
  reason: string,
): BrokenCall {
  const text = `A hook has changed the arguments of this call. ${reason}`;
  const decision = { verdict: 'deny', step: 'hook', reason: text } as const;
  return { ready: false, call, tool: tool.name, text, error: 'PERMISSION_DENIED', decision };
}

/** Finds the tool of the task that a model means, by its name for Muster, for a family of models, or for other products. */
function findToolName(view: ReadonlyMap<string, AnyTool>, name: string): string {
  if (view.has(name)) return name;
  const ofFamily = findToolOfFamily(name);
  if (ofFamily !== undefined && view.has(ofFamily)) return ofFamily;
  return canonicalToolName(name) ?? name;
}

/**
 * Returns the call that is meant: for McpCall the call of the named tool, for McpResource the call of the server's tool
 * that reads its resources, and for an unknown name that is nearly the name of a server's tool the call of this tool.
 */
function readRequestedCall({ view }: Pick<TaskRun, 'view'>, sent: ToolCallPart): ServerCall {
  const { name } = sent;
  const tools = [...view.keys()];
  // A conversation that goes on with fewer tools may still call those that its requests list now by McpCall.
  const canCall = tools.some((tool) => tool === MCP_CALL || isServerToolName(tool));
  if (name === MCP_CALL && sent.malformed === undefined && canCall) {
    return readServerCall(sent, tools);
  }
  if (canonicalToolName(name) === RESOURCE_TOOL) {
    return { ok: true, call: toResourceCall(view, sent) };
  }
  if (view.has(findToolName(view, name))) return { ok: true, call: sent };
  const meant = resolveServerTool(name, tools, { knowsServer: false });
  return { ok: true, call: meant.name === undefined ? sent : { ...sent, name: meant.name } };
}

/** Returns the call of the named server's tool. A call that names no server is returned unchanged, and is then refused. */
function toResourceCall(view: TaskRun['view'], sent: ToolCallPart): ToolCallPart {
  if (!isJsonObject(sent.input)) return sent;
  const { server, ...rest } = sent.input;
  if (typeof server !== 'string') return sent;
  const name = toResourceTool(server.replace(/^mcp__/, ''));
  return view.has(name) ? { ...sent, name, input: rest } : sent;
}

const INVALID_JSON = 'the arguments are not valid JSON. Send them again, whole.';
const CUT_OFF =
  'this call was cut off at your output limit and did not run. Send less at once: a long text in several calls, one part each.';

/** Returns true for the last call of an answer that was cut off at the model's output limit. */
function isCutOff({ state }: Pick<TaskRun, 'state'>, { id }: ToolCallPart): boolean {
  return state.answer?.reason === 'length' && state.conversation.openCalls.at(-1)?.id === id;
}

/** Returns true if a call waits for other tasks. Such a call needs no slot and has no time limit. */
export function waitsForOthers({ tool, input }: ReadyCall): boolean {
  return tool.waits?.(input) ?? false;
}

function createBrokenCall(
  call: ToolCallPart,
  tool: Pick<AnyTool, 'name'>,
  problem: string,
): BrokenCall {
  const text = `${tool.name}: ${problem}`;
  return { ready: false, call, tool: tool.name, text, error: 'INVALID_PARAM' };
}

/** The parts of the task that makes a call on which the decision about the call depends. */
export interface CallingTask extends Pick<TaskRun, 'spec' | 'state' | 'view'> {
  readonly permissions: CallerPermissions;
}

/**
 * Removes the marks of escaped tags from the arguments of a call. A model copies these marks from the outside text in
 * its request, but the files do not contain them. Texts for other agents keep the marks, since they become part of
 * requests again.
 */
function unescapeArguments(call: ToolCallPart, { kind }: Pick<AnyTool, 'kind'>): ToolCallPart {
  if (kind !== 'read' && kind !== 'edit' && kind !== 'execute') return call;
  const input = removeMarks(call.input);
  return input === call.input ? call : { ...call, input };
}

/** Removes the marks from a value. Returns the same object if it contains none. */
function removeMarks(value: JsonValue): JsonValue {
  if (typeof value === 'string') return unescapeTags(value);
  if (isJsonObject(value)) {
    const entries = Object.entries(value).map(
      ([key, item]) => [key, item === undefined ? item : removeMarks(item)] as const,
    );
    return entries.every(([key, item]) => item === value[key])
      ? value
      : Object.fromEntries(entries);
  }
  if (typeof value !== 'object' || value === null) return value;
  const items = value.map(removeMarks);
  return items.every((item, index) => item === value[index]) ? value : items;
}
