import type { JsonObject } from '../../../base/json.ts';

/** The stream ended before the answer did. */
export class IncompleteAnswerError extends Error {
  override readonly name = 'BrokenOff';

  constructor(message = 'the answer broke off before its end', options?: ErrorOptions) {
    super(message, options);
  }
}

/** The answer cannot be used; another one to the same request may be. */
export class MalformedAnswerError extends Error {
  override readonly name = 'MalformedAnswer';
}

/** An error that the server reports inside an answer that it had accepted. */
export class ReportedError extends Error {
  override readonly name = 'ReportedError';
  readonly error: JsonObject;

  constructor(error: JsonObject) {
    super('the server reports an error');
    this.error = error;
  }
}

/** A body that is neither a stream nor a complete answer. */
export class NotAStreamError extends Error {
  override readonly name = 'NoStream';
  readonly body: string;

  constructor(body: string) {
    super('the server answers with JSON and not with a stream');
    this.body = body;
  }
}

/** The server is not what the configuration takes it for. */
export class WrongServerError extends Error {
  override readonly name = 'WrongServer';
}

/** A response whose status is not one of success. */
export class HttpRefusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The beginning of its body. */
  readonly body: string;
  /** The body of the request that it refuses. */
  readonly sent: string;
  /** Where the request went. */
  readonly url: string;

  constructor(response: {
    readonly url: string;
    readonly status: number;
    readonly statusText: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
    readonly sent: string;
  }) {
    super(response.statusText);
    this.status = response.status;
    this.headers = response.headers;
    this.body = response.body;
    this.sent = response.sent;
    this.url = response.url;
  }
}
