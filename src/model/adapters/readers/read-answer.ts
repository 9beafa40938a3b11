import { deferred } from '../../../base/async.ts';
import type { Deadline, Deadlines } from '../../../base/deadlines.ts';
import { isJsonObject, type JsonValue } from '../../../base/json.ts';
import type { ResponseBody } from '../../../sys/http/http-types.ts';
import { WireMeter, type AnswerCaps, type AnswerTooLarge } from '../answer-caps.ts';
import { BrokenOff, MalformedAnswer, NoStream, ReportedError } from '../answer-errors.ts';
import type { AnswerBuilder } from './answer-builder.ts';
import { EventStreamParser, type WireEvent } from './event-stream.ts';
import { parseEventJson } from './lenient-json.ts';
import type { AnswerReader } from './reader.ts';
import { errorIn, errorInDocument } from './reported-errors.ts';
import { unusableBody } from './unusable-body.ts';

/** Milliseconds to wait for trailing usage after the finish reason. */
const TRAILING_MS = 2000;
/** The same where content came after a finish reason: this server gives one before the end. */
const LONG_TRAILING_MS = 15_000;
/** Milliseconds to read on after the end of the answer, so that the connection can be used again. */
const DRAIN_MS = 1000;
/** Characters of an unusable event that its error shows. */
const SHOWN = 200;
/** Characters of a body that are kept to say what it is, if nothing of it is an event. */
const KEPT = 4000;

interface Reading {
  readonly body: ResponseBody;
  /** The host that the answer comes from. */
  readonly host: string;
  readonly reader: AnswerReader;
  readonly answer: AnswerBuilder;
  readonly caps: AnswerCaps;
  readonly deadlines: Deadlines;
}

/**
 * Reads the body of one answer to its end. Yields after each piece of the body, for the caller to take the
 * progress from the builder. Returns when the answer is complete, and throws what it failed with.
 */
