import type {
  CallToolResult,
  fromJsonSchema,
  InputRequiredResult,
} from '@modelcontextprotocol/server';
import { errorInfo, MusterError } from '../../base/errors.ts';
import type { ServedTask } from './served-tasks.ts';
import { TASK_STATUSES, type ResultEnvelope } from '../../protocol/result.ts';

type JsonSchema = Parameters<typeof fromJsonSchema>[0];

/** An answer of a tool of the server: a result, or a question to the user after whose answer the request is repeated. */
export type ToolAnswer = CallToolResult | InputRequiredResult;

/** The number of characters of an answer that one call of TaskOutput returns. */
export const PAGE_LENGTH = 20_000;

/** The schema of the structured result of the tools that answer about one task. */
export const RESULT_SCHEMA = {
  type: 'object',
  properties: {
    task_id: { type: 'string' },
    status: { type: 'string', enum: [...TASK_STATUSES] },
    agent: { type: 'string' },
    result: { type: 'string', description: 'the answer, or this part of it' },
    next_offset: { type: 'integer', description: 'where the rest of the answer begins' },
    files_modified: { type: 'array', items: { type: 'string' } },
    cost_usd: { type: ['number', 'null'] },
    turns: { type: 'integer' },
  },
  required: ['task_id', 'status'],
} satisfies JsonSchema;

/** The schema of the structured result of TaskList. */
export const LIST_SCHEMA = {
  type: 'object',
  properties: {
    tasks: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          task_id: { type: 'string' },
          agent: { type: 'string' },
          description: { type: 'string' },
          status: { type: 'string', enum: [...TASK_STATUSES] },
        },
        required: ['task_id', 'agent', 'description', 'status'],
      },
    },
  },
  required: ['tasks'],
} satisfies JsonSchema;

/** Answers with the result of a task that has ended, as a parent in Muster gets it. */
export function endedAnswer(envelope: ResultEnvelope): CallToolResult {
  return createAnswer(envelope, { text: envelope.text, result: envelope.data.result });
}

/** Answers with the part of a result that begins at a number of characters. */
export function pageAnswer(envelope: ResultEnvelope, offset: number): CallToolResult {
  const { result } = envelope.data;
  const part = result.slice(offset, offset + PAGE_LENGTH);
  const next = offset + part.length;
  const isWhole = next >= result.length;
  const rest = isWhole ? '' : `\n\n[${result.length - next} more characters: offset ${next}]`;
  return createAnswer(envelope, {
    text: `${part}${rest}`,
    result: part,
    ...(isWhole ? {} : { next_offset: next }),
  });
}

function createAnswer(
  { status, data }: ResultEnvelope,
  {
    text,
    ...part
  }: { readonly text: string; readonly result: string; readonly next_offset?: number },
): CallToolResult {
  return {
    content: [{ type: 'text', text }],
    structuredContent: {
      task_id: data.task_id,
      status: data.status,
      agent: data.subagent_type,
      ...part,
      files_modified: data.files_modified,
      cost_usd: data.cost_usd,
      turns: data.turns,
    },
    isError: status === 'error',
  };
}

/** Tells a model what it can do with a running task. */
export function runningText(id: string): string {
  return `Task ${id} is running. TaskOutput waits for its result; TaskStop stops it.`;
}

/** Answers that a task is still running. */
export function runningAnswer(id: string): CallToolResult {
  return {
    content: [{ type: 'text', text: runningText(id) }],
    structuredContent: { task_id: id, status: 'running' },
  };
}

/** Answers that a message was sent to a task, or that the task continues with it. */
export function sentAnswer(id: string, how: 'sent' | 'continued'): CallToolResult {
  const text =
    how === 'sent'
      ? `Task ${id} reads the message before its next step.`
      : `Task ${id} continues. TaskOutput waits for its result.`;
  return {
    content: [{ type: 'text', text }],
    structuredContent: { task_id: id, status: 'running' },
  };
}

/** Answers with the tasks that the client may see. */
export function listAnswer({
  areListed,
  list,
}: {
  readonly areListed: boolean;
  readonly list: readonly ServedTask[];
}): CallToolResult {
  const rows = list.map(({ id, agent, description, status }) => {
    return { task_id: id, agent, description, status };
  });
  const lines = rows.map((row) => `${row.task_id} ${row.status} ${row.agent}: ${row.description}`);
  const none = areListed
    ? 'No task was started through this server.'
    : 'This connection has no session, so its tasks are not listed. Each of them is reached by its task_id.';
  const text = lines.length === 0 ? none : lines.join('\n');
  return { content: [{ type: 'text', text }], structuredContent: { tasks: rows } };
}

/** Answers with an error that a model can read. An error of Muster itself is thrown again. */
export function failedAnswer(thrown: unknown): CallToolResult {
  if (!(thrown instanceof MusterError)) throw thrown;
  const { code, message } = errorInfo(thrown);
  return { content: [{ type: 'text', text: `${code}: ${message}` }], isError: true };
}
