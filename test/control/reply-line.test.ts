import type { ControlReply } from '../../src/control/protocol.ts';
import { describe, expect, test } from 'vitest';
import { decodeReply, encodeReply } from '../../src/control/reply-line.ts';

function decode(line: string): ControlReply | undefined {
  return decodeReply(Buffer.from(line));
}

describe('a reply line', () => {
  test.each<ControlReply>([
    { ok: true, text: '' },
    { ok: true, text: 'two\nlines', data: { list: [1, null, 'ä'] } },
    { ok: true, text: 'nothing', data: null },
    { ok: false, error: { code: 'NOT_FOUND', message: 'no task', retryable: false } },
  ])('is read back as it was written: %j', (reply) => {
    const line = encodeReply(reply);
    expect(line.indexOf('\n')).toBe(line.length - 1);
    expect(decode(line.slice(0, -1))).toEqual(reply);
  });

  test('is read after lines of a later release, and new fields are ignored', () => {
    expect(decode('{"v":1,"type":"progress","turn":3}')).toBeUndefined();
    expect(decode('{"v":1,"type":"reply","ok":true,"text":"x","new":1}')).toEqual({
      ok: true,
      text: 'x',
    });
  });

  test('of another version is reported as such', () => {
    expect(() => decode('{"v":2,"type":"reply","ok":true,"text":"x"}')).toThrow(
      /^the running Muster process uses version 2 of the control protocol, but this command .* uses version 1/,
    );
  });

  test.each([
    '',
    'HTTP/1.1 400 Bad Request',
    '[]',
    '{"v":1}',
    '{"v":1,"type":"reply"}',
    '{"v":1,"type":"reply","ok":true}',
    '{"v":1,"type":"reply","ok":"true","text":"x"}',
    '{"v":1,"type":"reply","ok":false,"error":{"code":"NONE","message":"x","retryable":false}}',
    '{"v":1,"type":"reply","ok":false,"error":{"code":"TIMEOUT","message":"x"}}',
    '{"v":1,"type":"reply","ok":false,"error":null}',
  ])('is not read from %s', (line) => {
    expect(() => decode(line)).toThrow();
  });

  test('that is too long is replaced by an error', () => {
    const line = encodeReply({ ok: true, text: 'x'.repeat(17 * 1024 * 1024) });
    expect(decode(line)).toMatchObject({ ok: false, error: { code: 'LIMIT_EXCEEDED' } });
  });
});
