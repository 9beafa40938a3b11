import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { McpElicitation, McpElicitationAnswer } from '../../src/mcp/server-data.ts';
import { startStreamingServer } from './servers/http.ts';
import { createHost, EVERYTHING, FAULTY, firstText, FOREVER, readEntry } from './support.ts';

function createAsker(answer: McpElicitationAnswer, waitMs = 0) {
  const questions: McpElicitation[] = [];
  const ask = async (question: McpElicitation): Promise<McpElicitationAnswer> => {
    questions.push(question);
    await sleep(waitMs);
    return answer;
  };
  return { ask, questions };
}

test('a question of the newest revision is answered with the content of the form', async () => {
  const { ask, questions } = createAsker({ action: 'accept', content: { name: 'Ada' } });
  const host = createHost({ ask });
  const server = host.open(host.stdio(EVERYTHING));
  const result = await server.callTool('ask', {}, { signal: FOREVER, callId: 'call1' });
  expect(JSON.parse(firstText(result))).toEqual({ action: 'accept', content: { name: 'Ada' } });
  expect(questions).toEqual([
    {
      server: 's',
      message: 'Your name?',
      callIds: ['call1'],
      mode: 'form',
      schema: { type: 'object', properties: { name: { type: 'string' } } },
    },
  ]);
});

test.each(['stdio', 'http'])(
  'a question in the result of a call belongs to it: %s',
  async (type) => {
    const { ask, questions } = createAsker({ action: 'cancel' }, 50);
    const host = createHost({ ask });
    const { url } = await startStreamingServer();
    const entry = type === 'http' ? readEntry({ url: `${url}/mcp` }) : host.stdio(EVERYTHING);
    const server = host.open(entry);
    const calls = ['call1', 'call2', 'call3'].map((callId) =>
      server.callTool('ask', {}, { signal: FOREVER, callId }),
    );
    await Promise.all(calls);
    expect(questions.flatMap(({ callIds }) => callIds).toSorted()).toEqual([
      'call1',
      'call2',
      'call3',
    ]);
  },
);

test('a question to open a page has its URL, and the answer has no content', async () => {
  const { ask, questions } = createAsker({ action: 'accept', content: { not: 'sent' } });
  const host = createHost({ ask });
  const server = host.open(host.stdio(EVERYTHING));
  const result = await server.callTool('visit', {}, { signal: FOREVER });
  expect(JSON.parse(firstText(result))).toEqual({ action: 'accept' });
  expect(questions).toEqual([
    { server: 's', message: 'Log in.', callIds: [], mode: 'url', url: 'https://x.dev/login' },
  ]);
});

test.each(['decline', 'cancel'] as const)(
  'a question of an older revision is answered: %s',
  async (action) => {
    const { ask, questions } = createAsker({ action });
    const host = createHost({ ask });
    const server = host.open(host.stdio(FAULTY));
    const result = await server.callTool('elicit', {}, { signal: FOREVER, callId: 'call1' });
    expect(JSON.parse(firstText(result))).toEqual({ action });
    expect(questions).toMatchObject([{ mode: 'form', message: 'Sure?', callIds: ['call1'] }]);
  },
);

test('the limits of calls do not count the time in which the user is asked', async () => {
  const { ask } = createAsker({ action: 'cancel' }, 1500);
  const host = createHost({ ask });
  const limits = { call_seconds: 0.7, max_call_seconds: 0.9 };
  const server = host.open(host.stdio(FAULTY, {}, limits));
  const result = await server.callTool('elicit', {}, { signal: FOREVER });
  expect(JSON.parse(firstText(result))).toEqual({ action: 'cancel' });
});

test('a call that needs a page to be opened first is repeated when the user has agreed', async () => {
  const { ask, questions } = createAsker({ action: 'accept', content: {} });
  const host = createHost({ ask });
  const server = host.open(host.stdio(FAULTY));
  expect(firstText(await server.callTool('needs-login', {}, { signal: FOREVER }))).toBe('welcome');
  expect(questions).toMatchObject([{ mode: 'url', url: 'https://x.dev/in' }]);
});

test('a call that needs a page to be opened first fails when the user does not agree', async () => {
  const { ask } = createAsker({ action: 'decline' });
  const host = createHost({ ask });
  const server = host.open(host.stdio(FAULTY));
  await expect(server.callTool('needs-login', {}, { signal: FOREVER })).rejects.toMatchObject({
    message: 'MCP server s: error -32042: Log in first',
    kind: 'refused',
  });
});

test('servers are told if nobody can be asked', async () => {
  const host = createHost();
  const old = host.open(host.stdio(FAULTY));
  expect(firstText(await old.callTool('elicit', {}, { signal: FOREVER }))).toBe('-32601');
  const newest = host.open(host.stdio(EVERYTHING));
  await expect(newest.callTool('ask', {}, { signal: FOREVER })).rejects.toThrow('MCP server s: ');
});
