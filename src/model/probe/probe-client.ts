import { sanitizeLine } from '../../base/terminal-text.ts';
import { truncate } from '../../base/text.ts';
import type { Message } from '../../protocol/message.ts';
import {
  addUsage,
  NO_USAGE,
  type Effort,
  type ModelFailure,
  type ModelPart,
  type ResolvedModel,
  type ToolSpec,
  type Usage,
} from '../../protocol/model.ts';
import type { HttpFetch, TrafficObserver } from '../../sys/http/http-types.ts';
import type { AdapterDeps, LearnedSettings } from '../adapters/adapter.ts';
import { createAttachmentRules } from '../catalogue/attachment-rules.ts';
import { createModelPort, type ConnectedModels, type ModelPortLimits } from '../model-port.ts';
import type { ConfiguredProvider } from '../providers/configured-provider.ts';

/** The maximum number of requests to models in one probe. */
export const MAX_PROBE_REQUESTS = 12;
/** The text for checks that the limit on requests makes impossible. */
export const LIMIT_REACHED = `the limit of ${MAX_PROBE_REQUESTS} requests was reached`;
/** The maximum number of tokens of each answer. */
export const MAX_PROBE_OUTPUT = 64;
/** The system prompt of all requests, in two texts as in a run. */
const SYSTEM = [
  'This is a short test of a connection. Follow the instruction exactly.',
  'Answer with as few words as possible.',
];
/** The number of characters of a response that are kept to inspect its form. */
const MAX_RAW_LENGTH = 65_536;
/** The time limit for one request with all of its repetitions, in milliseconds. */
const REQUEST_MS = 180_000;

/** Counts the requests of a probe and what they use, and lets no more through than allowed. */
export class ProbeBudget {
  sent = 0;
  usage: Usage = NO_USAGE;
  /** False if the server did not report the usage of an answer. */
  isUsageComplete = true;
  /** True if a request was not sent because of the limit. */
  wasExceeded = false;

  get remaining(): number {
    return MAX_PROBE_REQUESTS - this.sent;
  }

  /** Counts a request. Throws if no further one may be sent. */
  take(): void {
    if (this.remaining <= 0) {
      this.wasExceeded = true;
      throw new Error(LIMIT_REACHED);
    }
    this.sent += 1;
  }
}

/** The last exchange of a request on the wire. */
interface WireRecord {
  /** The body of the request. */
  sent: string;
  /** The status of the response; null: there was none. */
  status: number | null;
  /** The beginning of the body of the response. */
  received: string;
  /** The number of pieces in which the body came. */
  pieces: number;
}

/** The last part of an answer: the complete answer, or its failure. */
type AnswerEnd = Extract<ModelPart, { type: 'finished' | 'failed' }>;

/** An answer of the probed model, with measurements. */
export interface ProbeAnswer {
  readonly end: AnswerEnd;
  /** The number of pieces of visible text. */
  readonly textPieces: number;
  /** True if the model thought before it answered. */
  readonly hasThought: boolean;
  /** The time to the first text or thought in milliseconds; null: there was none. */
  readonly firstMs: number | null;
  readonly totalMs: number;
  readonly wire: Readonly<WireRecord>;
}

/** A request of the probe. */
export interface ProbeRequest {
  readonly messages: readonly Message[];
  readonly tools?: readonly ToolSpec[];
  /** Default: `auto`. */
  readonly toolChoice?: 'auto' | 'none';
  /** A text that is put before the usual system prompt. */
  readonly system?: string;
  /** Default: `MAX_PROBE_OUTPUT`. */
  readonly maxOutputTokens?: number;
  /** The bytes of an image in the messages. */
  readonly image?: Uint8Array;
}

export interface ProbeClientDeps extends Omit<AdapterDeps, 'attachments'> {
  readonly limits: ModelPortLimits;
  readonly budget: ProbeBudget;
}

/** Sends the requests of a probe to one model, through the code that also sends those of a run. */
export class ProbeClient {
  readonly provider: ConfiguredProvider;
  readonly model: ResolvedModel;
  /** The effort of further requests. Default: none is sent. */
  effort: Effort | null = null;
  private readonly deps: ProbeClientDeps;
  private readonly port: ConnectedModels;
  private wire: WireRecord = { sent: '', status: null, received: '', pieces: 0 };

