import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lastUserText, toolResultRounds, type RecordedRequest } from '../../src/testing/index.ts';
import { waitUntilPasses } from '../wait-until-passes.ts';
import { envelopeOf, runMuster, type Finished } from './muster.ts';
import { bash, openWorld, type World } from './world.ts';

interface Message {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly error?: { readonly code: number; readonly message: string };
  readonly result?: unknown;
}

/** A client that writes what it likes to the built program as an MCP server. */
class RawClient {
  readonly #running: ReturnType<World['start']>;

  constructor(world: World, args: readonly string[] = []) {
    this.#running = world.start(['mcp', 'serve', ...args], { stdin: { open: true } });
  }

  write(text: string): void {
    this.#running.process.stdin?.write(text);
  }

  request(id: number, method: string, params: object = {}): void {
    this.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  }

  call(id: number, name: string, input: object): void {
    this.request(id, 'tools/call', { name, arguments: input });
  }

  initialize(capabilities: object = {}): void {
    const clientInfo = { name: 'raw', version: '1' };
    this.request(1, 'initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo });
    this.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  }

  /** Parses all of stdout, which must hold messages of the protocol and nothing else. */
  messages(): readonly Message[] {
    const lines = this.#running.output().split('\n').slice(0, -1);
    return lines.map((line) => {
      const message = JSON.parse(line) as Message & { readonly jsonrpc: string };
      expect(message.jsonrpc).toBe('2.0');
      return message;
    });
  }

  async receive(isWanted: (message: Message) => boolean): Promise<Message> {
    await waitUntilPasses(() => expect(this.messages().some(isWanted)).toBe(true));
    return this.messages().find(isWanted) ?? {};
  }

  answer(id: number): Promise<Message> {
    return this.receive((message) => message.id === id && message.method === undefined);
  }

  question(): Promise<Message> {
    return this.receive(({ method }) => method === 'elicitation/create');
  }

  kill(): void {
    this.#running.process.kill('SIGKILL');
  }

  /** Ends the messages of the client, and waits for the end of the server. */
  async leave(): Promise<Finished> {
    this.#running.process.stdin?.end();
    const finished = await this.#running.finished;
    this.messages();
    return finished;
  }

  get finished(): Promise<Finished> {
    return this.#running.finished;
  }
}

async function listStored(world: World): Promise<readonly { id: string; status: string }[]> {
  const { stdout } = await runMuster(world.sandbox, ['tasks', 'list', '--json']);
  return JSON.parse(stdout);
}

/** Continues a task with the command line, which needs a log that is whole. */
async function resume(world: World, id: string, flags: readonly string[] = []): Promise<string> {
  const args = ['-p', 'Go on.', '--resume', id, '--output-format', 'json', ...flags];
  return envelopeOf(await world.run(args)).data.result;
}

const FOUND = { text: 'It is in a.ts.' };
const dawdles = (request: RecordedRequest) =>
  lastUserText(request)?.includes('Go on.') === true ? FOUND : { text: 'late', delayMs: 60_000 };
const touches = (request: RecordedRequest) => {
  if (lastUserText(request)?.includes('Go on.') === true) return FOUND;
  return toolResultRounds(request) === 0
    ? { toolCalls: [bash('touch made')] }
    : { text: `said: ${request.messages.at(-1)?.toolResults?.[0]?.text ?? ''}` };
};
const TASK = { prompt: 'Do it.', agent: 'general-purpose' };
const ASKING = ['--permission-mode', 'default', '--ask', 'Bash'];
const FORMS = { elicitation: { form: {} } };

describe('muster mcp serve', () => {
  it('answers garbage with errors of the protocol, and goes on', async () => {
    await using world = await openWorld({ script: () => FOUND });
    const client = new RawClient(world);
    client.write('before initialize\n');
    client.initialize();
    client.write('not json\n{"jsonrpc":"2.0","id":2,"method":"no/such"}\n\n[]\n');
    client.write('{"jsonrpc":"2.0","id":3,"method":5}\n{"id":null}\n');
    client.write('{"jsonrpc":"2.0","id":99,"result":{}}\n');
    client.write(
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}\n',
    );
    client.call(4, 'Nothing', {});
    client.call(5, 'Task', { prompt: 5, agent: 'Explore' });
    client.call(6, 'Task', { prompt: 'Go.', agent: 'Nobody' });
    client.call(7, 'TaskOutput', { task_id: '../../etc/passwd' });
    client.request(8, 'tasks/get', { taskId: 5 });
    client.request(9, 'resources/read', { uri: 5 });
    client.call(10, 'Task', { prompt: 'Find it.', agent: 'Explore' });
    expect(await client.answer(10)).toMatchObject({
      result: { structuredContent: { status: 'completed' } },
    });
    const answers = client.messages().filter(({ id, method }) => id !== 1 && method === undefined);
    const codes = answers.map(({ id, error, result }) => {
      const isRefusal = (result as { isError?: boolean } | undefined)?.isError === true;
      return [id ?? null, error?.code ?? (isRefusal ? 'isError' : 'result')];
    });
    expect(codes.toSorted(([a], [b]) => Number(a ?? 0) - Number(b ?? 0))).toEqual([
      [null, -32_700],
      [null, -32_700],
      [null, -32_600],
      [null, -32_600],
      [2, -32_601],
      [3, -32_600],
      [4, -32_602],
      [5, 'isError'],
      [6, 'isError'],
      [7, 'isError'],
      [8, -32_602],
      [9, expect.any(Number)],
      [10, 'result'],
    ]);
    expect((await client.leave()).code).toBe(0);
  });

  it('skips a message of 100 MB, and goes on with its task', async () => {
    await using world = await openWorld({ script: dawdles });
    const client = new RawClient(world);
    client.initialize();
    client.call(2, 'Task', { ...TASK, run_in_background: true });
    await client.answer(2);
    client.write('{"jsonrpc":"2.0","id":3,"method":"');
    for (let count = 0; count < 100; count += 1) client.write('x'.repeat(1024 * 1024));
    client.write('"}\n');
    client.call(4, 'TaskList', {});
    expect(await client.answer(4)).toMatchObject({
      result: { structuredContent: { tasks: [{ status: 'running' }] } },
    });
    const refused = client.messages().find(({ error }) => error !== undefined);
    expect(refused).toMatchObject({
      id: null,
      error: { message: expect.stringContaining('more than the limit of 10485760') },
    });
    expect((await client.leave()).code).toBe(0);
  });

  it.each([
    ['before its first message', () => {}],
    [
      'in the middle of its first message',
      (client: RawClient) => client.write('{"jsonrpc":"2.0",'),
    ],
    ['after initialize', (client: RawClient) => client.initialize()],
  ])('ends when the client vanishes %s', async (_name, begin) => {
    await using world = await openWorld();
    const client = new RawClient(world);
    begin(client);
    expect(await client.leave()).toMatchObject({ code: 0, signal: null });
    expect(await listStored(world)).toEqual([]);
  });

  it.each(['in the foreground', 'in the background'])(
    'stops a task %s whose client vanishes, and the task can be continued',
    async (place) => {
      await using world = await openWorld({ script: dawdles });
      const client = new RawClient(world);
      client.initialize();
      client.call(2, 'Task', { ...TASK, run_in_background: place === 'in the background' });
      await waitUntilPasses(() => expect(world.model.requests).toHaveLength(1));
      expect((await client.leave()).code).toBe(0);
      const [task] = await listStored(world);
      expect(task?.status).toBe('stopped');
      expect(await resume(world, task?.id ?? '')).toBe(FOUND.text);
    },
  );

  it('stops a task whose client vanishes instead of an answer, without the call that it asks for', async () => {
    await using world = await openWorld({ script: touches });
    const client = new RawClient(world, ASKING);
    client.initialize(FORMS);
    client.call(2, 'Task', TASK);
    await client.question();
    expect((await client.leave()).code).toBe(0);
    const [task] = await listStored(world);
    expect(task?.status).toBe('stopped');
    expect(existsSync(join(world.sandbox.workspace, 'made'))).toBe(false);
    expect(await resume(world, task?.id ?? '')).toBe(FOUND.text);
  });

  it('takes the first of two answers to a question', async () => {
    await using world = await openWorld({ script: touches });
    const client = new RawClient(world, ASKING);
    client.initialize(FORMS);
    client.call(2, 'Task', TASK);
    const { id } = await client.question();
    const answer = (action: string) =>
      `${JSON.stringify({ jsonrpc: '2.0', id, result: { action, content: { answer: 'yes' } } })}\n`;
    client.write(answer('decline') + answer('accept'));
    expect(await client.answer(2)).toMatchObject({
      result: { structuredContent: { result: expect.stringContaining('the user declined') } },
    });
    expect(existsSync(join(world.sandbox.workspace, 'made'))).toBe(false);
    expect((await client.leave()).code).toBe(0);
  });

  it.each([
    ['an error', { error: { code: -32_603, message: 'the window is closed' } }],
    ['an answer without an action', { result: {} }],
    [
      'an answer with other content',
      { result: { action: 'accept', content: { answer: 'perhaps' } } },
    ],
  ])('refuses a question to which the client returns %s', async (_name, response) => {
    await using world = await openWorld({ script: touches });
    const client = new RawClient(world, ASKING);
    client.initialize(FORMS);
    client.call(2, 'Task', TASK);
    const { id } = await client.question();
    client.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...response })}\n`);
    expect(await client.answer(2)).toMatchObject({
      result: {
        structuredContent: {
          status: 'completed',
          result: expect.stringMatching(/the client could not ask|the answer could not be used/),
        },
      },
    });
    expect(existsSync(join(world.sandbox.workspace, 'made'))).toBe(false);
  });

  it('keeps a task whose question is never answered, until it is stopped', async () => {
    await using world = await openWorld({ script: touches });
    const client = new RawClient(world, ASKING);
    client.initialize(FORMS);
    client.call(2, 'Task', TASK);
    await client.question();
    const [task] = await listStored(world);
    client.call(3, 'TaskStop', { task_id: task?.id });
    const stopped = { result: { structuredContent: { status: 'stopped' } } };
    expect(await client.answer(3)).toMatchObject(stopped);
    expect(await client.answer(2)).toMatchObject(stopped);
    // The client need not show the question any more.
    await client.receive(({ method }) => method === 'notifications/cancelled');
  });

  it('is killed with a task at work, which can be continued', async () => {
    let requests = 0;
    await using world = await openWorld({
      script: () => ((requests += 1) === 1 ? { text: 'late', delayMs: 60_000 } : FOUND),
    });
    const client = new RawClient(world);
    client.initialize();
    client.call(2, 'Task', TASK);
    await waitUntilPasses(() => expect(requests).toBe(1));
    client.kill();
    expect((await client.finished).signal).toBe('SIGKILL');
    const [task] = await listStored(world);
    expect(task?.status).toBe('interrupted');
    expect(await resume(world, task?.id ?? '')).toBe(FOUND.text);
  });

  it('is killed with a task in a question, which asks again when it is continued', async () => {
    await using world = await openWorld({ script: touches });
    const client = new RawClient(world, ASKING);
    client.initialize(FORMS);
    client.call(2, 'Task', TASK);
    await client.question();
    client.kill();
    expect((await client.finished).signal).toBe('SIGKILL');
    const [task] = await listStored(world);
    const id = task?.id ?? '';
    expect(await resume(world, id)).toBe('');
    expect(await listStored(world)).toMatchObject([{ id, status: 'parked' }]);
    expect(existsSync(join(world.sandbox.workspace, 'made'))).toBe(false);
    expect(await resume(world, id, ['--on-ask', 'deny'])).toBe(FOUND.text);
  });
});
