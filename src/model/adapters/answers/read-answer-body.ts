import { deferred } from '../../../base/async.ts';
import type { Deadline, Deadlines } from '../../../base/deadlines.ts';
import { isJsonObject, type JsonValue } from '../../../base/json.ts';
import { StreamMeter, type AnswerCaps } from './answer-caps.ts';
import {
  IncompleteAnswerError,
  MalformedAnswerError,
  NotAStreamError,
  ReportedError,
  AnswerTooLargeError,
} from '../errors/answer-errors.ts';
import type { ResponseBody } from '../../../sys/http/http-types.ts';
import type { AnswerBuilder } from './answer-builder.ts';
import { EventStreamParser, type WireEvent } from './event-stream.ts';
import { parseEventJson } from './lenient-json.ts';
import type { AnswerReader } from '../protocol-adapter.ts';
import { findReportedError, findDocumentError } from './reported-errors.ts';
import { createBodyError } from '../errors/error-body.ts';

/** The maximum wait for the usage after the finish reason. */
const TRAILING_WAIT_MS = 2000;
/** The maximum wait after the finish reason for a server that has sent content after it. */
const LONG_TRAILING_WAIT_MS = 15_000;
/** The maximum time to read the rest of the body after the end of the answer, so that the connection can be reused. */
const DRAIN_TIMEOUT_MS = 1000;
/** The maximum number of characters of an invalid event that an error quotes. */
const MAX_EVENT_LENGTH = 200;
/** The maximum number of characters of a body that are remembered, to describe a body without an event. */
const MAX_BEGINNING_LENGTH = 4000;

/** The options of `readAnswerBody`. */
interface BodyOptions {
  readonly body: ResponseBody;
  /** The host of the server, for messages. */
  readonly host: string;
  readonly reader: AnswerReader;
  readonly answer: AnswerBuilder;
  readonly caps: AnswerCaps;
  readonly deadlines: Deadlines;
}

/**
 * Reads the body of one answer to its end. Yields after each piece of the body, so that the caller can take the progress
 * from the builder. Returns when the answer is complete, and throws the cause of a failure.
 */
export async function* readAnswerBody(
  options: BodyOptions,
): AsyncGenerator<'piece', void, undefined> {
  const { body, answer, caps, deadlines } = options;
  const meter = new StreamMeter(caps);
  const text = new BodyText(options);
  const trailing = new TrailingWait(deadlines);
  let isFinished = false;
  try {
    while (!answer.isEnded) {
      const hasOutcome = answer.finishReason !== null || answer.failure !== null;
      const next = await readNext(body, hasOutcome ? trailing : null);
      if (next instanceof BrokenConnection) {
        handleBrokenConnection(answer, text, next);
        break;
      }
      if (next === 'over') break;
      const excess: AnswerTooLargeError | null = meter.add(next);
      if (excess !== null) throw excess;
      const partsBefore = answer.partsAfterReason;
      text.push(next);
      if (answer.partsAfterReason > partsBefore) trailing.restart();
      yield 'piece';
    }
    text.end();
    finishBody(options, text);
    isFinished = true;
  } finally {
    trailing.cancel();
    if (isFinished) drain(body, deadlines);
    // An error occurred or the consumer stopped early, so the transfer is cancelled.
    else body.cancel().catch(() => {});
  }
}

/** The connection broke while the body was being read. */
class BrokenConnection {
  readonly thrown: unknown;

  constructor(thrown: unknown) {
    this.thrown = thrown;
  }
}

/** Reads the next piece. Returns `over` at the end of the body, or when the trailing wait has ended. */
async function readNext(
  body: ResponseBody,
  trailing: TrailingWait | null,
): Promise<Uint8Array | 'over' | BrokenConnection> {
  try {
    const next = await (trailing === null
      ? body.read()
      : Promise.race([body.read(), trailing.waitUntilLate()]));
    return next === 'late' || next === null ? 'over' : next;
  } catch (thrown) {
    return new BrokenConnection(thrown);
  }
}

/**
 * Takes the text that arrived before the connection broke, because only the end of its last line may be missing. Throws
 * the error of the connection unless this text completes the answer or reports an error.
 */
function handleBrokenConnection(
  answer: AnswerBuilder,
  text: BodyText,
  { thrown }: BrokenConnection,
): void {
  text.end();
  if (answer.failure instanceof IncompleteAnswerError) throw thrown;
  if (answer.failure !== null) return;
  // A server that sends content after a finish reason may not have sent the full answer.
  if (answer.finishReason === null || answer.partsAfterReason > 0) throw thrown;
  answer.repair('broken_connection_after_end');
}

/** Ends the answer. Throws unless the answer is complete. */
function finishBody({ answer, reader, host }: BodyOptions, text: BodyText): void {
  if (answer.failure !== null) throw answer.failure;
  if (answer.finishReason !== null) return;
  if (text.unusable !== null) throw new NotAStreamError(text.unusable);
  const unusable = text.hasEvents ? null : createBodyError(text.beginning, host);
  if (unusable !== null) throw unusable;
  if (reader.awaitsEnd || !answer.isComplete) throw new IncompleteAnswerError();
  answer.repair('missing_finish_reason');
  answer.finish('stop');
}

