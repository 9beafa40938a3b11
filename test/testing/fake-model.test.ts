import { Agent, request as httpRequest } from 'node:http';
import { expect, it } from 'vitest';
import { deferred } from '../../src/base/async.ts';
import { WIRE_PROTOCOLS, type FakeModel } from '../../src/testing/index.ts';
import { clientOf, fakeModel, listen, TOOL, userPrompt } from './support.ts';
import { events, post, smallRequest } from './wire.ts';

it('answers `ok` by default and records the exchange', async () => {
  const fake = await fakeModel();
  const seen = await post(fake, 'anthropic', { text: 'hi' });
  await fake.requests[0]?.ended;
  const [request] = fake.requests;
  expect(seen.text).toContain('"text":"ok"');
  expect(request).toMatchObject({
    id: 1,
    protocol: 'anthropic',
    path: '/v1/messages',
    attempt: 1,
    inFlight: 1,
    rawBody: JSON.stringify(smallRequest('anthropic', 'hi').body),
    outcome: { status: 200, fault: null, abortedByClient: false, problem: null },
  });
  const { firstByteAt, lastByteAt, endedAt } = request?.outcome ?? {};
  const times = [request?.receivedAt, firstByteAt, lastByteAt, endedAt];
  expect(times).toEqual(times.toSorted((a, b) => Number(a) - Number(b)));
});

it('serves 200 streams at once over kept connections', async () => {
  const gate = deferred<void>();
  const fake = await fakeModel({
    script: async (request) => {
      if (request.inFlight === 200) gate.resolve();
      await gate.promise;
      return { text: `answer to ${request.messages[0]?.text}`, chunks: 4, chunkMs: 2 };
    },
  });
  const agent = new Agent({ keepAlive: true });
  const bodies = await Promise.all(
    Array.from({ length: 200 }, (_, index) => keptPost(fake, agent, `number ${index};`)),
  );
  agent.destroy();
  expect(fake.maxInFlight).toBe(200);
  for (const [index, body] of bodies.entries()) {
    const text = events(body)
      .map((event) => /"text":"([^"]*)"}/.exec(JSON.stringify(event))?.[1] ?? '')
      .join('');
    expect(text).toBe(`answer to number ${index};`);
  }
});

function keptPost(fake: FakeModel, agent: Agent, text: string): Promise<string> {
  const { path, body } = smallRequest('anthropic', text);
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(`${fake.url}${path}`, { method: 'POST', agent }, (response) => {
      let whole = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (whole += chunk));
      response.on('end', () => resolve(whole));
    });
    outgoing.on('error', reject);
    outgoing.end(JSON.stringify(body));
  });
}

it('sees a client go away while the script is still thinking', async () => {
  const fake = await fakeModel({ script: () => deferred<never>().promise });
  await post(fake, 'chat', { leaveAfter: fake.received(1) });
  await fake.requests[0]?.ended;
  expect(fake.requests[0]?.outcome).toMatchObject({ status: null, abortedByClient: true });
});

it('closes with exchanges open, and does not blame the client', async () => {
  const fake = await fakeModel({ script: [{ answer: { fault: { kind: 'hang' } } }] });
  const seen = post(fake, 'google');
  await fake.received(1);
  await fake.close();
  expect(await seen).toMatchObject({ status: null, end: 'ECONNRESET' });
  expect(fake.requests[0]?.outcome.abortedByClient).toBe(false);
  expect(fake.inFlight()).toBe(0);
});

it('gives calls the same ids when a request is sent again, others in the next turn', async () => {
  const fake = await fakeModel({ script: () => ({ toolCalls: [{ name: 'Read', input: {} }] }) });
  const model = clientOf('anthropic', fake);
  const options = { tools: [TOOL], prompt: userPrompt('go') };
  const first = await listen(model, options);
  const again = await listen(model, options);
  const [call] = first.calls;
  const next = await listen(model, {
    tools: [TOOL],
    prompt: [
      ...options.prompt,
      {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: call?.id ?? '', toolName: 'Read', input: {} }],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: call?.id ?? '',
            toolName: 'Read',
            output: { type: 'text', value: 'x' },
          },
        ],
      },
    ],
  });
  expect(again.calls).toEqual(first.calls);
  expect(next.calls[0]?.id).not.toBe(call?.id);
  expect(fake.requests.map((request) => request.attempt)).toEqual([1, 2, 1]);
  expect(new Set(fake.requests.map((request) => request.taskKey)).size).toBe(1);
});

it('answers a script that fails with 400 and says why', async () => {
  const fake = await fakeModel({
    script: () => {
      throw new Error('not like this');
    },
  });
  const seen = await post(fake, 'responses');
  expect(seen).toMatchObject({ status: 400, text: expect.stringContaining('not like this') });
  expect(fake.requests[0]?.outcome.problem).toContain('not like this');
});

it('answers a body that is not JSON with 400, and an unknown path with 404', async () => {
  const { url } = await fakeModel();
  const bad = await fetch(`${url}/v1/messages`, { method: 'POST', body: '{"a":' });
  expect([bad.status, await bad.json()]).toMatchObject([400, { type: 'error' }]);
  const nowhere = await fetch(`${url}/v1/v1/messages`, { method: 'POST', body: '{}' });
  expect([nowhere.status, await nowhere.json()]).toMatchObject([
    404,
    { error: expect.any(String) },
  ]);
  expect((await fetch(`${url}/nothing`)).status).toBe(404);
});

it('lists its models as each provider does', async () => {
  const { url } = await fakeModel({ models: ['one', 'two'] });
  const get = async (path: string): Promise<unknown> => (await fetch(`${url}${path}`)).json();
  expect(await get('/v1/models')).toMatchObject({
    object: 'list',
    data: [
      { id: 'one', object: 'model' },
      { id: 'two', type: 'model' },
    ],
  });
  expect(await get('/v1beta/models')).toMatchObject({ models: [{ name: 'models/one' }, {}] });
  expect(await get('/api/tags')).toMatchObject({ models: [{ name: 'one' }, { name: 'two' }] });
  expect(await get('/api/version')).toEqual({ version: expect.any(String) });
  expect(await get('/fake/stats')).toEqual({ requests: 0, inFlight: 0, maxInFlight: 0 });
});

it('names the variables that point at it', async () => {
  const fake = await fakeModel({ models: ['one'] });
  const { url } = fake;
  expect(WIRE_PROTOCOLS.map((protocol) => fake.env(protocol))).toEqual([
    { ANTHROPIC_API_KEY: 'fake-key', ANTHROPIC_BASE_URL: url },
    { OPENAI_API_KEY: 'fake-key', OPENAI_BASE_URL: `${url}/v1/responses` },
    { LLM_API_KEY: 'fake-key', LLM_BASE_URL: `${url}/v1`, LLM_MODEL_ID: 'one' },
    { GEMINI_API_KEY: 'fake-key', GOOGLE_GEMINI_BASE_URL: url },
  ]);
});
