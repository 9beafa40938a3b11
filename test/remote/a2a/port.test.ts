import type { ServerResponse } from 'node:http';
import { TaskState } from '@a2a-js/sdk';
import * as fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { Deadlines } from '../../../src/base/deadlines.ts';
import { userMessage, type Message } from '../../../src/protocol/message.ts';
import type { ModelPart } from '../../../src/protocol/model.ts';
import type { A2aServer, RemoteTask } from '../../../src/protocol/remote-agent.ts';
import { createA2aPort, type A2aPortDeps } from '../../../src/remote/a2a/port.ts';
import { createHttpFetch } from '../../../src/sys/http/http-fetch.ts';
import {
  CARD_PATH,
  createCard,
  sendJson,
  startAgentServer,
  startServer,
  statusUpdate,
  type TestServer,
} from './agent-server.ts';

const secrets: string[] = [];
const servers: TestServer[] = [];

afterEach(async () => {
  secrets.length = 0;
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function opened<Server extends TestServer>(starting: Promise<Server>): Promise<Server> {
  const server = await starting;
  servers.push(server);
  return server;
}

function createPort(options: Partial<A2aPortDeps> = {}) {
  return createA2aPort({
    fetch: createHttpFetch({}),
    deadlines: new Deadlines(systemClock),
    environment: {},
    ownSecrets: new Set(),
    keys: { read: () => Promise.reject(new Error('no commands')) },
    addSecret: (secret) => secrets.push(secret),
    allowedOrigins: [],
    ...options,
    limits: { pollMs: [1, 5], ...options.limits },
  });
}

interface Ask {
  readonly card: A2aServer['card'];
  readonly messages: string | readonly Message[];
  readonly server?: Partial<A2aServer>;
  readonly task?: Partial<RemoteTask>;
  readonly options?: Partial<A2aPortDeps>;
  /** Default: a port with these options. */
  readonly port?: ReturnType<typeof createPort>;
  readonly signal?: AbortSignal;
}

/** The port does not look at the rights of a task: the server has nothing of the user's machine. */
const RIGHTS = {} as RemoteTask['rights'];

function ask({
  card,
  messages,
  server,
  task,
  options,
  port,
  signal,
}: Ask): AsyncIterable<ModelPart> {
  const agent: A2aServer = { protocol: 'a2a', card, ...server };
  return (port ?? createPort(options)).stream(
    {
      model: { provider: 'a2a', id: 'far', chain: [] },
      prefix: { system: [], tools: [] },
      messages: typeof messages === 'string' ? [userMessage(messages)] : messages,
      toolChoice: 'auto',
      remote: {
        agent,
        name: 'far',
        path: '/agents/far.md',
        isForeign: false,
        instructions: '',
        task: 'tsk_1',
        cwd: '/project',
        rights: RIGHTS,
        mayChange: false,
        ...task,
      },
    },
    signal ?? new AbortController().signal,
  );
}

async function collect(parts: AsyncIterable<ModelPart>): Promise<readonly ModelPart[]> {
  const all: ModelPart[] = [];
  for await (const part of parts) all.push(part);
  return all;
}

async function lastOf(asked: Ask): Promise<ModelPart | undefined> {
  return (await collect(ask(asked))).at(-1);
}

function answerOf(part: ModelPart | undefined) {
  if (part?.type !== 'finished') throw new Error(`not finished: ${JSON.stringify(part)}`);
  return part.message;
}

const failure = (kind: string, message: unknown, more = {}) => ({
  type: 'failed',
  failure: { kind, message, retryable: false, ...more },
});

const NO_COUNTS = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };

describe('the agent of the SDK', () => {
  test('its stream becomes thinking, text and an answer with the conversation of the server', async () => {
    const { card, requests } = await opened(startAgentServer());
    expect(await collect(ask({ card, messages: 'world' }))).toEqual([
      { type: 'accepted' },
      { type: 'reasoning_delta', text: 'Thinking about it.\n' },
      { type: 'text_delta', text: 'Hello, ' },
      { type: 'text_delta', text: 'world!' },
      {
        type: 'finished',
        message: {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: 'Thinking about it.' },
            {
              type: 'text',
              text: 'Hello, world!',
              meta: { a2a: { contextId: expect.any(String) } },
            },
          ],
        },
        usage: NO_COUNTS,
        usageMissing: 'all',
        reason: 'stop',
      },
    ]);
    expect(requests.map(({ line }) => line)).toEqual([
      `GET ${CARD_PATH}`,
      'POST /a2a SendStreamingMessage',
    ]);
    expect(JSON.parse(requests[1]?.body ?? '')).toMatchObject({
      params: { message: { messageId: 'tsk_1-1', role: 'ROLE_USER', parts: [{ text: 'world' }] } },
    });
  });

  test('an agent without streams is asked until it is done', async () => {
    const { card, requests } = await opened(startAgentServer({ streaming: false }));
    const message = answerOf(await lastOf({ card, messages: 'world' }));
    expect(message.content.at(-1)).toMatchObject({ type: 'text', text: 'Hello, world!' });
    const methods = new Set(requests.map(({ line }) => line));
    expect([...methods]).toEqual([
      `GET ${CARD_PATH}`,
      'POST /a2a SendMessage',
      'POST /a2a GetTask',
    ]);
    expect(JSON.parse(requests[1]?.body ?? '')).toMatchObject({
      params: { configuration: { returnImmediately: true } },
    });
  });

  test('a single message is a complete answer', async () => {
    const { card } = await opened(startAgentServer());
    expect(answerOf(await lastOf({ card, messages: 'message' })).content).toEqual([
      {
        type: 'text',
        text: 'Just a message.',
        meta: { a2a: { contextId: expect.any(String) } },
      },
    ]);
  });

  test('a question ends the answer, and the next message goes to the same task', async () => {
    const { card, requests } = await opened(startAgentServer());
    const first = userMessage('ask me');
    const question = answerOf(await lastOf({ card, messages: [first] }));
    expect(question.content.at(-1)).toEqual({
      type: 'text',
      text: 'Which colour?',
      meta: { a2a: { contextId: expect.any(String), taskId: expect.any(String) } },
    });
    const messages = [first, question, userMessage('blue')];
    const answer = answerOf(await lastOf({ card, messages }));
    expect(answer.content.at(-1)).toMatchObject({ text: 'You chose: blue' });
    const ids = question.content.at(-1)?.meta?.['a2a'];
    expect(JSON.parse(requests.at(-1)?.body ?? '')).toMatchObject({
      params: { message: { ...Object(ids), parts: [{ text: 'blue' }] } },
    });
  });

  test('a server that has forgotten the conversation is told about it', async () => {
    const before = await opened(startAgentServer());
    const first = userMessage('ask me');
    const question = answerOf(await lastOf({ card: before.card, messages: [first] }));
    const { card, requests } = await opened(startAgentServer());
    const messages = [first, question, userMessage('blue')];
    const answer = answerOf(await lastOf({ card, messages }));
    expect(answer.content.at(-1)).toMatchObject({ text: expect.stringContaining('blue!') });
    const sent = JSON.parse(requests.at(-1)?.body ?? '') as object;
    expect(sent).toMatchObject({
      params: {
        message: {
          messageId: 'tsk_1-3-again',
          parts: [
            {
              text: 'The conversation so far:\n\nUser: ask me\n\nYou: Which colour?\n\nThe new message:\n\nblue',
            },
          ],
        },
      },
    });
  });

  test.each([
    ['fail', 'server', 'a2a/far: the agent has failed: The disk is on fire.'],
    ['reject', 'server', 'a2a/far: the agent has rejected the task: Not my job.'],
    [
      'login',
      'auth',
      'a2a/far: the agent asks for a login, which Muster cannot give while it works: Log in at https://login.example.',
    ],
  ])('%s is a failure with the text of the server', async (messages, kind, message) => {
    const { card } = await opened(startAgentServer());
    expect(await lastOf({ card, messages })).toEqual(failure(kind, message));
  });

  test.each([true, false])(
    'a stop cancels the task of the server (streams: %s)',
    async (streaming) => {
      const { card, requests } = await opened(startAgentServer({ streaming }));
      const stop = new AbortController();
      const parts: ModelPart[] = [];
      const port = createPort();
      for await (const part of ask({ card, messages: 'wait', port, signal: stop.signal })) {
        parts.push(part);
        if (part.type === 'reasoning_delta') stop.abort();
      }
      await port.endTask('tsk_1');
      expect(parts.at(-1)).toEqual(failure('cancelled', 'a2a/far: stopped'));
      expect(requests.at(-1)?.line).toBe('POST /a2a CancelTask');
    },
  );

  test('an answer that is too large ends with the limit, and the task of the server is cancelled', async () => {
    const { card } = await opened(startAgentServer());
    expect(await lastOf({ card, messages: 'huge' })).toEqual(
      failure(
        'too_large',
        'a2a/far: it sent more than 2097152 characters (the limit of one answer)',
      ),
    );
  });

  test('a server that reports nothing new for too long', async () => {
    const { card, requests } = await opened(startAgentServer());
    const port = createPort({ limits: { silentMs: 300 } });
    expect(await lastOf({ card, messages: 'wait', port })).toEqual(
      failure(
        'timeout',
        'a2a/far: the server reported nothing new for 300 ms (the limit for servers of agents)',
      ),
    );
    await port.close();
    expect(requests.at(-1)?.line).toBe('POST /a2a CancelTask');
  });

  test('the instructions of the definition begin a conversation and are not repeated in it', async () => {
    const { card, requests } = await opened(startAgentServer());
    const task = { instructions: 'Be brief.' };
    const first = userMessage('one');
    const answer = answerOf(await lastOf({ card, messages: [first], task }));
    await lastOf({ card, messages: [first, answer, userMessage('two')], task });
    const texts = requests
      .filter(({ body }) => body !== '')
      .map(({ body }) => {
        const { params } = JSON.parse(body) as {
          readonly params: { readonly message: { readonly parts: readonly { text: string }[] } };
        };
        return params.message.parts.map(({ text }) => text);
      });
    expect(texts).toEqual([['Be brief.\n\none'], ['two']]);
  });

  test('an agent that is not defined any more', async () => {
    expect(await lastOf({ card: '', messages: 'world', task: { agent: null } })).toEqual(
      failure(
        'not_found',
        'a2a/far: no definition names its server any more; add it again, or ask another agent',
      ),
    );
  });
});

