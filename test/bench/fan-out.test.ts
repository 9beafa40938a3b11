import { expect, test } from 'vitest';
import {
  childrenOf,
  elapsedMs,
  fanOutScript,
  idealMs,
  jobOf,
  raisedNote,
  requestsAfter,
  requestsUntil,
  toClientRequest,
  turnCount,
  type FanOut,
} from '../../bench/harness/fan-out.ts';
import { readExchanges } from '../../bench/harness/model-server.ts';

const SILENT: FanOut = { children: 3, coordinators: 0, waves: 2, turnMs: 200 };
const JOBS = ['alpha.ts', 'beta.ts'].map((keyword) => ({
  keyword,
  turns: [[{ name: 'Read', input: { file_path: keyword } }]],
}));

test('a child sends one request more than its job has turns with calls', () => {
  expect([turnCount(SILENT), idealMs(SILENT)]).toEqual([3, 600]);
  expect([turnCount({ ...SILENT, jobs: JOBS }), idealMs({ ...SILENT, jobs: JOBS })]).toEqual([
    2, 400,
  ]);
  expect(turnCount({ ...SILENT, jobs: [{ keyword: 'gamma', turns: [] }] })).toBe(1);
});

// A wave of 3 children with 3 turns each: 1 request of the main agent and 9 of the children.
test.each([
  [SILENT, 1, 0, 1, 11],
  [SILENT, 1, 2, 7, 11],
  [SILENT, 2, 1, 14, 21],
  [{ ...SILENT, isBackground: true }, 1, 1, 5, 12],
  [{ ...SILENT, coordinators: 2 }, 1, 0, 3, 15],
])('%j in wave %d and turn %d', (shape, wave, turn, until, after) => {
  expect([requestsUntil(shape, wave, turn), requestsAfter(shape, wave)]).toEqual([until, after]);
});

function exchangesOfChildren(...prompts: readonly string[]) {
  const lines = prompts.flatMap((prompt, index) => {
    const body = JSON.stringify({ messages: [{ role: 'user', content: prompt }] });
    return [0, 1].flatMap((turn) => {
      const id = 2 * index + turn;
      const received = {
        event: 'received',
        id,
        receivedAt: 100 + 10 * id,
        taskKey: `t${index}`,
        body,
      };
      const outcome = { status: 200, lastByteAt: received.receivedAt + 5 };
      return [JSON.stringify(received), JSON.stringify({ event: 'ended', id, outcome })];
    });
  });
  return readExchanges(lines.join('\n'));
}

test('the children of a run are found by their prompts, and their jobs by the keywords', () => {
  const shape = { ...SILENT, children: 2, waves: 1, jobs: JOBS };
  const exchanges = exchangesOfChildren(
    'Have all parts looked at.',
    'Look at one part: 0.0. Start with alpha.ts.',
    'Look at one part: 0.1. Start with beta.ts.',
  );
  const children = childrenOf(exchanges, shape);
  expect(children.map((task) => jobOf(task, shape))).toEqual(JOBS);
  expect(elapsedMs(children)).toBe(35);
  expect(() => childrenOf(exchanges, { ...shape, children: 3 })).toThrow(
    '2 children of 3 sent requests, 2 to 2 each instead of 2',
  );
  expect(() => childrenOf(exchanges, SILENT)).toThrow('2 children of 6 sent requests');
});

test('the script gives each child the calls of its job and then an answer', () => {
  const rules = fanOutScript({ ...SILENT, jobs: JOBS });
  expect(rules.slice(0, 3).map(({ when, answer: { toolCalls } }) => ({ when, toolCalls }))).toEqual(
    [
      { when: { promptIncludes: 'alpha.ts', toolResults: 0 }, toolCalls: JOBS[0]?.turns[0] },
      { when: { promptIncludes: 'beta.ts', toolResults: 0 }, toolCalls: JOBS[1]?.turns[0] },
      { when: { promptIncludes: 'Look at one part' }, toolCalls: undefined },
    ],
  );
});

test('a client sends the request again with its own connection headers', () => {
  const [exchange] = exchangesOfChildren('Look at one part.');
  if (exchange === undefined) throw new Error('there is one request');
  const headers = {
    host: 'localhost:1',
    'x-api-key': 'k',
    'content-length': '7',
    connection: 'close',
  };
  expect(toClientRequest({ ...exchange, path: '/v1/messages', headers })).toEqual({
    path: '/v1/messages',
    headers: { 'x-api-key': 'k' },
    body: exchange.rawBody,
  });
});

test('the note names the raised limits', () => {
  expect(raisedNote({ MUSTER_A: '1', MUSTER_B: '2' })).toBe('raised: MUSTER_A=1 MUSTER_B=2');
});