/** The text of a body: a stream of events, or one JSON document in place of a stream. */
class BodyText {
  /** The beginning of a JSON document that is not an answer; null: the body is not such a document. */
  unusable: string | null = null;
  /** True if the body contained an event. */
  hasEvents = false;
  /** The beginning of the body, up to its first event. */
  beginning = '';
  private readonly reader: AnswerReader;
  private readonly answer: AnswerBuilder;
  private readonly decoder = new TextDecoder();
  private readonly events: EventStreamParser;
  /** The pieces of the document so far; null: the body is a stream; undefined: no text has arrived yet. */
  private document: string[] | null | undefined = undefined;
  private hasEnded = false;

  constructor({ reader, answer }: BodyOptions) {
    this.reader = reader;
    this.answer = answer;
    this.events = new EventStreamParser({
      onEvent: (event) => this.takeEvent(event),
      onRepair: (repair) => answer.repair(repair),
    });
  }

  push(bytes: Uint8Array): void {
    this.add(this.decoder.decode(bytes, { stream: true }));
  }

  /** Takes the text after the end of the last line. Does nothing if the answer or the text has ended. */
  end(): void {
    if (this.hasEnded || this.answer.isEnded) return;
    this.hasEnded = true;
    this.add(this.decoder.decode());
    if (Array.isArray(this.document)) this.takeDocument(this.document.join(''));
    else this.events.end();
  }

  private add(text: string): void {
    if (!this.hasEvents) this.beginning = (this.beginning + text).slice(0, MAX_BEGINNING_LENGTH);
    if (this.document === undefined) {
      const [first] = text.trimStart();
      if (first === undefined) return;
      this.document = first === '{' || first === '[' ? [] : null;
    }
    if (this.document === null) this.events.push(text);
    else this.document.push(text);
  }

  private takeDocument(document: string): void {
    const parsed = parseEventJson(document);
    // Several JSON documents, one on each line, are a stream without field names.
    if (!parsed.ok) return this.takeLines(document);
    for (const repair of parsed.repairs) this.answer.repair(repair);
    if (Array.isArray(parsed.value)) {
      this.answer.repair('json_instead_of_stream');
      for (const value of parsed.value) this.takeValue(value, null);
      return;
    }
    if (!isJsonObject(parsed.value)) return;
    const error = findReportedError(parsed.value);
    if (error !== undefined) return this.answer.fail(new ReportedError(error));
    if (!this.reader.takeDocument(parsed.value)) {
      const documentError = findDocumentError(parsed.value);
      if (documentError !== undefined) return this.answer.fail(new ReportedError(documentError));
      this.unusable = document.slice(0, MAX_BEGINNING_LENGTH);
      return;
    }
    this.answer.repair('json_instead_of_stream');
    if (this.answer.finishReason === null && this.answer.failure === null)
      this.answer.finish('stop');
  }

  private takeLines(document: string): void {
    if (!document.trim().includes('\n')) {
      this.unusable = document.slice(0, MAX_BEGINNING_LENGTH);
      return;
    }
    this.answer.repair('json_instead_of_stream');
    this.events.push(document);
    this.events.end();
  }

  private takeEvent(event: WireEvent): void {
    this.hasEvents = true;
    switch (event.type) {
      case 'done':
        return this.takeDone();
      case 'unreadable':
        return this.takeUnreadable(event);
      case 'json':
        return this.takeValue(event.value, event.name);
    }
  }

  private takeUnreadable({ text, isCut }: Extract<WireEvent, { type: 'unreadable' }>): void {
    // After the finish reason, nothing of the answer can be lost.
    if (this.answer.finishReason !== null) return this.answer.repair('not_an_event');
    if (isCut) return this.answer.fail(new IncompleteAnswerError());
    const quoted = text.slice(0, MAX_EVENT_LENGTH);
    this.answer.fail(new MalformedAnswerError(`the server sent invalid JSON: ${quoted}`));
  }

  private takeDone(): void {
    if (this.answer.finishReason === null && this.answer.failure === null) {
      this.answer.repair('missing_finish_reason');
      this.answer.finish('stop');
    }
    this.answer.end();
  }

  private takeValue(value: JsonValue, name: string | null): void {
    if (Array.isArray(value)) for (const each of value) this.takeValue(each, name);
    else if (isJsonObject(value)) this.reader.takeEvent(value, name);
    else this.answer.repair('not_an_event');
  }
}

/** Limits the wait for the rest of the body after the finish reason. The wait starts again after further content. */
class TrailingWait {
  private readonly deadlines: Deadlines;
  private readonly isLate = deferred<'late'>();
  private deadline: Deadline | null = null;
  private waitMs = TRAILING_WAIT_MS;

  constructor(deadlines: Deadlines) {
    this.deadlines = deadlines;
  }

  /** Starts the wait if it has not started. Resolves when the wait has ended. */
  waitUntilLate(): Promise<'late'> {
    this.deadline ??= this.deadlines.after(this.waitMs, () => this.isLate.resolve('late'));
    return this.isLate.promise;
  }

  restart(): void {
    this.cancel();
    this.deadline = null;
    this.waitMs = LONG_TRAILING_WAIT_MS;
  }

  cancel(): void {
    this.deadline?.cancel();
  }
}

/** Reads a body to its end in the background, so that the connection can be used for the next request. */
function drain(body: ResponseBody, deadlines: Deadlines): void {
  // The answer is complete, so errors of the connection are ignored.
  const deadline = deadlines.after(DRAIN_TIMEOUT_MS, () => void body.cancel().catch(() => {}));
  const readRest = async (): Promise<void> => {
    try {
      while ((await body.read()) !== null);
    } finally {
      deadline.cancel();
    }
  };
  readRest().catch(() => {});
}
