import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import {
  startFakeModel,
  type FakeModel,
  type FakeModelOptions,
} from '../../../src/testing/index.ts';

/** The encoder of AWS's own library. */
const CODEC = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
  (text) => new Uint8Array(Buffer.from(text, 'utf8')),
);

/** Encodes one event of an event stream of AWS. */
export function eventFrame(name: string, payload: object): Uint8Array {
  return encode({ ':message-type': 'event', ':event-type': name }, payload);
}

/** Encodes an exception inside of an event stream of AWS. */
export function exceptionFrame(type: string, message: string): Uint8Array {
  return encode({ ':message-type': 'exception', ':exception-type': type }, { message });
}

/** Encodes an event of a model with a protocol of its own, as Bedrock does. */
export function chunkFrame(event: string): Uint8Array {
  return eventFrame('chunk', { bytes: Buffer.from(event).toString('base64'), p: 'abcdef' });
}

function encode(headers: Readonly<Record<string, string>>, payload: object): Uint8Array {
  const all = { ...headers, ':content-type': 'application/json' };
  return CODEC.encode({
    headers: Object.fromEntries(
      Object.entries(all).map(([name, value]) => [name, { type: 'string' as const, value }]),
    ),
    body: new Uint8Array(Buffer.from(JSON.stringify(payload))),
  });
}

/** A request to a cloud as it arrived. */
export interface CloudRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Answers a request before the cloud does. Returns false if it leaves the request to the cloud. */
type Interception = (request: CloudRequest, response: ServerResponse) => boolean;

interface FakeCloudOptions extends FakeModelOptions {
  /** Default: the cloud answers all requests. */
  readonly intercept?: Interception;
}

/** A server on loopback with the addresses and envelopes of the clouds, and a fake model with strict checks behind it. */
export interface FakeCloud {
  readonly url: string;
  readonly model: FakeModel;
  readonly requests: readonly CloudRequest[];
  [Symbol.asyncDispose](): Promise<void>;
}

/** The address of the fake model to which a request of a cloud is passed on, and the body that the vendor's server expects. */
interface Passed {
  readonly path: string;
  readonly body: string;
  readonly isFramed: boolean;
}

const ROUTES: readonly (readonly [RegExp, (found: RegExpExecArray, body: string) => Passed])[] = [
  [
    /^\/model\/([^/]+)\/invoke-with-response-stream$/,
    ([, id = ''], body) => ({
      path: '/v1/messages',
      body: fromCloudBody(body, decodeURIComponent(id), 'bedrock-2023-05-31'),
      isFramed: true,
    }),
  ],
  [
    /^\/v1\/projects\/[^/]+\/locations\/[^/]+\/publishers\/anthropic\/models\/([^/]+):streamRawPredict$/,
    ([, id = ''], body) => ({
      path: '/v1/messages',
      body: fromCloudBody(body, decodeURIComponent(id), 'vertex-2023-10-16'),
      isFramed: false,
    }),
  ],
  [
    /^\/v1\/projects\/[^/]+\/locations\/[^/]+\/publishers\/google(\/models\/[^/]+:streamGenerateContent.*)$/,
    ([, rest = ''], body) => ({ path: `/v1beta${rest}`, body, isFramed: false }),
  ],
  [
    /^\/openai(\/v1\/(?:responses|chat\/completions))$/,
    ([, rest = ''], body) => ({ path: rest, body, isFramed: false }),
  ],
  [
    /^\/anthropic(\/v1\/messages)$/,
    ([, rest = ''], body) => ({ path: rest, body, isFramed: false }),
  ],
];

/** Checks the body of Anthropic's protocol on a cloud, and converts it to that of Anthropic's own server. */
function fromCloudBody(body: string, model: string, version: string): string {
  const { anthropic_version: sent, ...rest }: Record<string, unknown> = JSON.parse(body);
  if (sent !== version) throw new Error(`anthropic_version is ${String(sent)}`);
  if ('model' in rest) throw new Error('model: Extra inputs are not permitted');
  return JSON.stringify({ ...rest, model, stream: true });
}

/** Starts the server. Its address is that of every cloud. */
export async function startFakeCloud(options: FakeCloudOptions = {}): Promise<FakeCloud> {
  const model = await startFakeModel(options);
  const requests: CloudRequest[] = [];
  const server = createServer((incoming, response) => {
    void answer(incoming, response, { model, requests, options });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    model,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await model.close();
    },
  };
}

interface Context {
  readonly model: FakeModel;
  readonly requests: CloudRequest[];
  readonly options: FakeCloudOptions;
}

async function answer(
  incoming: IncomingMessage,
  response: ServerResponse,
  { model, requests, options }: Context,
): Promise<void> {
  const body = await readText(incoming);
  const { method = 'GET', url: path = '/', headers } = incoming;
  const request = { method, path, headers, body };
  requests.push(request);
  if (options.intercept?.(request, response) === true) return;
  const route = ROUTES.map(([pattern, convert]) => ({ found: pattern.exec(path), convert })).find(
    ({ found }) => found !== null,
  );
  if (route?.found === undefined || route.found === null) {
    response.writeHead(404).end(JSON.stringify({ message: `no ${method} ${path}` }));
    return;
  }
  try {
    const passed = route.convert(route.found, body);
    const answered = await fetch(`${model.url}${passed.path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: passed.body,
    });
    const text = await answered.text();
    if (!answered.ok || !passed.isFramed) {
      response.writeHead(answered.status, {
        'content-type': answered.headers.get('content-type') ?? 'application/json',
      });
      response.end(text);
      return;
    }
    response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
    for (const line of text.split('\n')) {
      if (line.startsWith('data: ')) response.write(chunkFrame(line.slice('data: '.length)));
    }
    response.end();
  } catch (error) {
    response.writeHead(400).end(JSON.stringify({ message: String(error) }));
  }
}

async function readText(incoming: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString('utf8');
}

/** Writes a response of a test. */
export function reply(
  response: ServerResponse,
  status: number,
  body: object | readonly Uint8Array[],
  headers: Readonly<Record<string, string>> = {},
): true {
  if (Array.isArray(body)) {
    response.writeHead(status, {
      'content-type': 'application/vnd.amazon.eventstream',
      ...headers,
    });
    for (const piece of body) response.write(piece);
    response.end();
  } else {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  }
  return true;
}
