import type { JsonObject } from '../../../base/json.ts';

/** The stream ended before the answer was complete. */
export class IncompleteAnswerError extends Error {
  override readonly name = 'IncompleteAnswerError';

  constructor(message = 'the answer broke off before its end', options?: ErrorOptions) {
    super(message, options);
  }
}

/** The answer cannot be used, but the answer to a repeated request may be usable. */
export class MalformedAnswerError extends Error {
  override readonly name = 'MalformedAnswerError';
}

/** An error that the server reported inside an answer, after a response with a successful status. */
export class ReportedError extends Error {
  override readonly name = 'ReportedError';
  /** The error object as the server sent it. */
  readonly error: JsonObject;

  constructor(error: JsonObject) {
    super('the server reports an error');
    this.error = error;
  }
}

/** The server sent a JSON body that is not a complete answer, instead of a stream of events. */
export class NotAStreamError extends Error {
  override readonly name = 'NotAStreamError';
  /** The beginning of the body. */
  readonly body: string;

  constructor(body: string) {
    super('the server answered with JSON instead of a stream');
    this.body = body;
  }
}

/** The server does not implement the API that the configuration names. It sent a web page or other text, for example. */
export class WrongServerError extends Error {
  override readonly name = 'WrongServerError';
}

/** The server sent a response with a status other than 2xx. */
export class HttpStatusError extends Error {
  override readonly name = 'HttpStatusError';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The beginning of the response body. */
  readonly responseBody: string;
  /** The body of the refused request. */
  readonly requestBody: string;
  /** The address of the request, without its query. */
  readonly url: string;

  constructor(
    response: Pick<HttpStatusError, 'url' | 'status' | 'headers' | 'responseBody' | 'requestBody'>,
    statusText: string,
  ) {
    super(statusText);
    this.status = response.status;
    this.headers = response.headers;
    this.responseBody = response.responseBody;
    this.requestBody = response.requestBody;
    this.url = response.url;
  }
}

/** The answer exceeds a limit on its size. The request is not repeated, because the next answer would be as large. */
export class AnswerTooLargeError extends Error {
  override readonly name = 'AnswerTooLargeError';

  /** `limitName`: the configuration key of the limit. */
  constructor(limitName: string, max: number) {
    super(`the answer exceeds the limit ${limitName} = ${max} and was stopped`);
  }
}
