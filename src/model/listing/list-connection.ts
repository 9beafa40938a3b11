import { rejectOnAbort } from '../../base/async.ts';
import { VERSION } from '../../base/version.ts';
import type { HttpFetch, ResponseBody } from '../../sys/http/http-types.ts';
import { WrongServerError } from '../adapters/errors/answer-errors.ts';
import type { Endpoint } from '../adapters/protocol-adapter.ts';
import { sendRequest } from '../adapters/send-request.ts';
import type { ProtocolName } from '../settings/presets.ts';

/** The maximum number of bytes that the lists of one provider may have together. The largest ones have two million. */
const MAX_LIST_BYTES = 16 * 1024 * 1024;

/** The headers that each protocol needs beside those that every request has. */
function protocolHeaders(protocol: ProtocolName, apiKey: string): Record<string, string> {
  switch (protocol) {
    case 'anthropic':
      return { 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' };
    case 'google':
      return { 'x-goog-api-key': apiKey };
    case 'openai-chat':
    case 'openai-responses':
    case 'bedrock-converse':
      return { authorization: `Bearer ${apiKey}` };
    default:
      return protocol satisfies never;
  }
}

/** The attempt of a request to an address that is not tried in another form. */
const ONLY_ATTEMPT = {
  toAddress: (url: string) => url,
  confirm: () => {},
  judgeFailure: (thrown: unknown) => thrown,
};

interface ListServer {
  readonly fetch: HttpFetch;
  readonly protocol: ProtocolName;
  readonly endpoint: Endpoint;
}

/** Sends requests for lists of models to one provider, until its time limit has passed. */
export class ListConnection {
  readonly signal: AbortSignal;
  private readonly server: ListServer;
  private remainingBytes = MAX_LIST_BYTES;

  constructor(server: ListServer, timeoutMs: number) {
    this.server = server;
    this.signal = AbortSignal.timeout(timeoutMs);
  }

  /** Returns a connection with a time limit of its own, which begins now. */
  withTimeout(timeoutMs: number): ListConnection {
    return new ListConnection(this.server, timeoutMs);
  }

  /**
   * Requests a JSON document. `body`: sent with POST. Rejects with HttpStatusError for an unsuccessful status, and with
   * WrongServerError for a page, a text that is no JSON, and too many bytes.
   */
  async requestJson(url: string, body?: object): Promise<unknown> {
    const text = await rejectOnAbort(this.requestText(url, body), this.signal);
    try {
      return JSON.parse(text);
    } catch {
      throw new WrongServerError(`the answer is no JSON: ${url}`);
    }
  }

  private async requestText(url: string, body?: object): Promise<string> {
    const { signal } = this;
    const { endpoint, fetch, protocol } = this.server;
    const headers = {
      accept: 'application/json',
      ...protocolHeaders(protocol, endpoint.apiKey ?? ''),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const request =
      body === undefined
        ? { headers, signal }
        : { method: 'POST', headers, body: JSON.stringify(body), signal };
    const response = await sendRequest(appendQuery(url, endpoint.query), request, {
      fetch,
      endpoint,
      attempt: ONLY_ATTEMPT,
      version: VERSION,
      omittedHeaders: [],
      adjustBody: (sent) => sent,
      observer: undefined,
    });
    return response.body === null ? '' : this.readText(response.body);
  }

  private async readText(body: ResponseBody): Promise<string> {
    const decoder = new TextDecoder();
    let text = '';
    for (let piece = await body.read(); piece !== null; piece = await body.read()) {
      this.remainingBytes -= piece.length;
      if (this.remainingBytes < 0) {
        await body.cancel();
        throw new WrongServerError(`the list is larger than the limit of ${MAX_LIST_BYTES} bytes`);
      }
      text += decoder.decode(piece, { stream: true });
    }
    return text + decoder.decode();
  }
}

function appendQuery(url: string, query: string | undefined): string {
  return query === undefined ? url : `${url}${url.includes('?') ? '&' : '?'}${query}`;
}