describe('credentials', () => {
  const KEY = 'top-secret-value';
  const NO_AUTH: NonNullable<A2aServer['auth']> = { type: 'apiKey', key: '' };

  test.each<readonly [A2aServer['auth'], string, string]>([
    [{ type: 'apiKey', key: '$FAR_KEY' }, 'x-api-key', KEY],
    [{ type: 'apiKey', key: '$FAR_KEY', name: 'X-Far' }, 'x-far', KEY],
    [{ type: 'http', scheme: 'Bearer', value: '$FAR_KEY' }, 'authorization', `Bearer ${KEY}`],
    [{ type: 'http', scheme: 'Bearer', value: '!print it' }, 'authorization', 'Bearer print it'],
    [{ type: 'http', scheme: 'Bearer', value: 'literal' }, 'authorization', 'Bearer literal'],
    [{ type: 'http', scheme: 'Digest', value: '$$literal' }, 'authorization', 'Digest $literal'],
    [
      { type: 'http', scheme: 'Basic', username: 'me', password: '$FAR_KEY' },
      'authorization',
      `Basic ${Buffer.from(`me:${KEY}`).toString('base64')}`,
    ],
  ])(
    '%j are sent with each message and not with the card',
    async (auth = NO_AUTH, header, value) => {
      const { card, requests } = await opened(startAgentServer({ secret: [header, value] }));
      const keys: A2aPortDeps['keys'] = {
        read: (source) => Promise.resolve(source.kind === 'command' ? String(source.command) : ''),
      };
      const options = { environment: { FAR_KEY: KEY }, keys };
      answerOf(await lastOf({ card, messages: 'world', server: { auth }, options }));
      expect(requests.map(({ headers }) => headers[header])).toEqual([undefined, value]);
      expect(secrets.some((secret) => value.endsWith(secret))).toBe(true);
    },
  );

  test.each<readonly [A2aServer['auth'], Partial<RemoteTask>, A2aPortDeps['environment'], string]>([
    [
      { type: 'apiKey', key: '$FAR_KEY' },
      {},
      {},
      'auth.key: the variable FAR_KEY is not set; set it and run again',
    ],
    [
      { type: 'apiKey', key: '${FAR_KEY}' },
      {},
      { FAR_KEY: 'two\nlines' },
      'auth.key: the value has characters that no header can hold',
    ],
    [
      { type: 'apiKey', key: '$FAR_KEY' },
      { isForeign: true },
      { FAR_KEY: 'mine' },
      'auth.key: the agent of a project cannot get FAR_KEY, which is yours; define the agent among your own if you want that',
    ],
    [
      { type: 'http', scheme: 'Bearer', value: '!cat /etc/passwd' },
      { isForeign: true },
      {},
      'auth.value: the agent of a project runs no command; define the agent among your own if you want that',
    ],
    [
      { type: 'http', scheme: 'Bearer', value: '$A-B' },
      {},
      {},
      'auth.value: it begins with $ and is no variable; write $NAME, or $$ for a $',
    ],
  ])('%j of %j with %j', async (auth = NO_AUTH, task, environment, message) => {
    const { card } = await opened(startAgentServer());
    const options = { environment, ownSecrets: new Set(['FAR_KEY']) };
    expect(await lastOf({ card, messages: 'world', server: { auth }, task, options })).toEqual(
      failure('auth', `a2a/far: ${message}`),
    );
  });

  test('a refusal names the status and what to check', async () => {
    const { card } = await opened(startAgentServer({ secret: ['x-key', 'right'] }));
    expect(await lastOf({ card, messages: 'world' })).toEqual(
      failure('auth', expect.stringMatching(/401 .*who are you\?.* Check `auth` of the agent$/), {
        status: 401,
      }),
    );
  });

  test('a card that is not public is asked for with the credentials', async () => {
    const server = await opened(
      startServer(({ url, headers }, response) => {
        if (headers['x-api-key'] !== KEY) return sendJson(response, 401, {});
        if (url === '/card') return sendJson(response, 200, createCard('/a2a', false));
        return sendJson(response, 500, { message: 'no' });
      }),
    );
    const auth = { type: 'apiKey', key: '$FAR_KEY' } as const;
    const options = { environment: { FAR_KEY: KEY } };
    const card = `${server.origin}/card`;
    await lastOf({ card, messages: 'world', server: { auth }, options });
    expect(server.requests.map(({ line, headers }) => [line, headers['x-api-key']])).toEqual([
      ['GET /card', undefined],
      ['GET /card', KEY],
      ['POST /a2a SendMessage', KEY],
    ]);
  });
});

