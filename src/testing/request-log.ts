import type { RecordedRequest, RequestOutcome } from './wire-request.ts';

/** A line of the log that the server's process writes: one when a request arrives and one when it ends. */
export type RequestLogEntry =
  | (Pick<
      RecordedRequest,
      'id' | 'protocol' | 'path' | 'headers' | 'taskKey' | 'attempt' | 'inFlight' | 'receivedAt'
    > & {
      readonly event: 'received';
      /** The body as it came. */
      readonly body: string;
    })
  | { readonly event: 'ended'; readonly id: number; readonly outcome: RequestOutcome };

export function receivedEntry(request: RecordedRequest): RequestLogEntry {
  const { id, protocol, path, headers, taskKey, attempt, inFlight, receivedAt, rawBody } = request;
  const received = { id, protocol, path, headers, taskKey, attempt, inFlight, receivedAt };
  return { event: 'received', ...received, body: rawBody };
}

export function endedEntry(request: RecordedRequest): RequestLogEntry {
  return { event: 'ended', id: request.id, outcome: request.outcome };
}
