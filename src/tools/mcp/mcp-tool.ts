import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { NO_ACCESS, type McpConfinement } from '../../protocol/permission.ts';
import {
  type FollowContext,
  LEAVE_RUNNING,
  type RemoteOutcome,
  type Tool,
  type ToolContext,
  type ToolOutput,
} from '../../protocol/tool.ts';
import type { McpCallResult, McpProgress, McpTask } from '../../mcp/server-data.ts';
import { McpServerError } from '../../mcp/server-error.ts';
import type { TaskOfCall } from '../../mcp/server-place.ts';
import type { CatalogTool } from '../../mcp/catalog-server.ts';
import { cleanDescription, describeServerHints } from '../../mcp/tool-description.ts';
import { convertToolSchema } from '../../mcp/tool-schema.ts';
import { failure } from '../shared/output.ts';
import type { RunningCalls } from './running-calls.ts';

/** The argument by which a model sends a call to the background, if the server can carry it out as a task. */
const BACKGROUND = 'run_in_background';

/**
 * Creates Muster's tool for a tool of an MCP server. Its calls count as effects, whatever the server says about them:
 * annotations never decide about rights.
 *
 * @param server.confinement how the server is confined; null if nothing confines it
 * @param server.calls the running calls, by which questions and log messages of the server find their task
 */
export function createMcpTool(
  catalogTool: CatalogTool,
  {
    confinement,
    calls,
  }: { readonly confinement: McpConfinement | null; readonly calls: RunningCalls },
): Tool<JsonObject> {
  const { name, tool, call } = catalogTool;
  const serverSays = describeServerHints(tool);
  const { schema, restoreArguments } = convertToolSchema(tool.inputSchema);
  const withBackground = tool.taskSupport === undefined ? null : addBackground(schema);
  return {
    name,
    kind: 'execute',
    replay: 'opaque',
    description: cleanDescription(tool.description),
    inputSchema: withBackground ?? schema,
    ...(serverSays === '' ? {} : { serverSays }),
    parse: (input: JsonValue) =>
      isJsonObject(input)
        ? { ok: true, input }
        : { ok: false, issues: ['input: is not an object; valid: an object of arguments'] },
    // The server decides what it reads and changes.
    describe: () => ({ ...NO_ACCESS, ...(confinement === null ? {} : { server: confinement }) }),
    run: async (input, context) => {
      const { [BACKGROUND]: background, ...others } = input;
      const inBackground = withBackground !== null && background === true;
      const args = restoreArguments(withBackground === null ? input : others);
      const { server } = context;
      const running = calls.start(server);
      try {
        const started = await call(args, {
          signal: context.signal,
          callId: running.id,
          task: toCallingTask(context),
          onProgress: showProgress(context),
        });
        if (started.kind === 'result') return await formatResult(started.result, context);
        const { id, revision } = started.task;
        const reference = { id, revision };
        if (context.remote !== undefined) {
          const title = formatTitle(name, args);
          return await context.remote.follow({ title, reference, inBackground });
        }
        const { signal, attach, taskId, workspace } = context;
        const report = (line: string) => context.progress(line);
        const follower = {
          reference,
          signal,
          taskId,
          workspace,
          report,
          getAttachPort: () => attach,
          ...(server === undefined ? {} : { server }),
        };
        return (await followTask(catalogTool, calls, follower)).output;
      } catch (thrown) {
        return toFailedOutput(thrown, context);
      } finally {
        running.end();
      }
    },
    follow: (reference, context) => followTask(catalogTool, calls, { ...context, reference }),
  };
}

/** Adds the argument for the background to a schema. Returns null if the tool has an argument of that name. */
function addBackground(schema: JsonObject): JsonObject | null {
  const { properties = {} } = schema;
  if (!isJsonObject(properties) || BACKGROUND in properties) return null;
  const description = 'return at once; the result is announced';
  return {
    ...schema,
    properties: { ...properties, [BACKGROUND]: { type: 'boolean', description } },
  };
}

async function formatResult(
  result: McpCallResult,
  context: Pick<ToolContext, 'attach'>,
): Promise<ToolOutput> {
  const { formatMcpResult } = await import('./format-result.ts');
  return await formatMcpResult(result, context);
}

interface FollowedTask extends FollowContext {
  readonly reference: JsonObject;
}

/** Waits for the result of a task of the server. */
async function followTask(
  { follow, cancel }: CatalogTool,
  calls: RunningCalls,
  { reference, server, signal, report, getAttachPort, ...follower }: FollowedTask,
): Promise<RemoteOutcome> {
  const calling = toCallingTask(follower);
  const task = readTask(reference);
  if (task === null) {
    return { output: failure('INTERNAL_ERROR', 'the log names no valid task'), isLost: true };
  }
  const running = calls.start(server);
  try {
    const onStatus = (status: string, message: string) =>
      report(message === '' ? status : `${status}: ${message}`);
    const result = await follow(task, {
      signal,
      callId: running.id,
      task: calling,
      onStatus,
    });
    const attach = getAttachPort();
    const output = await formatResult(result, attach === undefined ? {} : { attach });
    return { output, isLost: false };
  } catch (thrown) {
    if (signal.aborted && signal.reason !== LEAVE_RUNNING) await cancel(task, calling);
    return {
      output: toFailedOutput(thrown, { signal }),
      isLost: thrown instanceof McpServerError && thrown.isOutcomeUnknown,
    };
  } finally {
    running.end();
  }
}

/** Returns the task of a call, and the workspace for which its servers work. */
export function toCallingTask({
  taskId,
  workspace,
}: Pick<ToolContext, 'taskId' | 'workspace'>): TaskOfCall {
  return { id: taskId, workspace };
}

function readTask({ id, revision }: JsonObject): McpTask | null {
  if (typeof id !== 'string') return null;
  return revision === '2025-11-25' || revision === '2026-07-28' ? { id, revision } : null;
}

/** The maximum length of the arguments in the title of a call. */
const MAX_TITLE_LENGTH = 200;

/** Formats the title of a call: the name of the tool, and the arguments if they are short. */
function formatTitle(name: string, args: JsonObject): string {
  const text = JSON.stringify(args);
  return text.length > MAX_TITLE_LENGTH ? name : `${name} ${text}`;
}

/** The shortest time between two reports of progress. */
const PROGRESS_MS = 200;

/** Returns the listener that shows the newest progress of a call, but not more often than a person can read it. */
function showProgress({
  clock,
  progress: show,
}: Pick<ToolContext, 'clock' | 'progress'>): (progress: McpProgress) => void {
  let shownAt = -Infinity;
  return ({ progress, total, message }) => {
    const now = clock.monotonic();
    if (now - shownAt < PROGRESS_MS) return;
    shownAt = now;
    const line = formatProgress(progress, total, message);
    show(line, [line]);
  };
}

function formatProgress(progress: number, total?: number, message = ''): string {
  const share = total === undefined || total <= 0 ? `${progress}` : `${progress} of ${total}`;
  return message === '' ? share : `${share}: ${message}`;
}

/** Describes the failure of a call for the model. Throws what is no failure of a server. */
export function toFailedOutput(
  thrown: unknown,
  { signal }: Pick<ToolContext, 'signal'>,
): ToolOutput {
  if (!(thrown instanceof McpServerError) || signal.aborted) throw thrown;
  const unknown = thrown.isOutcomeUnknown
    ? ' It is not known whether the call had an effect: look before you repeat it.'
    : '';
  return failure(thrown.code, `${thrown.message}${unknown}`);
}
