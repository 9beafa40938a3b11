import { createAdapter } from '../../../src/model/adapters/adapter.ts';
import type { ProtocolAdapter } from '../../../src/model/adapters/protocol-adapter.ts';
import { userMessage } from '../../../src/protocol/message.ts';
import type { UsageMissing } from '../../../src/protocol/model.ts';
import type { Repairs } from '../../../src/protocol/repair.ts';
import { adapterDeps, collect, request, serve } from './support.ts';

/** What a server sends: a body as it is, or the events of a stream. */
export interface Sent {
  readonly body: string;
  readonly contentType?: string;
  /** The connection is reset behind the body. */
  readonly reset?: true;
}

/** What becomes of an answer; what is absent is empty. */
export interface Read {
  readonly text?: string;
  readonly thinking?: string;
  /** Name and arguments of each call. */
  readonly calls?: readonly (readonly [name: string, input: unknown])[];
  /** Default: `stop`. */
  readonly reason?: string;
  readonly usageMissing?: UsageMissing;
  readonly repairs?: Repairs;
  /** The message of its failure. */
  readonly failed?: string;
}

/** A quirk of servers, with what one sends and what is read from it. */
export type Quirk = readonly [name: string, sent: Sent | readonly unknown[], read: Read];

/** Has a real server send an answer, and reads it. The request goes out once, or the result says so. */
export async function readQuirk(
  { dialect, model }: { readonly dialect: ProtocolAdapter; readonly model: string },
  sent: Sent | readonly unknown[],
): Promise<Read> {
  const { body, contentType = 'text/event-stream', reset } = isEvents(sent) ? stream(sent) : sent;
  await using server = await serve((response) => {
    response.writeHead(200, { 'content-type': contentType });
    if (reset === true) response.write(body, () => setTimeout(() => response.destroy(), 20));
    else response.end(body);
  });
  const endpoint = { name: 'test', baseUrl: server.url, apiKey: 'key' };
  const asked = request([userMessage('Hi')], {
    model: { provider: 'test', id: model, chain: [] },
  });
  const last = (await collect(createAdapter(dialect, endpoint, adapterDeps()), asked)).at(-1);
  if (server.requests.length !== 1) return { failed: `${server.requests.length} requests` };
  if (last?.type === 'failed') return { failed: last.failure.message };
  if (last?.type !== 'finished') return { failed: 'no end' };
  const { content } = last.message;
  const joined = (type: 'text' | 'reasoning'): string =>
    content.flatMap((part) => (part.type === type ? [part.text] : [])).join('');
  const calls = content.flatMap((part) =>
    part.type === 'tool_call' ? [[part.name, part.malformed ?? part.input] as const] : [],
  );
  return {
    ...(joined('text') === '' ? {} : { text: joined('text') }),
    ...(joined('reasoning') === '' ? {} : { thinking: joined('reasoning') }),
    ...(calls.length === 0 ? {} : { calls }),
    ...(last.reason === 'stop' ? {} : { reason: last.reason }),
    ...(last.usageMissing === undefined ? {} : { usageMissing: last.usageMissing }),
    ...(last.repairs === undefined ? {} : { repairs: last.repairs }),
  };
}

function isEvents(sent: Sent | readonly unknown[]): sent is readonly unknown[] {
  return Array.isArray(sent);
}

/** The events as server-sent events; a string is the data of one. */
export function stream(events: readonly unknown[], lineEnd = '\n'): Sent {
  const lines = events.map((event) => {
    const data = typeof event === 'string' ? event : JSON.stringify(event);
    const type = (event as { readonly type?: unknown }).type;
    const name = typeof type === 'string' ? `event: ${type}${lineEnd}` : '';
    return `${name}data: ${data}${lineEnd}${lineEnd}`;
  });
  return { body: lines.join('') };
}
