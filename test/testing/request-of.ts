import type { RecordedRequest } from '../../src/testing/index.ts';
import { RequestRecorder } from '../../src/testing/request-recorder.ts';
import { Exchange } from '../../src/testing/exchange.ts';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { JsonObject } from '../../src/base/json.ts';

/** An Anthropic request as the server would record it, without a server. */
export function requestOf(
  body: JsonObject,
  recorder = new RequestRecorder({ keep: true }),
): RecordedRequest {
  const incoming = new IncomingMessage(new Socket());
  return recorder.begin({
    protocol: 'anthropic',
    path: '/v1/messages',
    headers: {},
    rawBody: JSON.stringify(body),
    body,
    exchange: new Exchange(incoming, new ServerResponse(incoming), { onClosed: () => {} }),
  });
}
