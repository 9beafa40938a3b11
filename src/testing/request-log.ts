import type { RecordedRequest, RequestOutcome, WireProtocol } from './wire-request.ts';

/** A line of the log that the server's process writes: one when a request came, one when it ended. */
export type RequestLogEntry =
  | {
      readonly event: 'received';
      readonly id: number;
      readonly protocol: WireProtocol;
      readonly path: string;
      readonly headers: RecordedRequest['headers'];
      readonly taskKey: string;
      readonly attempt: number;
      readonly inFlight: number;
      readonly receivedAt: number;
      /** As it came. */
      readonly body: string;
    }
  | { readonly event: 'ended'; readonly id: number; readonly outcome: RequestOutcome };

export function receivedEntry(request: RecordedRequest): RequestLogEntry {
  return {
    event: 'received',
    id: request.id,
    protocol: request.protocol,
    path: request.path,
    headers: request.headers,
    taskKey: request.taskKey,
    attempt: request.attempt,
    inFlight: request.inFlight,
    receivedAt: request.receivedAt,
    body: request.rawBody,
  };
}

export function endedEntry(request: RecordedRequest): RequestLogEntry {
  return { event: 'ended', id: request.id, outcome: request.outcome };
}
