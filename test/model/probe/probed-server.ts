import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import {
  createServer,
  request as forward,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import {
  startFakeModel,
  type Answer,
  type FakeModel,
  type FakeModelOptions,
  type RecordedRequest,
  type WireProtocol,
} from '../../../src/testing/index.ts';

const TLS = join(import.meta.dirname, '../../fixtures/tls');

/** The abilities of a model and its server. The default is a server that supports everything. */
export interface Abilities {
  /** Default: all. */
  readonly protocols?: readonly WireProtocol[];
  /** The number of calls that the model makes in one answer. Default: as many as it is asked for. */
  readonly maxCalls?: number;
  /** Writes calls as text. */
  readonly callsAsText?: true;
  /** Refuses every request with tools, with this message. */
  readonly toolRefusal?: string;
  /** `refused`: with status 400; `crash`: with status 500; `blind`: accepted and not seen. Default: it sees them. */
  readonly images?: 'refused' | 'crash' | 'blind';
  /** Refuses schemas that match, with this message. */
  readonly schemaRefusals?: readonly (readonly [pattern: RegExp, message: string])[];
  /** Thinks this text before each answer, if the effort is not `none` or `low`. */
  readonly thinking?: string;
  /** Uses all tokens of each answer for thinking. */
  readonly onlyThinks?: true;
  readonly pieces?: number;
  /** The time between pieces. Default: 0. */
  readonly chunkMs?: number;
  /** The number of tokens after which a prompt is cut. */
  readonly window?: number;
  readonly strict?: FakeModelOptions['strict'];
  readonly models?: readonly string[];
  /** Answers instead of the model; undefined: the model answers. */
  readonly before?: (request: RecordedRequest) => Answer | undefined;
}

/** Starts a server on loopback whose model has these abilities, and does what a probe asks for. */
export function startProbedModel(abilities: Abilities = {}): Promise<FakeModel> {
  const { models, strict } = abilities;
  return startFakeModel({
    script: (request) => abilities.before?.(request) ?? answer(request, abilities),
    ...(models !== undefined && { models }),
    ...(strict !== undefined && { strict }),
  });
}

function answer(request: RecordedRequest, abilities: Abilities): Answer {
  const { protocols, toolRefusal, schemaRefusals = [], pieces = 10, chunkMs = 0 } = abilities;
  if (protocols !== undefined && !protocols.includes(request.protocol)) {
    return refuse(404, 'Not Found');
  }
  if (toolRefusal !== undefined && request.tools.length > 0) return refuse(400, toolRefusal);
  const schemas = JSON.stringify(request.tools.map(({ schema }) => schema));
  const refused = schemaRefusals.find(([pattern]) => pattern.test(schemas));
  if (refused !== undefined) return refuse(400, refused[1]);
  const effort = /"(?:reasoning_effort|effort)":"(\w+)"/.exec(request.rawBody)?.[1];
  const thinks = effort !== 'none' && effort !== 'low' ? abilities.thinking : undefined;
  if (abilities.onlyThinks === true || (thinks !== undefined && effort === undefined)) {
    return { thinking: thinks ?? 'Hm.', stop: 'length', chunks: 2, usage: { output: 64 } };
  }
  return {
    chunks: pieces,
    chunkMs,
    ...(thinks !== undefined && { thinking: thinks }),
    ...reply(request, abilities),
  };
}

function refuse(status: number, message: string): Answer {
  return { fault: { kind: 'status', status, message } };
}

function reply(request: RecordedRequest, abilities: Abilities): Answer {
  const last = request.messages.at(-1);
  const text = last?.text ?? '';
  const { maxCalls = 2, images, window = Infinity } = abilities;
  if ((last?.attachments ?? []).length > 0) {
    if (images === 'refused') return refuse(400, 'This model does not support image input');
    if (images === 'crash') return refuse(500, 'panic: height:1 must be larger than factor:32');
    return { text: images === 'blind' ? 'I see no image.' : 'Red.' };
  }
  if (text.startsWith('Count from one')) {
    return { text: 'one, two, three, four, five, six, seven, eight, nine, ten' };
  }
  if (text.startsWith('Which password')) {
    const tokens = Math.ceil(request.system.length / 4);
    const isCut = tokens > window;
    return { text: isCut ? 'None.' : 'harbour', ...(isCut && { usage: { input: window } }) };
  }
  if (last?.role === 'tool' || (last?.toolResults ?? []).length > 0) return { text: 'harbour' };
  const files = [...text.matchAll(/file (\w+\.txt)/g)].map(([, file]) => file ?? '');
  if (files.length === 0) return { text: 'ready' };
  if (abilities.callsAsText === true) {
    return {
      text: `<tool_call>\n{"name": "Read", "arguments": {"file_path": "${files[0]}"}}\n</tool_call>`,
    };
  }
  if (maxCalls === 0) return { text: 'I cannot read files.' };
  return {
    toolCalls: files
      .slice(0, maxCalls)
      .map((file) => ({ name: 'Read', input: { file_path: file } })),
  };
}

/** A server before a model. */
export interface Gateway extends AsyncDisposable {
  readonly url: string;
  /** Methods and paths of the requests. */
  readonly seen: readonly string[];
}

export interface GatewayOptions {
  /** Maps a path to that of the model; null: the gateway answers with `page`. */
  readonly map?: (path: string) => string | null;
  /** The status and body for a path that is not mapped. Default: 404 and a web page. */
  readonly page?: readonly [status: number, body: string];
  readonly tls?: true;
}

const NOT_FOUND: readonly [number, string] = [404, '<html><title>404 Not Found</title></html>'];

/** Starts a server that passes requests on to a model. */
export async function startGateway(target: string, options: GatewayOptions = {}): Promise<Gateway> {
  const { map = (path) => path, page = NOT_FOUND } = options;
  const seen: string[] = [];
  const serve = (incoming: IncomingMessage, response: ServerResponse): void => {
    seen.push(`${incoming.method} ${incoming.url}`);
    const path = map(incoming.url ?? '/');
    if (path === null) {
      incoming.resume();
      response.writeHead(page[0], { 'content-type': 'text/html' }).end(page[1]);
      return;
    }
    const { method, headers } = incoming;
    const passed = forward(new URL(path, target), { method, headers }, (answered) => {
      response.writeHead(answered.statusCode ?? 500, answered.headers);
      answered.pipe(response);
    });
    incoming.pipe(passed);
  };
  const server =
    options.tls === true
      ? createTlsServer(
          {
            key: readFileSync(join(TLS, 'server-key.pem')),
            cert: readFileSync(join(TLS, 'server.pem')),
          },
          serve,
        )
      : createServer(serve);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `${options.tls === true ? 'https' : 'http'}://127.0.0.1:${port}`,
    seen,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
