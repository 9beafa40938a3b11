import { describe, expect, test } from 'vitest';
import { classifyResponse } from '../../../src/model/adapters/send-request.ts';
import { createAdapter } from '../../../src/model/adapters/adapter.ts';
import { chatProtocol as chat } from '../../../src/model/adapters/openai-chat/chat-protocol.ts';
import { userMessage } from '../../../src/protocol/message.ts';
import { adapterDeps, collect, failed, finished, request, serve, sse } from './support.ts';

test.each([
  ['data: {}', 'text/html', 'answer'],
  ['event: x', 'text/html', 'answer'],
  [': ping', 'text/html', 'answer'],
  ['\uFEFF\r\n {"choices"', 'text/html', 'answer'],
  ['[{', 'text/html; charset=utf-8', 'answer'],
  ['<!doctype html>', 'text/html', 'page'],
  ['<', 'text/html', 'page'],
  ['Access denied', 'TEXT/HTML', 'page'],
  ['date: today', 'text/html', 'page'],
  ['', 'text/html', 'undecided'],
  [' \n', 'text/html', 'undecided'],
  ['dat', 'text/html', 'undecided'],
  ['ev', '', 'undecided'],
  ['<', 'text/plain', 'undecided'],
  ['<!DOCTYPE html><html>', 'text/plain', 'page'],
  ['<html>', '', 'page'],
  ['<think>I look at it', 'text/plain', 'answer'],
  ['data: {}', 'text/plain', 'answer'],
  ['anything', 'application/octet-stream', 'answer'],
])('the text %j with the type %j is classified as: %s', (text, type, kind) => {
  expect(classifyResponse(text, type)).toBe(kind);
});

const EVENTS = sse([
  { choices: [{ index: 0, delta: { content: 'Grüße 你好' }, finish_reason: null }] },
  { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  '[DONE]',
]);
const DOCUMENT = JSON.stringify({
  choices: [{ message: { content: 'Grüße 你好' }, finish_reason: 'stop' }],
});

/** Sends a body in pieces of so many bytes, or in one. */
async function read(body: string, contentType: string | undefined, size?: number) {
  await using server = await serve(async (response) => {
    response.writeHead(200, contentType === undefined ? {} : { 'content-type': contentType });
    response.flushHeaders();
    const bytes = Buffer.from(body);
    const step = size ?? Math.max(bytes.length, 1);
    for (let at = 0; at < bytes.length; at += step) {
      response.write(bytes.subarray(at, at + step));
      // The pieces arrive by themselves, as they do from a slow server.
      if (at < 8 * step) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    response.end();
  });
  const endpoint = { name: 'test', baseUrl: `${server.url}/v1`, apiKey: null };
  const parts = await collect(
    createAdapter(chat, endpoint, adapterDeps()),
    request([userMessage('Hi')]),
  );
  return { parts, host: new URL(server.url).host };
}

describe('over HTTP', () => {
  test.each([
    { name: 'a stream', body: EVENTS },
    { name: 'a stream that begins with a comment', body: `: ping\n\n${EVENTS}` },
    { name: 'a stream after blank lines', body: `\r\n\r\n${EVENTS}` },
    { name: 'a document', body: DOCUMENT },
  ])('$name is read with any content type, in one piece or byte by byte', async ({ body }) => {
    for (const type of ['text/html; charset=utf-8', 'text/plain', undefined]) {
      for (const size of [undefined, 1]) {
        const { parts } = await read(body, type, size);
        expect(finished(parts).message.content).toEqual([{ type: 'text', text: 'Grüße 你好' }]);
      }
    }
  });

  test.each(['text/html', 'text/plain', undefined])(
    'a page with the type %s is a page',
    async (type) => {
      for (const size of [undefined, 1]) {
        const page = '<!doctype html><title>Sign in</title>';
        const { parts, host } = await read(page, type, size);
        expect(failed(parts)).toMatchObject({ kind: 'bad_request', retryable: false });
        expect(failed(parts).message).toContain(
          `a web page instead of an answer from ${host}: "Sign in"`,
        );
      }
    },
  );

  test.each(['', ' \n', 'Access denied'])(
    '%j as text/html is a page without a title',
    async (body) => {
      expect(failed((await read(body, 'text/html')).parts).message).toContain('without a title');
    },
  );
});
