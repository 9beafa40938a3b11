import { describe, expect, it } from 'vitest';
import { parseInputLine } from '../../src/protocol/input-line.ts';

const content = (value: unknown) =>
  JSON.stringify({ type: 'user', message: { role: 'user', content: value }, session_id: 's' });

describe('parseInputLine', () => {
  it.each([
    ['{"type":"user","text":"hello","more":1}', { type: 'user', text: 'hello' }],
    [content('hello'), { type: 'user', text: 'hello' }],
    [
      content([
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ]),
      { type: 'user', text: 'a\n\nb' },
    ],
    ['{"type":"interrupt"}', { type: 'interrupt' }],
    [
      '{"type":"answer","question":"t1q1","text":"no","reason":"later","scope":"task"}',
      { type: 'answer', question: 't1q1', text: 'no', reason: 'later', scope: 'task' },
    ],
  ])('reads %s', (line, expected) => {
    expect(parseInputLine(line)).toEqual(expected);
  });

  it.each([
    ['hello', 'the line is not JSON; valid: {"type":"user","text":"…"}'],
    ['["user"]', 'the line is not a JSON object'],
    ['{"text":"hello"}', 'the line has no known type'],
    ['{"type":"user"}', 'a message needs its text'],
    ['{"type":"user","text":7}', 'a message needs its text'],
    ['{"type":"user","text":" "}', 'the message is empty'],
    ['{"type":"user","message":"hello"}', 'a message needs its text'],
    ['{"type":"user","message":{"role":"assistant","content":"x"}}', 'message.role must be "user"'],
    [content([{ type: 'image' }]), 'message.content may only hold parts of the form'],
    ['{"type":"answer","text":"yes"}', 'an answer needs the id of the question and a text'],
    [
      '{"type":"answer","question":"q","text":"no","reason":1}',
      'reason of an answer must be a text',
    ],
  ])('refuses %s', (line, message) => {
    expect(() => parseInputLine(line)).toThrow(message);
  });
});
