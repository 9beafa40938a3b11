import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  Role,
  TaskState,
  type AgentCard,
  type Artifact,
  type Message,
  type Part,
  type StreamResponse,
} from '@a2a-js/sdk';
import {
  AgentEvent,
  DefaultRequestHandler,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  ServerCallContext,
  type AgentExecutor,
  type ExecutionEventBus,
  type RequestContext,
} from '@a2a-js/sdk/server';

/** A server on the loopback interface, and the requests that it got. */
export interface TestServer {
  readonly origin: string;
  /** The requests in the order in which they arrived, as `METHOD path` or `METHOD path rpc-method`. */
  readonly requests: readonly ServerRequest[];
  close(): Promise<void>;
}

interface ServerRequest {
  readonly line: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

type Handler = (
  request: ServerRequest & { readonly url: string },
  response: ServerResponse,
) => unknown;

/** Starts a server whose handler gets complete requests. `port`: 0 for any free port. */
export async function startServer(handle: Handler, port = 0): Promise<TestServer> {
  const requests: ServerRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces).toString('utf8');
    const { method = '', url = '', headers } = incoming;
    const rpc = (JSON.parse(body || '{}') as { readonly method?: string }).method;
    const request = { line: [method, url, rpc].filter(Boolean).join(' '), headers, body };
    requests.push(request);
    await handle({ ...request, url }, response);
  });
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

export const CARD_PATH = '/.well-known/agent-card.json';

interface AgentServerOptions {
  readonly streaming?: boolean;
  /** The header and the value that every request except that for the card must have. */
  readonly secret?: readonly [header: string, value: string];
  readonly port?: number;
}

/** Starts the agent of the SDK's samples, with a few more abilities, behind the SDK's own request handler. */
export async function startAgentServer({
  streaming = true,
  secret,
  port,
}: AgentServerOptions = {}): Promise<TestServer & { readonly card: string }> {
  const card = createCard('', streaming);
  const executor = new TestAgent();
  const handler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
  const rpc = new JsonRpcTransportHandler(handler);
  const server = await startServer(async ({ url, headers, body }, response) => {
    if (url === CARD_PATH) {
      sendJson(response, 200, createCard(`http://${headers.host}/a2a`, streaming));
      return;
    }
    if (secret !== undefined && headers[secret[0]] !== secret[1]) {
      sendJson(response, 401, { message: 'who are you?' });
      return;
    }
    const context = new ServerCallContext({ requestedVersion: String(headers['a2a-version']) });
    const result = await rpc.handle(body, context);
    if (!(Symbol.asyncIterator in result)) {
      sendJson(response, 200, result);
      return;
    }
    try {
      for await (const event of result) {
        if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(`data: ${JSON.stringify(event)}\n\n`);
      }
      response.end();
    } catch (thrown) {
      const { id } = JSON.parse(body) as { readonly id: number };
      const error = JsonRpcTransportHandler.mapToJSONRPCError(thrown);
      sendJson(response, 200, { jsonrpc: '2.0', id, error });
    }
  }, port);
  return { ...server, card: `${server.origin}${CARD_PATH}` };
}

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

