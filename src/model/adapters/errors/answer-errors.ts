import type { JsonObject } from '../../../base/json.ts';

/** The stream ended before the answer was complete. */
export class IncompleteAnswerError extends Error {
  override readonly name = 'BrokenOff';

  constructor(message = 'the answer broke off before its end', options?: ErrorOptions) {
    super(message, options);
  }
}

/** The answer can't be used, but a new answer to the same request may be. */
export class MalformedAnswerError extends Error {
  override readonly name = 'MalformedAnswer';
}

/** An error that the server reports inside an answer, after it had accepted the request. */
export class ReportedError extends Error {
  override readonly name = 'ReportedError';
  readonly error: JsonObject;

  constructor(error: JsonObject) {
    super('the server reports an error');
    this.error = error;
  }
}

/** The body is JSON that is neither a stream nor a complete answer. */
export class NotAStreamError extends Error {
  override readonly name = 'NoStream';
  readonly body: string;

  constructor(body: string) {
    super('the server answered with JSON instead of a stream');
    this.body = body;
  }
}

/** The server is not the model API that the configuration says. */
export class WrongServerError extends Error {
  override readonly name = 'WrongServer';
}

/** A response with an unsuccessful status. */
export class HttpRefusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The beginning of the response body. */
  readonly body: string;
  /** The body of the refused request. */
  readonly sent: string;
  /** The address of the request, without its query. */
  readonly url: string;

  constructor(
    response: Pick<HttpRefusal, 'url' | 'status' | 'headers' | 'body' | 'sent'>,
    statusText: string,
  ) {
    super(statusText);
    this.status = response.status;
    this.headers = response.headers;
    this.body = response.body;
    this.sent = response.sent;
    this.url = response.url;
  }
}

/** The answer exceeds a limit. The same request would lead to the same result. */
export class AnswerTooLargeError extends Error {
  override readonly name = 'AnswerTooLarge';

  constructor(limit: string, max: number) {
    super(`the answer exceeds the limit ${limit} = ${max} and was stopped`);
  }
}
