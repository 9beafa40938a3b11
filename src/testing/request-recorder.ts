import { hash } from 'node:crypto';
import { deferred, type Deferred } from '../base/async.ts';
import { unmarkOutside } from '../protocol/outside-text.ts';
import { preciseNow, type Exchange } from './exchange.ts';
import type { Violation } from './strict/rule.ts';
import { CODECS } from './wire/codecs.ts';
import {
  firstUserText,
  type RecordedRequest,
  type WireMessage,
  type WireProtocol,
} from './wire-request.ts';

/** A request that has just arrived. */
interface Arrival extends Pick<
  RecordedRequest,
  'protocol' | 'path' | 'headers' | 'rawBody' | 'body'
> {
  readonly exchange: Exchange;
}

/** A violation of a rule, with the request that broke the rule. */
export interface RecordedViolation extends Violation {
  /** The number of the request. */
  readonly request: number;
  /** The protocol of the request. */
  readonly protocol: WireProtocol;
}

/** Records the requests, and which of them are being answered at present. */
export class RequestRecorder {
  readonly requests: RecordedRequest[] = [];
  readonly violations: RecordedViolation[] = [];
  private readonly keep: boolean;
  /** The exchanges that are not over. */
  private readonly open = new Set<Exchange>();
  private readonly attempts = new Map<string, number>();
  private readonly waiting = new Map<number, Deferred<RecordedRequest>>();
  private count = 0;
  /** The maximum number of requests that were being answered at the same time. */
  maxInFlight = 0;

  constructor({ keep }: { readonly keep: boolean }) {
    this.keep = keep;
  }

  get inFlight(): number {
    return this.open.size;
  }

  stats() {
    return { requests: this.count, inFlight: this.inFlight, maxInFlight: this.maxInFlight };
  }

  begin({ exchange, ...arrival }: Arrival): RecordedRequest {
    this.open.add(exchange);
    this.maxInFlight = Math.max(this.maxInFlight, this.open.size);
    this.count += 1;
    const parsed = CODECS[arrival.protocol].parse(arrival.body, arrival.path);
    const request: RecordedRequest = {
      ...parsed,
      messages: parsed.messages.map(removeResultBoundaries),
      ...arrival,
      id: this.count,
      receivedAt: preciseNow(),
      taskKey: hash('sha1', `${parsed.system}\0${firstUserText(parsed)}`),
      attempt: this.countAttempt(arrival.rawBody),
      inFlight: this.open.size,
      outcome: exchange.outcome,
      ended: exchange.ended,
    };
    if (this.keep) this.requests.push(request);
    this.waiting.get(this.count)?.resolve(request);
    this.waiting.delete(this.count);
    return request;
  }

  /** Records the violations of the vendor's rules by a request. */
  recordViolations(
    { id, protocol, outcome }: RecordedRequest,
    violations: readonly Violation[],
  ): void {
    outcome.violations = violations;
    for (const violation of violations) {
      this.violations.push(Object.assign({ request: id, protocol }, violation));
    }
  }

  end(exchange: Exchange): void {
    this.open.delete(exchange);
  }

  received(count: number): Promise<RecordedRequest> {
    const request = this.requests[count - 1];
    if (request !== undefined) return Promise.resolve(request);
    const waiting = this.waiting.get(count) ?? deferred<RecordedRequest>();
    this.waiting.set(count, waiting);
    return waiting.promise;
  }

  breakAll(): void {
    for (const exchange of this.open) exchange.destroy();
  }

  private countAttempt(rawBody: string): number {
    const key = hash('sha1', rawBody, 'base64');
    const attempt = (this.attempts.get(key) ?? 0) + 1;
    this.attempts.set(key, attempt);
    return attempt;
  }
}

/** Removes the boundaries around outside text from the tool results of a message. */
function removeResultBoundaries(message: WireMessage): WireMessage {
  if (message.toolResults.length === 0) return message;
  const toolResults = message.toolResults.map((result) => ({
    ...result,
    text: unmarkOutside(result.text),
  }));
  return { ...message, toolResults };
}
