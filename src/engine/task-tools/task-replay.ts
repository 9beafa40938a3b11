import { argumentsSchema, failedCall, ArgumentReader, TASK_ID_ALIASES } from './argument-reader.ts';
import { steadyTime } from '../../protocol/state/steady-time.ts';
import { MusterError } from '../../base/errors.ts';
import type { JsonValue } from '../../base/json.ts';
import { byteLength, formatDuration, truncate } from '../../base/text.ts';
import type { Tool, ToolContext, ToolOutput, ValidationResult } from '../../protocol/tool.ts';
import { findVisibleTask } from '../delegation/visible-tasks.ts';
import { type EngineContext, requireCaller } from '../delegation/engine-context.ts';
import { stripStamp } from '../../protocol/events/event-body.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';

interface TaskReplayInput {
  readonly taskId: string;
  /** The number of the first event to show. */
  readonly from: number;
  readonly limit: number;
}

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;
/** The bytes reserved for the line that says how to read the rest. */
const NOTE_BYTES = 200;

/** Creates the tool that shows the events of a task in order: one line for each event, and one page for each call. */
export function taskReplayTool(engine: EngineContext): Tool<TaskReplayInput> {
  return {
    name: 'TaskReplay',
    kind: 'meta',
    replay: 'pure',
    description: 'What your subagent did: its events from number `from` on, a line each.',
    inputSchema: argumentsSchema(['task_id'], {
      task_id: { type: 'string' },
      from: { type: 'integer' },
      limit: { type: 'integer', maximum: MAX_LIMIT, description: `default ${DEFAULT_LIMIT}` },
    }),
    parse,
    run: (input, context) => replay(engine, input, context),
  };
}

function parse(value: JsonValue): ValidationResult<TaskReplayInput> {
  const args = new ArgumentReader(value, ['task_id', 'from', 'limit'], TASK_ID_ALIASES);
  return args.result({
    taskId: args.text('task_id', 'the id of a task, or the beginning of one'),
    from: args.count('from', { fallback: 0, min: 0, max: Number.MAX_SAFE_INTEGER }),
    limit: args.count('limit', { fallback: DEFAULT_LIMIT, min: 1, max: MAX_LIMIT }),
  });
}

async function replay(
  engine: EngineContext,
  { taskId: reference, ...page }: TaskReplayInput,
  context: ToolContext,
): Promise<ToolOutput> {
  const caller = requireCaller(engine, context);
  const found = findVisibleTask(caller, engine.running, { field: 'task_id', reference });
  if (found instanceof MusterError) return failedCall('TaskReplay', found);
  const { id } = found;
  if (found.kind === 'shell') {
    const text = `TaskReplay: task_id: ${id} is a shell; TaskOutput reads it`;
    return { text, error: 'INVALID_PARAM' };
  }
  try {
    return { text: await readPage(engine, { ...page, taskId: id }, context) };
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    return failedCall('TaskReplay', thrown);
  }
}

async function readPage(
  { deps }: EngineContext,
  { taskId, from, limit }: TaskReplayInput,
  { caps, signal }: ToolContext,
): Promise<string> {
  const page = new EventPage(limit, caps.resultBytes - NOTE_BYTES);
  let start: number | null = null;
  let end = 0;
  for await (const event of deps.store.streamEvents(taskId, 0)) {
    signal.throwIfAborted();
    start ??= steadyTime(event);
    end = event.seq + 1;
    if (event.seq >= from) page.add(event.seq, formatEventLine(event, start));
  }
  if (page.lines.length === 0) return `[No event from ${from} on; the log has ${end} so far]`;
  const next = page.next;
  const rest =
    next === null
      ? `[Events ${from} to ${end - 1}: all of the log so far]`
      : `[Events ${from} to ${next - 1} of ${end}. Read on: TaskReplay(task_id: "${taskId}", from: ${next})]`;
  return [...page.lines, rest].join('\n');
}

/** Collects lines as long as they fit. A page has at least one line, so that reading page by page comes to an end. */
class EventPage {
  readonly lines: string[] = [];
  /** The number of the first event that does not fit, or null if all events fit. */
  next: number | null = null;
  private readonly limit: number;
  private bytesLeft: number;

  constructor(limit: number, bytes: number) {
    this.limit = limit;
    this.bytesLeft = bytes;
  }

  add(seq: number, line: string): void {
    if (this.next !== null) return;
    const bytes = byteLength(line) + 1;
    const isFull = this.lines.length >= this.limit || bytes > this.bytesLeft;
    if (isFull && this.lines.length > 0) {
      this.next = seq;
      return;
    }
    this.lines.push(line);
    this.bytesLeft -= bytes;
  }
}

/** The maximum number of code points of one string in an event, and of one line. */
const MAX_STRING_LENGTH = 160;
const MAX_LINE_LENGTH = 800;

/**
 * Formats an event as one line for a model: its number, the time since `start` (steady time of the log), its type and
 * its fields. Long strings are cut.
 */
export function formatEventLine(event: TaskEvent, start: number): string {
  const { type, ...fields } = stripStamp(event);
  const since = Math.max(0, steadyTime(event) - start);
  const shown = event.type === 'task.created' ? selectSpecFields(event) : fields;
  // JSON contains no line breaks.
  const json = JSON.stringify(shown, (_, value: unknown) =>
    typeof value === 'string' ? shorten(value, MAX_STRING_LENGTH) : value,
  );
  return shorten(`${event.seq} +${formatDuration(since)} ${type} ${json}`, MAX_LINE_LENGTH);
}

/** Selects the fields of a specification that are useful for a model. */
function selectSpecFields({ spec }: Extract<TaskEvent, { type: 'task.created' }>) {
  const { parent, depth, agent, model, description, prompt, mentions, tools } = spec;
  return {
    parent,
    depth,
    agent: agent.name,
    model: `${model.provider}/${model.id}`,
    description,
    prompt,
    ...(mentions === undefined ? {} : { mentions }),
    tools,
  };
}

function shorten(text: string, maxLength: number): string {
  const shown = truncate(text, maxLength);
  return shown.length === text.length ? text : `${shown}… [${text.length} characters]`;
}