/** Creates the card of an agent with one interface. */
export function createCard(url: string, streaming: boolean, binding = 'JSONRPC'): AgentCard {
  return {
    name: 'Test Agent',
    description: 'Does what the first word of a message says.',
    supportedInterfaces: [{ url, protocolBinding: binding, tenant: '', protocolVersion: '1.0' }],
    provider: undefined,
    version: '1.0.0',
    capabilities: { streaming, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ['text'],
    defaultOutputModes: ['text'],
    skills: [],
    signatures: [],
  };
}

export function textPart(value: string): Part {
  return { content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: '' };
}

export function agentMessage(text: string, ids = { taskId: '', contextId: '' }): Message {
  return {
    messageId: `m-${text}`,
    ...ids,
    role: Role.ROLE_AGENT,
    parts: [textPart(text)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

export function artifact(artifactId: string, parts: readonly Part[], name = ''): Artifact {
  return {
    artifactId,
    name,
    description: '',
    parts: [...parts],
    metadata: undefined,
    extensions: [],
  };
}

/** Creates an update of the state of a task. */
export function statusUpdate(
  state: TaskState,
  text = '',
  ids = { taskId: 'task-1', contextId: 'context-1' },
): StreamResponse['payload'] {
  const message = text === '' ? undefined : agentMessage(text, ids);
  const status = { state, message, timestamp: undefined };
  return { $case: 'statusUpdate', value: { ...ids, status, metadata: undefined } };
}

class TestAgent implements AgentExecutor {
  private readonly stopped = new Set<string>();
  private readonly waiting = new Map<string, () => void>();

  cancelTask = async (taskId: string): Promise<void> => {
    this.stopped.add(taskId);
    this.waiting.get(taskId)?.();
    await Promise.resolve();
  };

  async execute(context: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const { taskId, contextId, userMessage, task } = context;
    const ids = { taskId, contextId };
    const said = userMessage.parts.map(({ content }) => String(content?.value)).join('');
    const report = (state: TaskState, text = ''): void => {
      const message = text === '' ? undefined : agentMessage(text, ids);
      const status = { state, message, timestamp: undefined };
      bus.publish(AgentEvent.statusUpdate({ ...ids, status, metadata: undefined }));
    };
    const give = (given: Artifact, append = false): void =>
      bus.publish(
        AgentEvent.artifactUpdate({
          ...ids,
          artifact: given,
          append,
          lastChunk: false,
          metadata: undefined,
        }),
      );
    if (said.startsWith('message')) {
      bus.publish(AgentEvent.message(agentMessage('Just a message.', { taskId: '', contextId })));
      bus.finished();
      return;
    }
    bus.publish(
      AgentEvent.task(
        task ?? {
          id: taskId,
          contextId,
          status: {
            state: TaskState.TASK_STATE_SUBMITTED,
            message: undefined,
            timestamp: undefined,
          },
          artifacts: [],
          history: [userMessage],
          metadata: undefined,
        },
      ),
    );
    report(TaskState.TASK_STATE_WORKING, 'Thinking about it.');
    await this.act({ said, isAnswer: task !== undefined, taskId, report, give });
    bus.finished();
  }

  private async act({
    said,
    isAnswer,
    taskId,
    report,
    give,
  }: {
    readonly said: string;
    readonly isAnswer: boolean;
    readonly taskId: string;
    readonly report: (state: TaskState, text?: string) => void;
    readonly give: (given: Artifact, append?: boolean) => void;
  }): Promise<void> {
    if (isAnswer) {
      report(TaskState.TASK_STATE_COMPLETED, `You chose: ${said}`);
    } else if (said.startsWith('ask')) {
      report(TaskState.TASK_STATE_INPUT_REQUIRED, 'Which colour?');
    } else if (said.startsWith('fail')) {
      report(TaskState.TASK_STATE_FAILED, 'The disk is on fire.');
    } else if (said.startsWith('reject')) {
      report(TaskState.TASK_STATE_REJECTED, 'Not my job.');
    } else if (said.startsWith('login')) {
      report(TaskState.TASK_STATE_AUTH_REQUIRED, 'Log in at https://login.example.');
    } else if (said.startsWith('wait')) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.waiting.set(taskId, resolve);
      if (!this.stopped.has(taskId)) await promise;
      report(TaskState.TASK_STATE_CANCELED);
    } else if (said.startsWith('huge')) {
      for (let count = 0; count < 100; count += 1)
        give(artifact('huge', [textPart('x'.repeat(100_000))]), count > 0);
      report(TaskState.TASK_STATE_COMPLETED);
    } else {
      give(artifact('answer', [textPart('Hello, ')]));
      give(artifact('answer', [textPart(`${said.slice(-40)}!`)]), true);
      report(TaskState.TASK_STATE_COMPLETED);
    }
  }
}
