import { request as httpRequest } from 'node:http';
import { systemErrorCode } from '../../src/base/errors.ts';
import type { FakeModel, WireProtocol } from '../../src/testing/index.ts';

/** The smallest request of each protocol. */
export function smallRequest(protocol: WireProtocol, text = 'hello', { stream = true } = {}) {
  switch (protocol) {
    case 'anthropic':
      return {
        path: '/v1/messages',
        body: { model: 'm', max_tokens: 9, stream, messages: [{ role: 'user', content: text }] },
      };
    case 'responses':
      return { path: '/v1/responses', body: { model: 'm', stream, input: text } };
    case 'chat':
      return {
        path: '/v1/chat/completions',
        body: { model: 'm', stream, messages: [{ role: 'user', content: text }] },
      };
    case 'google':
      return {
        path: `/v1beta/models/m:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
        body: { contents: [{ role: 'user', parts: [{ text }] }] },
      };
  }
}

/** What a socket saw of an answer. */
export interface Seen {
  readonly status: number | null;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  /** `clean`: the body ended as HTTP says; else the error's code, or `left` when we went away. */
  readonly end: string;
}

export interface PostOptions {
  readonly stream?: boolean;
  readonly text?: string;
  /** Goes away once the body so far satisfies it. */
  readonly leaveWhen?: (body: string) => boolean;
  /** Goes away when it resolves. */
  readonly leaveAfter?: Promise<unknown>;
}

export function post(
  fake: FakeModel,
  protocol: WireProtocol,
  options: PostOptions = {},
): Promise<Seen> {
  const { path, body } = smallRequest(protocol, options.text, { stream: options.stream ?? true });
  return new Promise((resolve) => {
    let seen: Omit<Seen, 'end'> = { status: null, headers: {}, text: '' };
    let left = false;
    const outgoing = httpRequest(`${fake.url}${path}`, { method: 'POST', agent: false });
    const leave = () => {
      left = true;
      outgoing.destroy();
    };
    const settle = (end: string) => resolve({ ...seen, end: left ? 'left' : end });
    outgoing.on('error', (error) => settle(systemErrorCode(error) ?? error.message));
    outgoing.on('close', () => settle('closed'));
    outgoing.on('response', (response) => {
      seen = { status: response.statusCode ?? null, headers: response.headers, text: '' };
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        seen = { ...seen, text: seen.text + chunk };
        if (options.leaveWhen?.(seen.text) === true) leave();
      });
      response.on('end', () => settle('clean'));
      response.on('error', (error) => settle(systemErrorCode(error) ?? error.message));
    });
    void options.leaveAfter?.then(leave);
    outgoing.end(JSON.stringify(body));
  });
}

/** The data of each whole event, parsed; what is no JSON stays text. */
export function events(body: string): readonly unknown[] {
  return body
    .split('\n\n')
    .slice(0, -1)
    .flatMap((event) => event.split('\n').filter((line) => line.startsWith('data: ')))
    .map((line) => line.slice('data: '.length))
    .map((data) => {
      try {
        return JSON.parse(data);
      } catch {
        // Broken on purpose, or `[DONE]`.
        return data;
      }
    });
}
