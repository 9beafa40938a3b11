import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import {
  toolResultRounds,
  type Answer,
  type AnswerToolCall,
  type RecordedRequest,
} from '../../src/testing/index.ts';
import {
  agentMessage,
  createCard,
  sendJson,
  startAgentServer,
  startServer,
  type TestServer,
} from '../remote/a2a/agent-server.ts';
import { expectStopped, finishedSoon, reach } from './ending.ts';
import { envelopeOf, eventsOf } from './muster.ts';
import { lastResults, openWorld, type World } from './world.ts';

const servers: TestServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function opened<Server extends TestServer>(starting: Promise<Server>): Promise<Server> {
  const server = await starting;
  servers.push(server);
  return server;
}

function writeFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Writes a definition of the agent `far` among those of the user. */
function define({ sandbox }: World, ...lines: readonly string[]): void {
  const fields = ['name: far', 'description: Knows what is far away.', ...lines];
  const path = join(sandbox.home, '.config/muster/agents/far.md');
  writeFile(path, `---\n${fields.join('\n')}\n---\n`);
}

const askFar = (prompt: string, more = {}): AnswerToolCall => ({
  name: 'Task',
  input: { prompt, description: 'ask far', subagent_type: 'far', ...more },
});

/** A model that makes one of these calls after the other, and then answers `done`. */
function calling(
  ...calls: readonly ((request: RecordedRequest) => AnswerToolCall)[]
): (request: RecordedRequest) => Answer {
  return (request) => {
    const call = calls[toolResultRounds(request)];
    return call === undefined ? { text: 'done' } : { toolCalls: [call(request)] };
  };
}

