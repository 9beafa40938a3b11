import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { onTestFinished } from 'vitest';
import type { Session } from '../../../src/api/index.ts';
import {
  serveTasksOverHttp,
  type ServeHttpOptions,
} from '../../../src/front/mcp-server/http/serve-http.ts';
import type { startFakeModel } from '../../../src/testing/index.ts';
import { openServingSession } from './support.ts';

/** The token of the servers of the tests. */
export const TOKEN = 'a-token-of-the-server';
export const headers = { authorization: `Bearer ${TOKEN}` };
export type Script = Parameters<typeof startFakeModel>[0];
export type Revision = 'old' | 'new';
export interface Served {
  readonly url: string;
  readonly session: Session;
  readonly notices: readonly string[];
}

/** Serves a session against a fake model over HTTP on a free port, until the end of the test. */
export async function serve(
  script: Script,
  options: Partial<ServeHttpOptions> = {},
): Promise<Served> {
  const session = await openServingSession(script);
  const stop = new AbortController();
  const notices: string[] = [];
  const listening = Promise.withResolvers<string>();
  const served = serveTasksOverHttp(session, {
    address: { host: '127.0.0.1', port: 0 },
    token: TOKEN,
    hasToolPerAgent: false,
    onListening: listening.resolve,
    onNotice: (line) => notices.push(line),
    signal: stop.signal,
    ...options,
  });
  onTestFinished(async () => {
    stop.abort();
    await served;
  });
  return { url: await listening.promise, session, notices };
}

/** Connects the client of the SDK. `asks`: it accepts each form with the answer yes. */
export async function open({ url }: Served, revision: Revision, asks = false) {
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  const client = new Client(
    { name: 'test', version: '1' },
    {
      capabilities: asks ? { elicitation: { form: {} } } : {},
      ...(revision === 'new' ? { versionNegotiation: { mode: 'auto' as const } } : {}),
    },
  );
  if (asks) {
    client.setRequestHandler('elicitation/create', async () => ({
      action: 'accept',
      content: { answer: 'yes' },
    }));
  }
  await client.connect(transport);
  onTestFinished(async () => await client.close());
  return { client, transport };
}
