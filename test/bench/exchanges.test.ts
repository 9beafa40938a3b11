import { expect, test } from 'vitest';
import { byTask, exchangesOf, readExchanges } from '../../bench/harness/model-server.ts';

function logLines(id: number, receivedAt: number, taskKey: string): string {
  const outcome = { status: 200, lastByteAt: receivedAt + 5 };
  const received = { event: 'received', id, receivedAt, taskKey, body: `{"n":${id}}` };
  return `${JSON.stringify(received)}\n${JSON.stringify({ event: 'ended', id, outcome })}\n`;
}

const LOG = logLines(1, 100, 'main') + logLines(2, 110, 'child') + logLines(3, 120, 'main');

function run(startedAt: number, endedAt: number) {
  return { startedAt, endedAt, code: 0, stdout: '', stderr: 'this is its output' };
}

test('a request is joined with its outcome, and grouped by task', () => {
  const exchanges = readExchanges(LOG);
  expect(exchanges[1]).toEqual({
    event: 'received',
    id: 2,
    receivedAt: 110,
    taskKey: 'child',
    rawBody: '{"n":2}',
    body: { n: 2 },
    outcome: { status: 200, lastByteAt: 115 },
  });
  expect(byTask(exchanges).map((task) => task.map(({ id }) => id))).toEqual([[1, 3], [2]]);
});

test('a request without an end is an error', () => {
  const [received = ''] = LOG.split('\n');
  expect(() => readExchanges(received)).toThrow('request 1 never ended');
});

test('the requests of a program are those that arrived while it ran', () => {
  const exchanges = readExchanges(LOG);
  expect(exchangesOf(run(105, 130), exchanges).map(({ id }) => id)).toEqual([2, 3]);
  expect(() => exchangesOf(run(200, 300), exchanges)).toThrow(
    'no request arrived: this is its output',
  );
});