/** The id of the task in the result of a Task call. */
function taskIn(request: RecordedRequest): string {
  const texts = request.messages.flatMap(({ toolResults }) => toolResults.map(({ text }) => text));
  return /\[task (\w+) /.exec(texts.join('\n'))?.[1] ?? 'no task';
}

describe('an agent of a server', () => {
  it.each([true, false])('works as a subagent (streams: %s)', async (streaming) => {
    const { card } = await opened(startAgentServer({ streaming }));
    await using world = await openWorld({ script: calling(() => askFar('world')) });
    define(world, `a2a: ${card}`);
    const run = await world.run(['-p', 'go', '--output-format', 'stream-json']);
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(lastResults(world.model)).toEqual([
      expect.objectContaining({
        isError: false,
        text: expect.stringMatching(/^Hello, world!\n\n\[task \w+ · far · a2a\/far · 1 turn · /),
      }),
    ]);
    const call = eventsOf(run).find((event) => event.type === 'call.ended');
    expect(call).toMatchObject({ tool: 'Task', nonce: expect.any(String) });
    const answer = eventsOf(run).find(
      (event) => event.type === 'turn.ended' && event.model === 'a2a/far',
    );
    // A server that is asked now and then need not tell every step.
    if (streaming)
      expect(answer).toMatchObject({
        message: { content: [{ type: 'reasoning', text: 'Thinking about it.' }, { type: 'text' }] },
      });
  });

  it('asks, and the answer to its question goes on with its work, also in another process', async () => {
    const { card, requests } = await opened(startAgentServer());
    await using world = await openWorld({
      script: (request) => {
        const wasAsked = JSON.stringify(request.messages).includes('the user says blue');
        const rounds = toolResultRounds(request);
        if (!wasAsked) return rounds === 0 ? { toolCalls: [askFar('ask me')] } : { text: 'Which?' };
        if (rounds === 1)
          return {
            toolCalls: [{ name: 'TaskSend', input: { to: taskIn(request), message: 'blue' } }],
          };
        const output = { name: 'TaskOutput', input: { task_id: taskIn(request), block: true } };
        return rounds === 2 ? { toolCalls: [output] } : { text: 'done' };
      },
    });
    define(world, `a2a: ${card}`);
    const first = await world.run(['-p', 'go']);
    expect([first.stdout, first.stderr]).toEqual(['Which?\n', '']);
    expect(lastResults(world.model)[0]?.text).toMatch(/^Which colour\?\n/);
    const second = await world.run(['--continue', '-p', 'the user says blue']);
    expect([second.stdout, second.stderr]).toEqual(['done\n', '']);
    expect(lastResults(world.model)[0]?.text).toContain('You chose: blue');
    const [asked, answered] = requests
      .filter(({ body }) => body !== '')
      .map(({ body }) => JSON.parse(body).params.message);
    expect([asked.taskId, answered.taskId]).toEqual([undefined, expect.any(String)]);
    expect(answered.parts).toEqual([expect.objectContaining({ text: 'blue' })]);
  });

  it('is told when the run is stopped', async () => {
    const { card, requests } = await opened(startAgentServer());
    await using world = await openWorld({ script: calling(() => askFar('wait')) });
    define(world, `a2a: ${card}`);
    const running = world.start(['-p', 'go']);
    await reach(
      running,
      expect.poll(() => requests.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(2),
    );
    running.process.kill('SIGINT');
    await finishedSoon(running.finished);
    expect(requests.map(({ line }) => line)).toContain('POST /a2a CancelTask');
    await expectStopped(world);
  });

  it('gets the same message again after a kill', async () => {
    let isSilent = true;
    const server = await opened(
      startServer(({ url, headers, body }, response) => {
        if (url === '/card')
          return sendJson(response, 200, createCard(`http://${headers.host}/a2a`, false));
        const { id } = JSON.parse(body) as { readonly id: number };
        if (isSilent) return undefined;
        const result = {
          message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'Back.' }] },
        };
        return sendJson(response, 200, { jsonrpc: '2.0', id, result });
      }),
    );
    await using world = await openWorld({ script: calling(() => askFar('hello')) });
    define(world, `a2a: ${server.origin}/card`);
    const running = world.start(['-p', 'go']);
    await reach(
      running,
      expect.poll(() => server.requests.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(2),
    );
    running.process.kill('SIGKILL');
    await running.finished;
    isSilent = false;
    const second = await world.run(['--continue', '--output-format', 'json']);
    expect([second.code, second.stderr]).toEqual([0, '']);
    expect(lastResults(world.model)[0]?.text).toMatch(/^Back\.\n/);
    const sent = server.requests.filter(({ body }) => body !== '').map(({ body }) => body);
    expect([sent.length, sent[1]]).toEqual([2, sent[0]]);
  });

  it('reports its failure to the agent that asked', async () => {
    const { card } = await opened(startAgentServer());
    await using world = await openWorld({ script: calling(() => askFar('fail')) });
    define(world, `a2a: ${card}`);
    const run = await world.run(['-p', 'go']);
    expect([run.code, run.stdout]).toEqual([0, 'done\n']);
    expect(lastResults(world.model)).toEqual([
      expect.objectContaining({
        isError: true,
        text: expect.stringContaining('a2a/far: the agent has failed: The disk is on fire.'),
      }),
    ]);
  });

  it('can be the main agent', async () => {
    const { card } = await opened(startAgentServer());
    await using world = await openWorld();
    define(world, `a2a: ${card}`);
    const run = await world.run(['-p', 'world', '--agent', 'far', '--output-format', 'json']);
    expect(envelopeOf(run).data).toMatchObject({ status: 'completed', result: 'Hello, world!' });
    expect(world.model.requests).toEqual([]);
  });

  it('sends its key, which is in no log even if the server repeats it', async () => {
    const KEY = 'far-key-0123456789abcdef';
    const server = await opened(
      startServer(({ url, headers, body }, response) => {
        if (url === '/card')
          return sendJson(response, 200, createCard(`http://${headers.host}/a2a`, false));
        const { id } = JSON.parse(body) as { readonly id: number };
        const message = agentMessage(`You sent ${headers['x-api-key']}.`);
        const parts = message.parts.map(({ content }) => ({ text: content?.value }));
        const result = { message: { ...message, role: 'ROLE_AGENT', parts } };
        return sendJson(response, 200, { jsonrpc: '2.0', id, result });
      }),
    );
    await using world = await openWorld({ script: calling(() => askFar('hello')) });
    define(
      world,
      `a2a: {card: ${server.origin}/card, auth: {type: apiKey, key: "!printf ${KEY}"}}`,
    );
    const run = await world.run(['-p', 'go', '--output-format', 'stream-json']);
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(server.requests.at(-1)?.headers['x-api-key']).toBe(KEY);
    expect(lastResults(world.model)[0]?.text).toMatch(/^You sent \[redacted by Muster\]\./);
    const files = readdirSync(world.sandbox.data, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
    expect(files.filter((text) => text.includes(KEY)).length).toBe(0);
    expect(run.stdout).not.toContain(KEY);
  });
});

describe("Gemini CLI's remote agents", () => {
  it('several of one file work', async () => {
    const { card } = await opened(startAgentServer());
    await using world = await openWorld({
      script: calling(
        () => ({ ...askFar('world'), input: { prompt: 'one', subagent_type: 'near' } }),
        () => askFar('two'),
      ),
    });
    const list = ['near', 'far'].map((name) => `- name: ${name}\n  agent_card_url: ${card}\n`);
    writeFile(join(world.sandbox.home, '.gemini/agents/remote.md'), `---\n${list.join('')}---\n`);
    const run = await world.run(['-p', 'go']);
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(lastResults(world.model)[0]?.text).toMatch(/^Hello, two!\n/);
  });

  it('one of a project is used after the user has seen where it sends its tasks', async () => {
    const { card, requests } = await opened(startAgentServer());
    await using world = await openWorld({ script: calling(() => askFar('world')) });
    const auth = 'auth: {type: http, scheme: Bearer, token: $MY_FAR_TOKEN}';
    const fields = ['name: far', 'description: Far.', `agent_card_url: ${card}`, auth];
    writeFile(
      join(world.sandbox.workspace, '.gemini/agents/far.md'),
      `---\n${fields.join('\n')}\n---\n`,
    );
    const env = { MY_FAR_TOKEN: 'mine' };
    const untrusted = await world.run(['-p', 'go'], { env });
    expect(untrusted.stderr).toContain('muster trust add');
    expect(requests).toEqual([]);
    const review = await world.run(['trust', 'add', '--yes'], { env });
    expect(review.stdout + review.stderr).toContain(`sends its tasks to ${card}`);
    expect(review.stdout + review.stderr).toContain('logs in with $MY_FAR_TOKEN');
    await world.run(['-p', 'go'], { env });
    expect(lastResults(world.model)[0]?.text).toContain(
      'the agent of a project cannot get MY_FAR_TOKEN, which is yours',
    );
    expect(requests.map(({ line }) => line)).not.toContain('POST /a2a SendStreamingMessage');
  });
});
