import { fromJsonSchema, type McpServer, type ServerContext } from '@modelcontextprotocol/server';
import { dropMissing } from '../../base/drop-missing.ts';
import { createProgressReport } from './progress.ts';
import type { ServedClient } from './served-client.ts';
import type { StartTask } from './served-tasks.ts';
import { describeProtocolTask } from './task-utilities.ts';
import { createdTaskAnswer, findWantedRevision } from './task-wire.ts';
import {
  endedAnswer,
  failedAnswer,
  listAnswer,
  LIST_SCHEMA,
  pageAnswer,
  PAGE_LENGTH,
  RESULT_SCHEMA,
  runningAnswer,
  runningText,
  sentAnswer,
  type ToolAnswer,
} from './tool-answers.ts';

export interface ServedToolsParts {
  readonly agents: readonly { readonly name: string; readonly description: string }[];
  readonly client: ServedClient;
  /** True if each agent is a tool of its own as well. */
  readonly hasToolPerAgent: boolean;
}

type JsonSchema = Parameters<typeof fromJsonSchema>[0];

/** The arguments of the tools. The schema of a tool decides which of them it has. */
interface ToolInput {
  readonly prompt?: string;
  readonly agent?: string;
  readonly run_in_background?: boolean;
  readonly task_id?: string;
  readonly wait_seconds?: number;
  readonly offset?: number;
  readonly message?: string;
}

interface ServedTool {
  readonly name: string;
  readonly description: string;
  readonly properties: Record<string, JsonSchema>;
  readonly required: (keyof ToolInput)[];
  /** Set if a client can have the call carried out as a task of the protocol. */
  readonly canBecomeTask?: true;
  /** Default: the schema of an answer about one task. */
  readonly outputSchema?: JsonSchema;
  handle(input: ToolInput, context: ServerContext): Promise<ToolAnswer> | ToolAnswer;
}

/** The maximum wait of TaskOutput, and its default, in seconds. */
const MAX_WAIT_SECONDS = 600;
const DEFAULT_WAIT_SECONDS = 30;

const TASK_ID: JsonSchema = { type: 'string', description: 'the task_id of a Task' };
const PROMPT: JsonSchema = { type: 'string', description: 'all that the subagent needs to know' };
const BACKGROUND: JsonSchema = {
  type: 'boolean',
  description: 'return at once; read the result with TaskOutput',
};

/** The parts of a tool that uses tasks. */
interface TaskToolParts extends ServedToolsParts {
  /** Reads from a request about a task whether its client can ask, and the answers that it brings. */
  readonly useRequest: (id: string, context: ServerContext) => void;
  /** Starts a task, and tells a client that lists its tasks that their resources have changed. */
  readonly startTask: (request: StartTask) => string;
}

/** Registers the tools for tasks with a server. */
export function registerTools(server: McpServer, served: ServedToolsParts): void {
  const parts: TaskToolParts = {
    ...served,
    useRequest: (id, context) =>
      served.client.asker.use(id, context, server.server.getClientCapabilities()),
    startTask: (request) => {
      const { tasks } = served.client;
      const id = tasks.start(request);
      // A client that has gone ends its requests, which is how the task learns of it.
      if (tasks.areListed) server.server.sendResourceListChanged().catch(() => {});
      return id;
    },
  };
  for (const tool of [...listTaskTools(parts), ...listControlTools(parts)]) {
    const { name, description, properties, required, outputSchema = RESULT_SCHEMA } = tool;
    const schema = { type: 'object' as const, properties, required, additionalProperties: false };
    const schemas = {
      inputSchema: fromJsonSchema<ToolInput>(schema),
      outputSchema: fromJsonSchema(outputSchema),
    };
    const registered = server.registerTool(
      name,
      { description, ...schemas },
      async (input, context) => {
        try {
          return await tool.handle(input, context);
        } catch (thrown) {
          return failedAnswer(thrown);
        }
      },
    );
    if (tool.canBecomeTask === true) registered.execution = { taskSupport: 'optional' };
  }
}