/** A server whose tasks never end is asked only a few times. */
const FAST = { limits: { silentMs: 50, cancelMs: 10 } };

/** An update with fields of the right names and values of any kind. */
const anyUpdate = fc.record(
  Object.fromEntries(
    ['task', 'message', 'statusUpdate', 'artifactUpdate'].map((name) => [
      name,
      fc.record(
        Object.fromEntries(
          [
            'id taskId contextId status artifacts artifact parts history role append',
            'message state text data raw url filename metadata',
          ]
            .join(' ')
            .split(' ')
            .map((field) => [field, fc.jsonValue({ maxDepth: 3 })]),
        ),
        { requiredKeys: [] },
      ),
    ]),
  ),
  { requiredKeys: [] },
);

describe('hostile and broken servers', () => {
  /** Starts a server with a card of its own, and with a handler for messages. */
  async function startOdd(
    handle: (id: number, response: ServerResponse) => unknown,
    card: (origin: string) => unknown = (origin) => createCard(`${origin}/a2a`, true),
  ): Promise<string> {
    const server = await opened(
      startServer(({ url, headers, body }, response) => {
        if (url === '/card') return sendJson(response, 200, card(`http://${headers.host}`));
        return handle((JSON.parse(body) as { readonly id: number }).id, response);
      }),
    );
    return `${server.origin}/card`;
  }

  const nothing = (): void => {};

  test.each<readonly [name: string, card: (origin: string) => unknown, text: string]>([
    [
      'of another host',
      () => createCard('https://elsewhere.example/a2a', true),
      'the agent card has no usable interface: https://elsewhere.example is not the origin of the card; add it to `remote.a2a_origins` in your configuration if you trust it',
    ],
    [
      'of another port of this machine',
      () => createCard('http://127.0.0.1:1/a2a', true),
      'the agent card has no usable interface: http://127.0.0.1:1 is not the origin of the card; add it to `remote.a2a_origins` in your configuration if you trust it',
    ],
    ['that is a list', () => [], 'the agent card is not an object'],
    ['without interfaces', () => ({}), 'the agent card has no usable interface: it names none'],
    [
      'with another binding',
      (origin) => createCard(origin, true, 'GRPC'),
      'the agent card has no usable interface: the binding GRPC is not supported',
    ],
    [
      'with odd interfaces',
      () => ({ supportedInterfaces: [null, { url: 7, protocolBinding: 'JSONRPC' }] }),
      expect.stringContaining('it is not an object; '),
    ],
    [
      'with a program instead of a URL',
      () => createCard('file:///etc/passwd', true),
      'the agent card has no usable interface: file:///etc/passwd is not a URL that begins with http:// or https://',
    ],
  ])('a card %s is refused before anything is sent', async (_, createOdd, text) => {
    const card = await startOdd(nothing, createOdd);
    const message = typeof text === 'string' ? `a2a/far: ${text}` : text;
    const last = await lastOf({ card, messages: 'world' });
    expect(last).toEqual(failure(expect.any(String), message));
    expect(servers.at(-1)?.requests.map(({ line }) => line)).toEqual(['GET /card']);
  });

  test('a card may name another origin that the configuration allows', async () => {
    const { origin } = await opened(startAgentServer());
    const card = await startOdd(nothing, () => createCard(`${origin}/a2a`, true));
    const options = { allowedOrigins: [origin] };
    answerOf(await lastOf({ card, messages: 'world', options }));
  });

  test('a card in the definition is used as it is', async () => {
    const { origin } = await opened(startAgentServer());
    const card = JSON.parse(JSON.stringify(createCard(`${origin}/a2a`, true))) as A2aServer['card'];
    answerOf(await lastOf({ card, messages: 'world' }));
  });

  test('a redirect is not followed', async () => {
    const target = await opened(startAgentServer());
    const card = await startOdd((_, response) => {
      response.writeHead(307, { location: `${target.origin}/a2a?key=1` });
      response.end();
    });
    expect(await lastOf({ card, messages: 'world' })).toEqual(
      failure(
        'bad_request',
        `a2a/far: ${card.replace('/card', '/a2a')} redirects to ${target.origin}/a2a, which is not followed; write the address itself`,
      ),
    );
    expect(target.requests).toEqual([]);
  });

  test.each<readonly [number, string, boolean]>([
    [500, 'server', false],
    [503, 'overloaded', true],
    [429, 'rate_limit', true],
    [404, 'not_found', false],
    [400, 'bad_request', false],
  ])('the status %s', async (status, kind, retryable) => {
    const text = 'x'.repeat(10_000);
    const card = await startOdd((_, response) => {
      response.writeHead(status);
      response.end(text);
    });
    const last = await lastOf({ card, messages: 'world' });
    expect(last).toEqual(
      failure(kind, expect.stringContaining(`${status}`), { retryable, status }),
    );
    expect(JSON.stringify(last).length).toBeLessThan(1_000);
  });

  const stream = (response: ServerResponse, text: string): void => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(text);
  };
  const event = (id: number, payload: unknown): string =>
    `data: ${JSON.stringify({ jsonrpc: '2.0', id, result: payload })}\n\n`;

  test.each<readonly [name: string, (id: number) => string]>([
    ['that is no JSON', () => 'data: garbage\n\n'],
    ['for another request', (id) => event(id + 7, {})],
    ['that is empty', () => ''],
    ['of an unknown kind', (id) => event(id, { surprise: { deep: [1] } })],
  ])('a stream with an event %s', async (_, createText) => {
    const card = await startOdd((id, response) => stream(response, createText(id)));
    const last = await lastOf({ card, messages: 'world' });
    expect(last).toMatchObject(failure('malformed', expect.stringMatching(/^a2a\/far: ./)));
  });

  /** Sends a text again and again until the other side closes the connection. */
  const sendForever = (response: ServerResponse, text: string): void => {
    const send = (): void => {
      while (!response.destroyed && response.write(text));
      if (!response.destroyed) response.once('drain', send);
    };
    send();
  };
  const TOO_LARGE = failure(
    'too_large',
    'a2a/far: the server sent more than 4194304 bytes in one message',
  );

  test.each([true, false])('one message that never ends (streams: %s)', async (streaming) => {
    const card = await startOdd(
      (_, response) => {
        const type = streaming ? 'text/event-stream' : 'application/json';
        response.writeHead(200, { 'content-type': type });
        sendForever(response, 'x'.repeat(65_536));
      },
      (origin) => createCard(`${origin}/a2a`, streaming),
    );
    expect(await lastOf({ card, messages: 'world' })).toEqual(TOO_LARGE);
  });

  test('a card that never ends', async () => {
    const { origin } = await opened(
      startServer((_, response) => sendForever(response, ' '.repeat(65_536))),
    );
    expect(await lastOf({ card: `${origin}/card`, messages: 'world' })).toEqual(TOO_LARGE);
  });

  test('any JSON as the result of a message ends with an answer or a failure', async () => {
    let result: unknown = null;
    const card = await startOdd((id, response) => stream(response, event(id, result)));
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 4 }), anyUpdate, async (value, update) => {
        for (result of [value, update]) {
          const last = await lastOf({ card, messages: 'world', options: FAST });
          expect(last?.type).toMatch(/^(?:finished|failed)$/);
        }
      }),
      { numRuns: 30 },
    );
  });

  test('a stream that never ends', async () => {
    const card = await startOdd((id, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const { value } = statusUpdate(TaskState.TASK_STATE_WORKING) ?? {};
      const text = event(id, {
        statusUpdate: { ...value, status: { state: 'TASK_STATE_WORKING' } },
      });
      sendForever(response, text);
    });
    const options = { limits: { maxUpdates: 500, cancelMs: 10 } };
    expect(await lastOf({ card, messages: 'world', options })).toEqual(
      failure('too_large', 'a2a/far: it sent more than 500 updates (the limit of one answer)'),
    );
  });

  test('a stream that breaks off: the work goes on without it', async () => {
    const done = {
      id: 'task-1',
      contextId: 'context-1',
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ artifactId: 'a', parts: [{ text: 'All done.' }] }],
    };
    let asked = 0;
    const card = await startOdd((id, response) => {
      asked += 1;
      if (asked > 1) return sendJson(response, 200, { jsonrpc: '2.0', id, result: done });
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const task = { ...done, status: { state: 'TASK_STATE_WORKING' }, artifacts: [] };
      return response.write(event(id, { task }), () => response.destroy());
    });
    expect(answerOf(await lastOf({ card, messages: 'world' })).content).toEqual([
      { type: 'text', text: 'All done.', meta: { a2a: { contextId: 'context-1' } } },
    ]);
  });

  test('a server that is not there', async () => {
    const { origin } = await startServer(nothing).then(async (server) => {
      await server.close();
      return server;
    });
    expect(await lastOf({ card: `${origin}/card`, messages: 'world' })).toEqual(
      failure('connect', expect.stringContaining('ECONNREFUSED'), { retryable: true }),
    );
  });

  test.each([
    [500, 'server'],
    [404, 'not_found'],
    [401, 'auth'],
  ])('a card that is refused with %s', async (status, kind) => {
    const { origin } = await opened(
      startServer((_, response) => sendJson(response, status, { error: 'no' })),
    );
    expect(await lastOf({ card: `${origin}/card?key=1`, messages: 'world' })).toEqual(
      failure(
        kind,
        `a2a/far: the server answered ${status} instead of the agent card at ${origin}/card: {"error":"no"}`,
      ),
    );
  });

  test('a card that is a page', async () => {
    const { origin } = await opened(startServer((_, response) => response.end('<html>')));
    expect(await lastOf({ card: `${origin}/`, messages: 'world' })).toEqual(
      failure('malformed', `a2a/far: the agent card at ${origin}/ is not JSON: <html>`),
    );
  });

  test('a card that never arrives', async () => {
    const { origin } = await opened(startServer(nothing));
    const options = { limits: { cardMs: 50 } };
    expect(await lastOf({ card: `${origin}/card`, messages: 'world', options })).toEqual(
      failure(
        'timeout',
        'a2a/far: the agent card did not arrive within 50 ms (the limit for cards)',
      ),
    );
  });
});

