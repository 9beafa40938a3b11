import {
  isJSONRPCRequest,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type AuthProvider,
  type FetchLike,
  type JSONRPCMessage,
} from '@modelcontextprotocol/client';
import type { HttpTransport } from './server-entry.ts';

/** The code of JSON-RPC for errors of an implementation. */
const STREAM_ENDED_CODE = -32_000;
/** The data of the error by which `isStreamEnd` recognizes it. */
const STREAM_ENDED = { streamEnded: true };

type SendOptions = Parameters<StreamableHTTPClientTransport['send']>[1];

/**
 * The transport for streamable HTTP. In addition to the SDK's own transport, it ends a request whose response stream
 * ends without a response, instead of waiting for the time limit.
 */
export class StreamingTransport extends StreamableHTTPClientTransport {
  /** True while the transport reports the end of a stream, to which a response may have come already. */
  isReportingEnd = false;

  override send(message: JSONRPCMessage | JSONRPCMessage[], options?: SendOptions): Promise<void> {
    if (Array.isArray(message) || !isJSONRPCRequest(message)) return super.send(message, options);
    const { id } = message;
    return super.send(message, {
      ...options,
      onRequestStreamEnd: () => {
        options?.onRequestStreamEnd?.();
        const error = {
          code: STREAM_ENDED_CODE,
          message: 'the response ended without a result',
          data: STREAM_ENDED,
        };
        this.isReportingEnd = true;
        this.onmessage?.({ jsonrpc: '2.0', id, error });
        this.isReportingEnd = false;
      },
    });
  }
}

/** Tells whether the data of an error says that a response stream ended without a response. */
export function isStreamEnd(data: unknown): boolean {
  return typeof data === 'object' && data !== null && 'streamEnded' in data;
}

/** A connection over HTTP to open. */
export interface HttpConnection {
  readonly transport: HttpTransport;
  /** The headers of the entry and of its helper. */
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: FetchLike;
  /** The login to the server. Null if the entry has its own header for that, or if there is no store of logins. */
  readonly login: AuthProvider | null;
}

/** Creates the transport for streamable HTTP. */
export function createStreamingTransport(connection: HttpConnection): StreamingTransport {
  return new StreamingTransport(new URL(connection.transport.url), toOptions(connection));
}

/** Creates the transport that was used before streamable HTTP. */
export function createSseTransport(connection: HttpConnection): SSEClientTransport {
  return new SSEClientTransport(new URL(connection.transport.url), toOptions(connection));
}

function toOptions({ headers, fetch, login }: HttpConnection) {
  return { fetch, requestInit: { headers }, ...(login === null ? {} : { authProvider: login }) };
}
