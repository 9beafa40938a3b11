import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isJsonObject, type JsonValue } from '../../src/base/json.ts';

/** A span as a receiver reads it. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly kind: number;
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly { readonly name: string }[];
  readonly links: readonly string[];
  readonly statusCode: number;
}

/** A point of a metric as a receiver reads it. */
export interface ReceivedPoint {
  readonly metric: string;
  readonly value: number;
  readonly count: number;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** The way in which a receiver answers: normally, with a status, with a redirect, or not at all. */
export type Manner =
  | { readonly kind: 'accept' }
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'redirect'; readonly to: string }
  | { readonly kind: 'hang' };

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: JsonValue;
}

/** A receiver of OTLP over HTTP, which checks that what it gets is in the JSON encoding of OTLP. */
export class Receiver implements AsyncDisposable {
  readonly requests: ReceivedRequest[] = [];
  /** The faults of what was received. */
  readonly faults: string[] = [];
  manner: Manner = { kind: 'accept' };
  private readonly server = createServer((request, response) => {
    void this.receive(request, response);
  });

  static async open(manner: Manner = { kind: 'accept' }): Promise<Receiver> {
    const receiver = new Receiver();
    receiver.manner = manner;
    await new Promise<void>((done) => {
      receiver.server.listen(0, '127.0.0.1', done);
    });
    return receiver;
  }

  get url(): string {
    const { port } = this.server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }

  /** The variables with which Muster exports to this receiver. */
  get env(): Readonly<Record<string, string>> {
    return { OTEL_EXPORTER_OTLP_ENDPOINT: this.url };
  }

  /** All spans, in the order in which they arrived. */
  get spans(): readonly ReceivedSpan[] {
    return this.requests
      .filter(({ path }) => path === '/v1/traces')
      .flatMap(({ body }) => this.decode(() => decodeSpans(body)));
  }

  /** The spans by id, of which a span that was sent twice is the last. */
  get byId(): ReadonlyMap<string, ReceivedSpan> {
    return new Map(this.spans.map((span) => [span.spanId, span]));
  }

  /** The points of the newest request with metrics. */
  get points(): readonly ReceivedPoint[] {
    const newest = this.requests.findLast(({ path }) => path === '/v1/metrics');
    return newest === undefined ? [] : this.decode(() => decodePoints(newest.body));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((done) => {
      this.server.close(done);
    });
  }

  private decode<T>(read: () => readonly T[]): readonly T[] {
    try {
      return read();
    } catch (thrown) {
      this.faults.push(String(thrown));
      return [];
    }
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const { manner } = this;
    if (manner.kind === 'hang') return;
    if (manner.kind === 'accept') {
      const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces));
      const body = JSON.parse(text) as JsonValue;
      this.requests.push({ path: request.url ?? '', headers: request.headers, body });
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      return;
    }
    if (manner.kind === 'status') response.writeHead(manner.status).end();
    else response.writeHead(307, { location: manner.to }).end();
  }
}

/** Decodes the body of a request to `/v1/traces`. Throws for what is not in the JSON encoding of OTLP. */
export function decodeSpans(body: JsonValue): readonly ReceivedSpan[] {
  return listAt(body, 'resourceSpans').flatMap((resource) =>
    listAt(resource, 'scopeSpans').flatMap((scope) => listAt(scope, 'spans').map(decodeSpan)),
  );
}

function decodeSpan(span: JsonValue): ReceivedSpan {
  const fields = toObject(span);
  const parent = fields['parentSpanId'];
  return {
    traceId: hex(fields['traceId'], 32),
    spanId: hex(fields['spanId'], 16),
    parentSpanId: parent === undefined ? null : hex(parent, 16),
    name: text(fields['name']),
    kind: Number(fields['kind']),
    start: BigInt(text(fields['startTimeUnixNano'])),
    end: BigInt(text(fields['endTimeUnixNano'])),
    attributes: decodeAttributes(fields['attributes']),
    events: listAt(span, 'events').map((event) => ({ name: text(toObject(event)['name']) })),
    links: listAt(span, 'links').map((link) => hex(toObject(link)['spanId'], 16)),
    statusCode: Number(toObject(fields['status'])['code'] ?? 0),
  };
}

/** Decodes the body of a request to `/v1/metrics`. */
export function decodePoints(body: JsonValue): readonly ReceivedPoint[] {
  const metrics = listAt(body, 'resourceMetrics').flatMap((resource) =>
    listAt(resource, 'scopeMetrics').flatMap((scope) => listAt(scope, 'metrics')),
  );
  return metrics.flatMap((metric) => {
    const { name, histogram, sum } = toObject(metric);
    return listAt(histogram ?? sum, 'dataPoints').map((point) => {
      const fields = toObject(point);
      return {
        metric: text(name),
        value: Number(fields['sum'] ?? fields['asDouble']),
        count: Number(fields['count'] ?? 1),
        attributes: decodeAttributes(fields['attributes']),
      };
    });
  });
}

function decodeAttributes(list: JsonValue | undefined): Readonly<Record<string, unknown>> {
  if (!Array.isArray(list)) throw new TypeError('attributes must be a list');
  const entries = list.map((each) => {
    const { key, value } = toObject(each);
    return [text(key), decodeValue(value)] as const;
  });
  return Object.fromEntries(entries);
}

function decodeValue(value: JsonValue | undefined): unknown {
  const entries = Object.entries(toObject(value));
  const [entry] = entries;
  if (entry === undefined || entries.length > 1) throw new TypeError('a value has one kind');
  const [kind, content] = entry;
  if (kind === 'stringValue') return text(content);
  if (kind === 'boolValue' && typeof content === 'boolean') return content;
  if (kind === 'intValue' && Number.isSafeInteger(content)) return content;
  if (kind === 'doubleValue' && typeof content === 'number') return content;
  if (kind === 'arrayValue') return listAt(content, 'values').map(decodeValue);
  throw new TypeError(`not a value: ${JSON.stringify(value)}`);
}

function toObject(value: JsonValue | undefined) {
  if (!isJsonObject(value)) throw new TypeError(`not an object: ${JSON.stringify(value)}`);
  return value;
}

function listAt(value: JsonValue | undefined, name: string): readonly JsonValue[] {
  const list = toObject(value)[name];
  if (!Array.isArray(list)) throw new TypeError(`${name} must be a list`);
  return list;
}

function text(value: JsonValue | undefined): string {
  if (typeof value !== 'string' || !value.isWellFormed()) {
    throw new TypeError(`not a text: ${JSON.stringify(value)}`);
  }
  return value;
}

function hex(value: JsonValue | undefined, digits: number): string {
  const id = text(value);
  if (!/^[\da-f]+$/.test(id) || id.length !== digits || /^0+$/.test(id)) {
    throw new TypeError(`not an id of ${digits} digits: ${id}`);
  }
  return id;
}
