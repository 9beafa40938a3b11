import type { ToolCallPart } from '../../protocol/message.ts';
import { NO_ACCESS } from '../../protocol/permission.ts';
import { refuseMissingTool } from '../../policy/decide.ts';
import { canonicalToolName } from '../../protocol/tool-aliases.ts';
import type { AnyTool } from '../../protocol/tool.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { ReadyCall, PreparedCall, BrokenCall } from '../task/prepared-call.ts';
import type { CallerPermissions } from '../task/task-permissions.ts';
import { unescapeTags } from '../../base/control-tags.ts';
import { isJsonObject, type JsonValue } from '../../base/json.ts';

/** Reads the tool, the arguments and the access of a call: everything that is known before it is decided about. */
export function prepareCall(
  run: Pick<TaskRun, 'spec' | 'state' | 'view'>,
  asked: ToolCallPart,
): PreparedCall {
  const name = canonicalToolName(asked.name) ?? asked.name;
  const tool = run.view.get(name);
  if (tool === undefined) {
    const decision = refuseMissingTool(asked.name, {
      tools: [...run.view.keys()],
      isForked: run.spec.inherited !== undefined,
    });
    return {
      ready: false,
      call: asked,
      tool: name,
      text: decision.reason,
      error: 'PERMISSION_DENIED',
      decision,
    };
  }
  const call = unescapeArguments(asked, tool);
  if (call.malformed !== undefined) {
    return broken(call, tool, isCut(run, call) ? CUT : NO_JSON);
  }
  const parsed = tool.parse(call.input);
  if (!parsed.ok) return broken(call, tool, parsed.issues.join('; '));
  const access = tool.describe?.(parsed.input, { cwd: run.spec.cwd }) ?? null;
  return {
    ready: true,
    call,
    tool,
    input: parsed.input,
    ...(parsed.notes === undefined ? {} : { notes: parsed.notes }),
    access: access ?? (tool.kind === 'meta' ? NO_ACCESS : null),
  };
}

const NO_JSON = 'the arguments are not valid JSON. Send them again, whole.';
const CUT =
  'this call was cut off at your output limit and did not run. Send less at once: a long text in several calls, one part each.';

/** Returns true for the last call of an answer that the model's output limit ended. */
function isCut({ state }: Pick<TaskRun, 'state'>, { id }: ToolCallPart): boolean {
  return state.answer?.reason === 'length' && state.conversation.openCalls.at(-1)?.id === id;
}

/** Returns true if a call waits for other tasks. Such a call needs no slot and has no time limit. */
export function waitsForOthers({ tool, input }: ReadyCall): boolean {
  return tool.waits?.(input) ?? false;
}

function broken(call: ToolCallPart, tool: AnyTool, problem: string): BrokenCall {
  const text = `${tool.name}: ${problem}`;
  return { ready: false, call, tool: tool.name, text, error: 'INVALID_PARAM' };
}

/** The task that makes a call, as far as the decision about the call depends on it. */
export interface CallingTask extends Pick<TaskRun, 'spec' | 'state' | 'view'> {
  readonly permissions: CallerPermissions;
}

/**
 * Removes the marks of escaped tags from the arguments of a call. A model copies them from the outside text in its
 * request, but they are not in the file. Texts for other agents keep the marks, which are needed there.
 */
function unescapeArguments(call: ToolCallPart, { kind }: Pick<AnyTool, 'kind'>): ToolCallPart {
  if (kind !== 'read' && kind !== 'edit' && kind !== 'execute') return call;
  const input = withoutMarks(call.input);
  return input === call.input ? call : { ...call, input };
}

/** Removes the marks from a value. Returns the same value if it has none. */
function withoutMarks(value: JsonValue): JsonValue {
  if (typeof value === 'string') return unescapeTags(value);
  if (isJsonObject(value)) {
    const entries = Object.entries(value).map(
      ([key, item]) => [key, item === undefined ? item : withoutMarks(item)] as const,
    );
    return entries.every(([key, item]) => item === value[key])
      ? value
      : Object.fromEntries(entries);
  }
  if (typeof value !== 'object' || value === null) return value;
  const items = value.map(withoutMarks);
  return items.every((item, index) => item === value[index]) ? value : items;
}
