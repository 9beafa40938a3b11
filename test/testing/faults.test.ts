import { describe, expect, it } from 'vitest';
import { WIRE_PROTOCOLS, type Answer, type Fault } from '../../src/testing/index.ts';
import { clientOf, fakeModel, listen, TOOL } from './support.ts';
import { events, post } from './wire.ts';

const ANSWER: Answer = { text: 'one,two,thr,fou,fiv,six.', chunks: 6 };
const CALLS: Answer = {
  toolCalls: [
    { name: 'Read', input: { path: 'first' } },
    { name: 'Read', input: { path: 'second' } },
  ],
};

const CALL_ID = /"(?:call_)?id":"((?:call|toolu)_[^"]+)"/g;

function broken(fault: Fault, answer: Answer = ANSWER) {
  return fakeModel({ script: () => ({ ...answer, fault }) });
}

describe.each(WIRE_PROTOCOLS)('%s', (protocol) => {
  const whole = async () => {
    const fake = await fakeModel({ script: () => ANSWER });
    return (await post(fake, protocol)).text;
  };

  it('status: code, body of the provider, Retry-After', async () => {
    const fake = await broken({ kind: 'status', status: 429, retryAfterSeconds: 7 });
    const seen = await post(fake, protocol);
    expect(seen).toMatchObject({ status: 429, end: 'clean', headers: { 'retry-after': '7' } });
    expect(JSON.parse(seen.text)).toMatchObject({ error: { message: expect.any(String) } });
    expect(fake.requests[0]?.outcome).toMatchObject({ status: 429, fault: 'status', usage: null });
  });

  it('status: is an error with its message to the provider package', async () => {
    const fake = await broken({ kind: 'status', status: 529, message: 'too much' });
    await expect(listen(clientOf(protocol, fake))).rejects.toMatchObject({
      statusCode: 529,
      message: 'too much',
      isRetryable: true,
    });
  });

  it('status: with a body of its own', async () => {
    const fake = await broken({ kind: 'status', status: 502, body: '<html>bad gateway</html>' });
    expect(await post(fake, protocol)).toMatchObject({ text: '<html>bad gateway</html>' });
  });

  it('refuse: the socket closes without a header', async () => {
    const fake = await broken({ kind: 'refuse' });
    expect(await post(fake, protocol)).toMatchObject({ status: null, end: 'ECONNRESET' });
    expect(fake.requests[0]?.outcome).toMatchObject({ status: null, abortedByClient: false });
  });

  it('reset: a number of events, then a reset', async () => {
    const fake = await broken({ kind: 'reset', afterEvents: 3 });
    const seen = await post(fake, protocol);
    expect(seen).toMatchObject({ status: 200, end: 'ECONNRESET' });
    expect(events(seen.text)).toHaveLength(3);
    expect(fake.requests[0]?.outcome).toMatchObject({ fault: 'reset', abortedByClient: false });
  });

  it('reset: by default in the middle of the content', async () => {
    const fake = await broken({ kind: 'reset' });
    const { text } = await post(fake, protocol);
    expect(text).toContain('one');
    expect(text).not.toContain('six');
  });

  it('hang: accepted, and then nothing', async () => {
    const fake = await broken({ kind: 'hang' });
    const seen = await post(fake, protocol, { leaveAfter: fake.received(1) });
    await fake.requests[0]?.ended;
    expect(seen).toMatchObject({ status: null, end: 'left' });
    expect(fake.requests[0]?.outcome).toMatchObject({ firstByteAt: null, abortedByClient: true });
    expect(fake.inFlight()).toBe(0);
  });

  it('hang_after: a number of events, then silence', async () => {
    const fake = await broken({ kind: 'hang_after', afterEvents: 2 });
    const seen = await post(fake, protocol, { leaveWhen: (body) => events(body).length === 2 });
    await fake.requests[0]?.ended;
    expect(seen).toMatchObject({ status: 200, end: 'left' });
    expect(fake.requests[0]?.outcome).toMatchObject({ abortedByClient: true, usage: null });
  });

  it('truncate: all content, a clean end, no final events', async () => {
    const fake = await broken({ kind: 'truncate' });
    const seen = await post(fake, protocol);
    expect(seen.end).toBe('clean');
    expect(seen.text).toContain('six');
    expect((await whole()).length).toBeGreaterThan(seen.text.length);
    expect(seen.text).not.toMatch(
      /message_stop|response\.completed|DONE|"finish_reason":"|finishReason/,
    );
    expect(fake.requests[0]?.outcome.usage).toBe(null);
  });

  it('half_event: ends inside an event', async () => {
    const fake = await broken({ kind: 'half_event', afterEvents: 2 });
    const seen = await post(fake, protocol);
    expect(seen.end).toBe('clean');
    expect(events(seen.text)).toHaveLength(2);
    expect(seen.text.endsWith('\n\n')).toBe(false);
  });

  it('malformed_frame: one event is not JSON, the others are as usual', async () => {
    const fake = await broken({ kind: 'malformed_frame', afterEvents: 2 });
    const all = events((await post(fake, protocol)).text);
    expect(all[2]).toEqual(expect.stringContaining('oops'));
    expect(all).toHaveLength(events(await whole()).length + 1);
    const heard = await listen(clientOf(protocol, fake));
    expect(heard.errors).not.toEqual([]);
  });

  it('overloaded: the error event of the provider, inside the stream', async () => {
    const fake = await broken({ kind: 'overloaded' });
    const seen = await post(fake, protocol);
    expect(seen).toMatchObject({ status: 200, end: 'clean' });
    const heard = await listen(clientOf(protocol, fake));
    expect(heard.errors).toHaveLength(1);
    expect(JSON.stringify(heard.errors)).toMatch(/overloaded/i);
  });

  it('broken_tool_json: no call with complete arguments', async () => {
    const fake = await broken({ kind: 'broken_tool_json' }, CALLS);
    const seen = await post(fake, protocol);
    if (protocol === 'google') expect(seen.text).toContain('MALFORMED_FUNCTION_CALL');
    else {
      expect(seen.text).toContain(String.raw`{\"path\":\"first\"`);
      expect(seen.text).not.toContain(String.raw`{\"path\":\"first\"}`);
    }
  });

  it('duplicate_tool_ids: two calls, one id', async () => {
    const fake = await broken({ kind: 'duplicate_tool_ids' }, CALLS);
    // On the wire, since one provider package replaces an id that comes twice.
    const ids = [...(await post(fake, protocol)).text.matchAll(CALL_ID)].map((match) => match[1]);
    expect(new Set(ids).size).toBe(1);
    expect(ids.length).toBeGreaterThanOrEqual(2);
  });

  it('empty: complete, without content', async () => {
    const fake = await broken({ kind: 'empty' });
    expect(await listen(clientOf(protocol, fake))).toMatchObject({
      text: '',
      calls: [],
      finish: { finishReason: { unified: 'stop' }, usage: { outputTokens: { total: 0 } } },
      errors: [],
    });
  });

  it('length_stop: ends for length inside of a call', async () => {
    const fake = await broken({ kind: 'length_stop' }, CALLS);
    const seen = await post(fake, protocol);
    expect(seen.text).not.toContain('second');
    expect(seen.text).toMatch(/max_tokens|"finish_reason":"length"|incomplete|MAX_TOKENS/);
    const heard = await listen(clientOf(protocol, fake), { tools: [TOOL] });
    expect(heard.finish?.finishReason.unified).toBe('length');
  });

  it('ping_forever: pings without content', async () => {
    const fake = await broken({ kind: 'ping_forever', everyMs: 1 });
    const pings = (body: string) => body.split(/: ping\n/).length - 1;
    const seen = await post(fake, protocol, { leaveWhen: (body) => pings(body) >= 5 });
    expect(seen.end).toBe('left');
    expect(seen.text).not.toContain('one');
  });

  it('thinking_forever: thoughts without end', async () => {
    const fake = await broken({ kind: 'thinking_forever', everyMs: 1 });
    const seen = await post(fake, protocol, {
      leaveWhen: (body) => body.split('hmm').length > 5,
    });
    expect(seen.end).toBe('left');
    await fake.requests[0]?.ended;
    expect(fake.requests[0]?.outcome).toMatchObject({ abortedByClient: true, usage: null });
  });

  it('wrong_content_type: a page', async () => {
    const fake = await broken({ kind: 'wrong_content_type' });
    expect(await post(fake, protocol)).toMatchObject({
      status: 200,
      headers: { 'content-type': expect.stringContaining('text/html') },
      text: expect.stringContaining('<html>'),
    });
  });

  it('huge: a number of megabytes of text', async () => {
    const fake = await broken({ kind: 'huge', megabytes: 3 });
    const heard = await listen(clientOf(protocol, fake));
    expect(heard.text.length).toBe(3 * 2 ** 20);
    expect(heard.finish?.usage.outputTokens.total).toBe((3 * 2 ** 20) / 4);
  });

  it.each(['reset', 'hang_after', 'truncate', 'overloaded'] as const)(
    'without events: %s breaks the single body',
    async (kind) => {
      const fake = await broken({ kind });
      const seen = await post(fake, protocol, {
        stream: false,
        ...(kind === 'hang_after' ? { leaveWhen: (body) => body.length > 0 } : {}),
      });
      const end = {
        reset: 'ECONNRESET',
        hang_after: 'left',
        truncate: 'clean',
        overloaded: 'clean',
      };
      expect(seen.end).toBe(end[kind]);
      if (kind === 'overloaded') expect(seen.status).toBe(503);
      else expect(() => JSON.parse(seen.text)).toThrow(SyntaxError);
    },
  );
});

it('slow_headers: header lines, never the end of them', async () => {
  const fake = await broken({ kind: 'slow_headers', everyMs: 1 });
  const { createConnection } = await import('node:net');
  const socket = createConnection(Number(new URL(fake.url).port), '127.0.0.1');
  socket.setEncoding('utf8');
  const messages = [{ role: 'user', content: 'hi' }];
  const body = JSON.stringify({ model: 'm', max_tokens: 100, messages });
  const head = `POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n`;
  socket.write(`${head}${body}`);
  let text = '';
  for await (const chunk of socket) {
    text += String(chunk);
    if (text.includes('x-slow-3')) break;
  }
  expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(text).not.toContain('\r\n\r\n');
  await fake.requests[0]?.ended;
  expect(fake.requests[0]?.outcome).toMatchObject({ fault: 'slow_headers', abortedByClient: true });
});
