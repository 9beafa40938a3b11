import type { RecordedRequest, RequestOutcome } from './wire-request.ts';

/** A line of the log of the server's process. It writes one line when a request arrives, and one when the request ends. */
export type RequestLogEntry =
  | (Pick<
      RecordedRequest,
      'id' | 'protocol' | 'path' | 'headers' | 'taskKey' | 'attempt' | 'inFlight' | 'receivedAt'
    > & {
      readonly event: 'received';
      /** The unchanged body. */
      readonly body: string;
    })
  | { readonly event: 'ended'; readonly id: number; readonly outcome: RequestOutcome };

export function createReceivedEntry(request: RecordedRequest): RequestLogEntry {
  const { id, protocol, path, headers, taskKey, attempt, inFlight, receivedAt, rawBody } = request;
  const received = { id, protocol, path, headers, taskKey, attempt, inFlight, receivedAt };
  return { event: 'received', ...received, body: rawBody };
}

export function createEndedEntry(request: RecordedRequest): RequestLogEntry {
  return { event: 'ended', id: request.id, outcome: request.outcome };
}
