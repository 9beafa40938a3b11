import { array, assert, asyncProperty, constantFrom, integer } from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  checkMessage,
  ClientMessageLines,
  type UnusableMessage,
} from '../../../src/front/mcp-server/message-lines.ts';

const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

/** Writes chunks, and returns what is passed on and what is reported. */
async function read(chunks: readonly Buffer[], maxBytes: number) {
  const reported: UnusableMessage[] = [];
  const lines = new ClientMessageLines(maxBytes, (message) => reported.push(message));
  for (const chunk of chunks) lines.write(chunk);
  lines.end();
  const passed: string[] = [];
  for await (const chunk of lines) passed.push(String(chunk));
  return { passed, reported };
}

describe('a line', () => {
  const parse = { code: -32_700, id: null };
  const invalid = { code: -32_600, id: null };
  test.each([
    [ping, null],
    ['{"jsonrpc":"2.0","method":"notifications/initialized"}', null],
    ['{"jsonrpc":"2.0","id":1,"result":{}}', null],
    ['', 'empty'],
    ['  \r', 'empty'],
    ['not json', parse],
    ['{"jsonrpc":"2.0"', parse],
    ['\u0000', parse],
    ['null', invalid],
    ['[]', invalid],
    ['{}', invalid],
    ['{"jsonrpc":"1.0","id":7,"method":"ping"}', { ...invalid, id: 7 }],
    ['{"jsonrpc":"2.0","id":"a","method":5}', { ...invalid, id: 'a' }],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', invalid],
  ] as const)('%j is %j', (line, outcome) => {
    const found = checkMessage(line);
    expect(found).toEqual(
      outcome === null || outcome === 'empty'
        ? outcome
        : { ...outcome, problem: expect.any(String) },
    );
  });
});

test('messages are passed on whole, however they are split, and a long one is skipped', async () => {
  const long = `{"jsonrpc":"2.0","id":2,"method":"${'x'.repeat(200)}"}`;
  await assert(
    asyncProperty(
      array(constantFrom(ping, long, 'garbage', ''), { maxLength: 12 }),
      array(integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 8 }),
      async (lines, sizes) => {
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
        const chunks: Buffer[] = [];
        for (let from = 0, turn = 0; from < bytes.length; turn += 1) {
          const size = sizes[turn % sizes.length] ?? 1;
          chunks.push(bytes.subarray(from, from + size));
          from += size;
        }
        const { passed, reported } = await read(chunks, 100);
        const wanted = lines.filter((line) => line === ping).map((line) => `${line}\n`);
        expect(passed.join('')).toBe(wanted.join(''));
        expect(reported.map(({ code }) => code)).toEqual(
          lines.flatMap((line) =>
            line === long ? [-32_600] : line === 'garbage' ? [-32_700] : [],
          ),
        );
      },
    ),
  );
});

test('a message that is too long names the limit', async () => {
  const { reported } = await read([Buffer.from(`${'x'.repeat(50)}\n`)], 10);
  expect(reported).toEqual([
    {
      code: -32_600,
      problem: 'the message has 50 bytes, which is more than the limit of 10',
      id: null,
    },
  ]);
});

test('a message that breaks off is not passed on', async () => {
  expect(await read([Buffer.from(`${ping}\n{"jsonrpc"`)], 100)).toEqual({
    passed: [`${ping}\n`],
    reported: [],
  });
});