  constructor(provider: ConfiguredProvider, modelId: string, deps: ProbeClientDeps) {
    this.provider = provider;
    this.model = { provider: provider.name, id: modelId, chain: ['muster doctor'] };
    this.deps = deps;
    this.port = createModelPort({
      ...deps,
      fetch: this.observedFetch(deps.fetch),
      providers: [provider],
      admission: { maxConcurrent: 1, requestsPerMinute: 0 },
      // Images are sent to find out whether the model accepts them.
      attachments: ({ id }) =>
        Promise.resolve(
          createAttachmentRules({
            name: id,
            id,
            protocol: provider.protocol,
            configured: ['image'],
          }),
        ),
    });
  }

  /** The settings that the refusals of the server have taught so far. */
  get learned(): LearnedSettings {
    const none = { omit: [], outputCap: null, efforts: new Map() };
    return this.port.learned(this.model) ?? { baseUrl: this.provider.baseUrl, ...none };
  }

  /** Sends a request, and returns the answer or the failure. */
  async ask(request: ProbeRequest): Promise<ProbeAnswer> {
    const { clock, budget } = this.deps;
    const start = clock.monotonic();
    this.wire = { sent: '', status: null, received: '', pieces: 0 };
    let textPieces = 0;
    let hasThought = false;
    let firstMs: number | null = null;
    let end: AnswerEnd | null = null;
    const signal = AbortSignal.timeout(this.requestMs);
    for await (const part of this.stream(request, signal)) {
      if (part.type === 'text_delta' || part.type === 'reasoning_delta') {
        firstMs ??= clock.monotonic() - start;
        if (part.type === 'text_delta') textPieces += 1;
        else hasThought = true;
      } else if (part.type === 'finished' || part.type === 'failed') end = part;
    }
    if (end === null) throw new Error('the port ended without an answer');
    if (end.type === 'failed') end = { ...end, failure: this.explain(end.failure, signal) };
    if (end.usage !== undefined) budget.usage = addUsage(budget.usage, end.usage);
    if (end.type === 'finished' && end.usageMissing !== undefined) budget.isUsageComplete = false;
    if ((end.usage?.reasoning ?? 0) > 0) hasThought = true;
    const totalMs = clock.monotonic() - start;
    return { end, textPieces, hasThought, firstMs, totalMs, wire: this.wire };
  }

  private get requestMs(): number {
    // A local server may have to load the model first.
    const { isPrivate } = this.provider;
    return isPrivate ? Math.max(REQUEST_MS, this.deps.limits.privateFirstTokenMs) : REQUEST_MS;
  }

  /** Replaces a failure that the probe itself has caused. */
  private explain(failure: ModelFailure, signal: AbortSignal): ModelFailure {
    if (this.deps.budget.wasExceeded) {
      return { kind: 'cancelled', message: LIMIT_REACHED, retryable: false };
    }
    if (!signal.aborted) return failure;
    const message = `no complete answer within ${this.requestMs / 1000} s`;
    return { kind: 'timeout', message, retryable: true };
  }

  private stream(request: ProbeRequest, signal: AbortSignal): AsyncIterable<ModelPart> {
    const { image, system, messages, tools = [], toolChoice = 'auto' } = request;
    return this.port.stream(
      {
        model: this.model,
        prefix: { system: system === undefined ? SYSTEM : [system, ...SYSTEM], tools },
        messages,
        toolChoice,
        maxOutputTokens: request.maxOutputTokens ?? MAX_PROBE_OUTPUT,
        ...(this.effort !== null && { effort: this.effort }),
        ...(image !== undefined && { readBlob: () => image }),
      },
      signal,
    );
  }

  private observedFetch(fetch: HttpFetch): HttpFetch {
    return async (url, request = {}, observer) => {
      this.deps.budget.take();
      const sent = typeof request.body === 'string' ? request.body : '';
      const wire: WireRecord = { sent, status: null, received: '', pieces: 0 };
      this.wire = wire;
      const decoder = new TextDecoder();
      const watched: TrafficObserver = {
        connected: () => observer?.connected?.(),
        bytes: (chunk) => {
          wire.pieces += 1;
          if (wire.received.length < MAX_RAW_LENGTH) {
            wire.received += decoder.decode(chunk, { stream: true });
          }
          observer?.bytes?.(chunk);
        },
      };
      const response = await fetch(url, request, watched);
      wire.status = response.status;
      return response;
    };
  }
}

/** The maximum number of characters of a text of a server in the report. */
const MAX_QUOTED = 200;

/** Shortens a text of a server or a model to one safe line. */
export function quoteServerText(text: string): string {
  const line = sanitizeLine(text.replaceAll(/\s+/g, ' ').trim());
  const short = truncate(line, MAX_QUOTED);
  return short === line ? line : `${short}…`;
}
