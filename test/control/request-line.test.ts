import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MusterError } from '../../src/base/errors.ts';
import { decodeRequest, encodeRequest } from '../../src/control/request-line.ts';
import type { ControlRequest } from '../../src/control/protocol.ts';

function decode(value: unknown): ControlRequest {
  return decodeRequest(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)));
}

function refusal(value: unknown): unknown {
  try {
    return decode(value);
  } catch (thrown) {
    return thrown instanceof MusterError ? `${thrown.code} ${thrown.message}` : thrown;
  }
}

const words = fc.string({ unit: 'binary', minLength: 1 }).filter((text) => text.trim() !== '');
const task = fc.stringMatching(/^[a-z0-9]{1,32}$/);
const requests: fc.Arbitrary<ControlRequest> = fc.oneof(
  fc.record(
    { op: fc.constant('stop' as const), task, because: words },
    { requiredKeys: ['op', 'task'] },
  ),
  fc.record({ op: fc.constant('send' as const), task, message: words }),
  fc.record(
    {
      op: fc.constant('resume' as const),
      task,
      prompt: words,
      model: words,
      max_turns: fc.integer({ min: 1 }),
    },
    { requiredKeys: ['op', 'task'] },
  ),
  fc.record({ op: fc.constant('background' as const), task }),
  fc.record(
    {
      op: fc.constant('answer' as const),
      task,
      question: words,
      answer: words,
      scope: words,
      reason: words,
      plan: words,
    },
    { requiredKeys: ['op', 'task', 'question', 'answer'] },
  ),
);

describe('a request line', () => {
  test('is read back as it was written, on one line', () => {
    fc.assert(
      fc.property(requests, (request) => {
        const line = encodeRequest(request);
        expect(line.indexOf('\n')).toBe(line.length - 1);
        expect(decode(line.slice(0, -1))).toEqual({ ...request });
      }),
    );
  });

  test('of any other form is refused with a MusterError', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json(),
          fc.string(),
          fc.json().map((v) => `{"v":1,"op":${v}}`),
        ),
        (line) => {
          expect(() => decode(line)).toThrow(MusterError);
        },
      ),
    );
  });

  const stop = { v: 1, op: 'stop', task: 'abc' };
  const resume = { v: 1, op: 'resume', task: 'abc' };
  test.each<[unknown, string]>([
    ['', 'INVALID_PARAM the request is not a JSON object in UTF-8 on one line'],
    ['[1]', 'INVALID_PARAM the request is not a JSON object in UTF-8 on one line'],
    ['['.repeat(500_000), 'INVALID_PARAM the request is not a JSON object in UTF-8 on one line'],
    [{ ...stop, v: undefined }, 'CONFLICT this command uses no version that can be read'],
    [{ v: 2, op: 'new', anything: 1 }, 'CONFLICT this command uses version 2 of the control'],
    [
      { ...stop, op: 'kill' },
      'INVALID_PARAM op: "kill" is not an operation; valid: stop, send, resume, backg',
    ],
    [{ ...stop, op: 'constructor' }, 'INVALID_PARAM op: "constructor" is not an operation'],
    [{ v: 1 }, 'INVALID_PARAM op: nothing is not an operation'],
    [
      { ...stop, why: 'x' },
      'INVALID_PARAM "why" is not a field of stop; valid: v, op, task, because',
    ],
    [
      '{"v":1,"op":"stop","task":"a","__proto__":{}}',
      'INVALID_PARAM "__proto__" is not a field of stop',
    ],
    [{ ...stop, message: 'x' }, 'INVALID_PARAM "message" is not a field of stop'],
    [{ v: 1, op: 'stop' }, 'INVALID_PARAM task: nothing is not a task id or the beginning of one'],
    [{ ...stop, task: '' }, 'INVALID_PARAM task: "" is not a task id'],
    [{ ...stop, task: '../x' }, 'INVALID_PARAM task: "../x" is not a task id'],
    [{ ...stop, task: 'a\n' }, 'INVALID_PARAM task: "a\\n" is not a task id'],
    [{ ...stop, task: 'a'.repeat(33) }, `INVALID_PARAM task: "${'a'.repeat(33)}" is not a task id`],
    [{ ...stop, task: ['a'] }, 'INVALID_PARAM task: a list is not a task id'],
    [{ ...stop, because: 7 }, 'INVALID_PARAM because: must be a text that is not empty, not 7'],
    [
      { ...stop, because: null },
      'INVALID_PARAM because: must be a text that is not empty, not null',
    ],
    [{ v: 1, op: 'send', task: 'a' }, 'INVALID_PARAM message: is missing'],
    [{ v: 1, op: 'send', task: 'a', message: ' ' }, 'INVALID_PARAM message: must be a text'],
    [{ ...resume, prompt: '' }, 'INVALID_PARAM prompt: must be a text'],
    [
      { ...resume, model: {} },
      'INVALID_PARAM model: must be a text that is not empty, not an object',
    ],
    [{ ...resume, max_turns: 0 }, 'INVALID_PARAM max_turns: must be a whole number from 1, not 0'],
    [{ ...resume, max_turns: 1.5 }, 'INVALID_PARAM max_turns: must be a whole number'],
    [
      { ...resume, max_turns: '3' },
      'INVALID_PARAM max_turns: must be a whole number from 1, not "3"',
    ],
    [{ ...resume, max_turns: 1e300 }, 'INVALID_PARAM max_turns: must be a whole number'],
    [
      { v: 1, op: 'background', task: 'a', because: 'x' },
      'INVALID_PARAM "because" is not a field of',
    ],
  ])('%j', (value, expected) => {
    expect(String(refusal(value)).slice(0, expected.length)).toBe(expected);
  });

  test('with invalid UTF-8 is refused', () => {
    const line = Buffer.from([
      ...Buffer.from('{"v":1,"op":"stop","task":"a","because":"'),
      0xff,
      0x22,
      0x7d,
    ]);
    expect(() => decodeRequest(line)).toThrow('not a JSON object in UTF-8');
  });
});