export async function* readAnswer(reading: Reading): AsyncGenerator<'piece', void, undefined> {
  const { body, answer, caps, deadlines } = reading;
  const meter = new WireMeter(caps);
  const text = new BodyText(reading);
  const trailing = new TrailingWait(deadlines);
  let isOver = false;
  try {
    while (!answer.isEnded) {
      const isDecided = answer.finishReason !== null || answer.failure !== null;
      const next = await readNext(body, isDecided ? trailing : null);
      if (next instanceof BrokenConnection) {
        takeRest(reading, text, next);
        break;
      }
      if (next === 'over') break;
      const excess: AnswerTooLarge | null = meter.add(next);
      if (excess !== null) throw excess;
      const partsBefore = answer.partsAfterReason;
      text.push(next);
      if (answer.partsAfterReason > partsBefore) trailing.restart();
      yield 'piece';
    }
    text.end();
    conclude(reading, text);
    isOver = true;
  } finally {
    trailing.cancel();
    if (isOver) drain(body, deadlines);
    // The reader stopped early: close the request.
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

/** Reads the next piece. Returns `over` when no more comes, or when the wait for more has ended. */
async function readNext(
  body: ResponseBody,
  trailing: TrailingWait | null,
): Promise<Uint8Array | 'over' | BrokenConnection> {
  try {
    const next = await (trailing === null
      ? body.read()
      : Promise.race([body.read(), trailing.late()]));
    return next === 'late' || next === null ? 'over' : next;
  } catch (thrown) {
    return new BrokenConnection(thrown);
  }
}

/**
 * Takes what came before the connection broke: the last line of an answer may lack only its line end. Throws
 * what broke the connection unless that text completes the answer or reports an error.
 */
function takeRest({ answer }: Reading, text: BodyText, { thrown }: BrokenConnection): void {
  text.end();
  if (answer.failure instanceof BrokenOff) throw thrown;
  if (answer.failure !== null) return;
  // A server that goes on after a finish reason may have had more to say.
  if (answer.finishReason === null || answer.partsAfterReason > 0) throw thrown;
  answer.repair('broken_connection_after_end');
}

/** Throws unless the answer is complete. */
function conclude({ answer, reader, host }: Reading, text: BodyText): void {
  if (answer.failure !== null) throw answer.failure;
  if (answer.finishReason !== null) return;
  if (text.unusable !== null) throw new NoStream(text.unusable);
  const unusable = text.hasEvents ? null : unusableBody(text.beginning, host);
  if (unusable !== null) throw unusable;
  if (reader.awaitsEnd || !answer.isComplete) throw new BrokenOff();
  answer.repair('missing_finish_reason');
  answer.finish('stop');
}

/** The text of a body: a stream of events, or one JSON document in place of a stream. */
class BodyText {
  /** The beginning of a document that is no answer; null: there is none. */
  unusable: string | null = null;
  /** Whether anything of the body was an event. */
  hasEvents = false;
  /** The beginning of the body, up to its first event. */
  beginning = '';
  private readonly reader: AnswerReader;
  private readonly answer: AnswerBuilder;
  private readonly decoder = new TextDecoder();
  private readonly events: EventStreamParser;
  /** A document as far as it has come; null: the body is a stream; undefined: nothing has come. */
  private document: string[] | null | undefined = undefined;
  private hasEnded = false;

  constructor({ reader, answer }: Reading) {
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

  /** Takes the text that has no line end behind it. Does nothing when the answer or the text has ended. */
  end(): void {
    if (this.hasEnded || this.answer.isEnded) return;
    this.hasEnded = true;
    this.add(this.decoder.decode());
    if (Array.isArray(this.document)) this.takeDocument(this.document.join(''));
    else this.events.end();
  }

  private add(text: string): void {
    if (!this.hasEvents) this.beginning = (this.beginning + text).slice(0, KEPT);
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
    // Several documents, one a line, are a stream without the marks of one.
    if (!parsed.ok) return this.takeLines(document);
    for (const repair of parsed.repairs) this.answer.repair(repair);
    if (Array.isArray(parsed.value)) {
      this.answer.repair('json_instead_of_stream');
      for (const value of parsed.value) this.takeValue(value, null);
      return;
    }
    if (!isJsonObject(parsed.value)) return;
    const error = errorIn(parsed.value);
    if (error !== undefined) return this.answer.fail(new ReportedError(error));
    if (!this.reader.takeWhole(parsed.value)) {
      const plain = errorInDocument(parsed.value);
      if (plain !== undefined) return this.answer.fail(new ReportedError(plain));
      this.unusable = document.slice(0, KEPT);
      return;
    }
    this.answer.repair('json_instead_of_stream');
    if (this.answer.finishReason === null && this.answer.failure === null)
      this.answer.finish('stop');
  }

  private takeLines(document: string): void {
    if (!document.trim().includes('\n')) {
      this.unusable = document.slice(0, KEPT);
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
    // A complete answer loses nothing by it.
    if (this.answer.finishReason !== null) return this.answer.repair('not_an_event');
    if (isCut) return this.answer.fail(new BrokenOff());
    const shown = text.slice(0, SHOWN);
    this.answer.fail(new MalformedAnswer(`sent an event that is no JSON: ${shown}`));
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
    else if (isJsonObject(value)) this.reader.take(value, name);
    else this.answer.repair('not_an_event');
  }
}

/** Waits a while for what may still follow a decided answer, and again after further content. */
class TrailingWait {
  private readonly deadlines: Deadlines;
  private readonly isLate = deferred<'late'>();
  private deadline: Deadline | null = null;
  private wait = TRAILING_MS;

  constructor(deadlines: Deadlines) {
    this.deadlines = deadlines;
  }

  late(): Promise<'late'> {
    this.deadline ??= this.deadlines.after(this.wait, () => this.isLate.resolve('late'));
    return this.isLate.promise;
  }

  restart(): void {
    this.cancel();
    this.deadline = null;
    this.wait = LONG_TRAILING_MS;
  }

  cancel(): void {
    this.deadline?.cancel();
  }
}

/** A body that is read to its end leaves its connection for the next request. */
function drain(body: ResponseBody, deadlines: Deadlines): void {
  // The answer is over: whatever its connection says afterwards changes nothing.
  const deadline = deadlines.after(DRAIN_MS, () => void body.cancel().catch(() => {}));
  const rest = async (): Promise<void> => {
    try {
      while ((await body.read()) !== null);
    } finally {
      deadline.cancel();
    }
  };
  rest().catch(() => {});
}