describe('other forms of the protocol', () => {
  test('version 0.3', async () => {
    const server = await opened(
      startServer(({ url, headers, body }, response) => {
        if (url === '/card')
          return sendJson(response, 200, {
            name: 'Old',
            url: `http://${headers.host}/rpc`,
            preferredTransport: 'JSONRPC',
            protocolVersion: '0.3.0',
            version: '1',
            capabilities: { streaming: true },
            skills: [],
          });
        const { id } = JSON.parse(body) as { readonly id: number };
        const ids = { taskId: 'task-1', contextId: 'context-1' };
        const events = [
          { kind: 'task', id: 'task-1', contextId: 'context-1', status: { state: 'working' } },
          {
            kind: 'artifact-update',
            ...ids,
            artifact: { artifactId: 'a', parts: [{ kind: 'text', text: 'Old but good.' }] },
          },
          { kind: 'status-update', ...ids, status: { state: 'completed' }, final: true },
        ];
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const result of events)
          response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
        return response.end();
      }),
    );
    const card = `${server.origin}/card`;
    expect(answerOf(await lastOf({ card, messages: 'world' })).content).toEqual([
      { type: 'text', text: 'Old but good.', meta: { a2a: { contextId: 'context-1' } } },
    ]);
    expect(server.requests.map(({ line }) => line)).toEqual([
      'GET /card',
      'POST /rpc message/stream',
    ]);
  });

  test('HTTP+JSON, which is asked and not streamed', async () => {
    const server = await opened(
      startServer(({ url, headers }, response) => {
        if (url === '/card') {
          const card = createCard(`http://${headers.host}/rest`, true, 'HTTP+JSON');
          return sendJson(response, 200, card);
        }
        const state = url.startsWith('/rest/tasks') ? 'TASK_STATE_COMPLETED' : 'TASK_STATE_WORKING';
        const artifacts = [{ artifactId: 'a', parts: [{ text: 'At rest.' }] }];
        const task = { id: 'task-1', contextId: 'context-1', status: { state }, artifacts };
        return sendJson(response, 200, url.startsWith('/rest/tasks') ? task : { task });
      }),
    );
    const card = `${server.origin}/card`;
    expect(answerOf(await lastOf({ card, messages: 'world' })).content).toEqual([
      { type: 'text', text: 'At rest.', meta: { a2a: { contextId: 'context-1' } } },
    ]);
    expect(server.requests.map(({ line }) => line)).toEqual([
      'GET /card',
      'POST /rest/message:send',
      'GET /rest/tasks/task-1',
    ]);
  });
});