/** Lists the tools that start tasks. */
function listTaskTools(parts: TaskToolParts): readonly ServedTool[] {
  const { agents, client, hasToolPerAgent, startTask, useRequest } = parts;
  const { tasks } = client;
  const start = async (
    agent: string,
    input: ToolInput,
    context: ServerContext,
  ): Promise<ToolAnswer> => {
    // The state is set if the request is repeated with the answer to a question.
    const id =
      context.mcpReq.requestState<string>() ?? startTask({ prompt: input.prompt ?? '', agent });
    useRequest(id, context);
    const revision = findWantedRevision(context);
    if (revision !== null) {
      return createdTaskAnswer(
        revision,
        describeProtocolTask(client, id, revision),
        runningText(id),
      );
    }
    if (input.run_in_background === true) return runningAnswer(id);
    // Without a time limit, only a cancelled request ends before its task, which ends with it.
    return (await waitFor(parts, id, { context })) ?? endedAnswer(await tasks.stop(id));
  };
  const list = agents.map(({ name, description }) => `- ${name}: ${description}`).join('\n');
  const names = new Set(['Task']);
  return [
    {
      name: 'Task',
      description: `Give a task to a subagent, which works alone with tools of its own and returns its answer. Agents:\n${list}`,
      properties: {
        prompt: PROMPT,
        agent: { type: 'string', enum: agents.map(({ name }) => name) },
        run_in_background: BACKGROUND,
      },
      required: ['prompt', 'agent'],
      canBecomeTask: true,
      handle: async (input, context) => await start(input.agent ?? '', input, context),
    },
    ...(hasToolPerAgent ? agents : []).map(({ name, description }): ServedTool => {
      return {
        name: createToolName(name, names),
        description: `Give a task to the subagent ${name}, which works alone and returns its answer. ${description}`,
        properties: { prompt: PROMPT, run_in_background: BACKGROUND },
        required: ['prompt'],
        canBecomeTask: true,
        handle: async (input, context) => await start(name, input, context),
      };
    }),
  ];
}

/** Lists the tools for tasks that were started. */
function listControlTools(parts: TaskToolParts): readonly ServedTool[] {
  const { useRequest } = parts;
  const { tasks } = parts.client;
  return [
    {
      name: 'TaskOutput',
      description: `The state or the result of a task. Waits at most wait_seconds for its end. offset reads on in an answer of more than ${PAGE_LENGTH} characters.`,
      properties: {
        task_id: TASK_ID,
        wait_seconds: {
          type: 'integer',
          minimum: 0,
          maximum: MAX_WAIT_SECONDS,
          description: `default ${DEFAULT_WAIT_SECONDS}`,
        },
        offset: { type: 'integer', minimum: 0 },
      },
      required: ['task_id'],
      async handle(
        { task_id: id = '', wait_seconds: seconds = DEFAULT_WAIT_SECONDS, offset },
        context,
      ) {
        useRequest(id, context);
        const request = { context, ms: seconds * 1000, ...dropMissing({ offset }) };
        return (await waitFor(parts, id, request)) ?? runningAnswer(id);
      },
    },
    {
      name: 'TaskSend',
      description:
        'Send a message to a task. A task that has ended continues with it in the background.',
      properties: { task_id: TASK_ID, message: { type: 'string' } },
      required: ['task_id', 'message'],
      async handle({ task_id: id = '', message = '' }, context) {
        useRequest(id, context);
        return sentAnswer(id, await tasks.send(id, message));
      },
    },
    {
      name: 'TaskStop',
      description: 'Stop a task with all tasks below it.',
      properties: { task_id: TASK_ID },
      required: ['task_id'],
      handle: async ({ task_id: id = '' }) => endedAnswer(await tasks.stop(id)),
    },
    {
      name: 'TaskList',
      description: 'The tasks that were started through this server.',
      properties: {},
      required: [],
      outputSchema: LIST_SCHEMA,
      handle: () => listAnswer({ areListed: tasks.areListed, list: tasks.list() }),
    },
  ];
}

interface WaitRequest {
  readonly context: ServerContext;
  /** The maximum time in milliseconds. Default: until the task ends. */
  readonly ms?: number;
  /** The number of characters after which the returned part of the answer begins. Default: the answer as a parent gets it. */
  readonly offset?: number;
}

/** Waits for a task, and has the client ask the user its questions. Null if the task still runs when the wait is over. */
async function waitFor(
  { client }: ServedToolsParts,
  id: string,
  { context, ms, offset }: WaitRequest,
): Promise<ToolAnswer | null> {
  const { asker, tasks } = client;
  for (;;) {
    const outcome = await tasks.wait(id, {
      signal: context.mcpReq.signal,
      ...dropMissing({ ms, onEvent: createProgressReport(context) }),
    });
    if (outcome.kind === 'ended')
      return offset === undefined
        ? endedAnswer(outcome.result)
        : pageAnswer(outcome.result, offset);
    if (outcome.kind === 'runs' || context.mcpReq.signal.aborted) return null;
    const request = await asker.ask(id, outcome.question, context);
    if (request !== null) return request;
  }
}

/** The maximum length of the name of a tool that all clients accept. */
const MAX_TOOL_NAME = 60;

/** Creates the name of the tool for an agent, which has fewer kinds of characters, and adds it to the used names. */
function createToolName(agent: string, used: Set<string>): string {
  const base = `Task_${agent.replaceAll(/[^A-Za-z0-9_-]/g, '_')}`.slice(0, MAX_TOOL_NAME);
  let name = base;
  for (let number = 2; used.has(name); number += 1) name = `${base}_${number}`;
  used.add(name);
  return name;
}
