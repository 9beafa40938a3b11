import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Notifier, parseNotifyTarget } from '../../../src/front/web/notifier.ts';
import type { WebQuestion } from '../../../src/front/web/wire.ts';
import { createHttpFetch } from '../../../src/sys/http/http-fetch.ts';
import { waitUntilPasses } from '../../wait-until-passes.ts';

interface Notification {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Starts a receiver that answers with the next of these statuses, the last one again and again; 0 cuts the connection. */
async function startReceiver(...statuses: readonly number[]) {
  const received: Notification[] = [];
  const server = createServer(async (incoming, outgoing) => {
    let body = '';
    for await (const chunk of incoming) body += chunk;
    received.push({ headers: incoming.headers, body });
    const status = statuses[Math.min(received.length, statuses.length) - 1] ?? 200;
    if (status === 0) incoming.socket.destroy();
    else outgoing.writeHead(status, { location: 'http://127.0.0.1:9/canary-path' }).end();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const notices: string[] = [];
  const { port } = server.address() as AddressInfo;
  const open = (prefix = '') =>
    new Notifier({
      target: parseNotifyTarget(`${prefix}http://127.0.0.1:${port}/hook?key=canary-key`),
      fetch: createHttpFetch({}),
      onNotice: (line) => notices.push(line),
    });
  return { received, notices, open };
}

const question: WebQuestion = {
  question: {
    kind: 'permission',
    id: 'abcdefghijklq1',
    task: 'abcdefghijkl',
    callId: 'c',
    chain: ['main', 'explore'],
    description: 'canary-description',
    tool: 'Bash',
    commands: ['echo canary-command'],
    paths: ['/canary-path'],
    hosts: ['canary-host'],
    edits: [],
    input: null,
    step: 'mode',
    reason: 'canary-reason',
    askedBy: null,
    rule: null,
    scopes: [],
  },
  root: 'rootrootroot',
  askedAt: 1,
  pid: 1,
  isPutOff: false,
};

describe('a notification', () => {
  it('tells a webhook the task, the agent and the kind of the question, and nothing else', async () => {
    const { received, open } = await startReceiver();
    open().notify(question);
    await waitUntilPasses(() => expect(received).toHaveLength(1));
    expect(received[0]?.headers['content-type']).toBe('application/json');
    expect(JSON.parse(received[0]?.body ?? '')).toEqual({
      event: 'question',
      task: 'abcdefghijkl',
      root: 'rootrootroot',
      agent: 'explore',
      kind: 'permission',
    });
  });

  it('tells ntfy the same as a text', async () => {
    const { received, open } = await startReceiver();
    open('ntfy+').notify(question);
    await waitUntilPasses(() => expect(received).toHaveLength(1));
    expect(received[0]?.headers['title']).toBe('Muster: a question waits');
    expect(received[0]?.body).toBe('explore (task abcdefghijkl) asks for a permission');
  });

  it.each([
    ['an error', [500, 500, 200, 0], 'the server answered with status 500'],
    ['a cut connection', [0, 0, 200, 500], 'socket hang up'],
    ['a redirect', [302, 302, 200, 500], 'the server answered with status 302'],
  ])('that fails with %s is reported once, until one succeeds', async (_name, statuses, reason) => {
    const { received, notices, open } = await startReceiver(...statuses);
    const notifier = open();
    for (const count of [1, 2, 3]) {
      notifier.notify(question);
      await waitUntilPasses(() => expect(received).toHaveLength(count));
      await waitUntilPasses(() => expect(notices).toHaveLength(1));
    }
    // The success is noted a moment after the receiver has answered.
    await waitUntilPasses(() => {
      notifier.notify(question);
      expect(notices).toHaveLength(2);
    });
    expect(notices[0]).toContain(reason);
    expect(notices.join(' ')).not.toContain('canary');
  });
});

it.each(['', 'example.org', 'file:///etc/passwd', 'ntfy+', 'ntfy+ftp://x', 'javascript:1'])(
  'the address %j is refused',
  (text) => {
    expect(() => parseNotifyTarget(text)).toThrow('--notify: this is no address');
  },
);
