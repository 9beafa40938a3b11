import { estimateTokensUnrounded, MAX_TOKENS_PER_CHARACTER } from '../../base/token-estimate.ts';
import { selectRates } from '../../model/catalogue/cost.ts';
import type { Conversation } from '../../protocol/state/conversation.ts';
import { sumAttachmentTokens } from '../../protocol/attachment.ts';
import type { Message, ToolResultPart } from '../../protocol/message.ts';
import {
  addAmounts,
  type Amount,
  type ModelDetails,
  type RequestPrefix,
} from '../../protocol/model.ts';
import { NO_EXPENSE, requestExpense, type Expense, type RequestNeed } from './budget.ts';
import { minimumOutput, type OutputDemand } from './output-cap.ts';

/**
 * The factor from the estimate of a request's input to the reservation for it. On average the estimate is correct. Most
 * texts differ from it by less than a quarter, and so do tokenizers from each other.
 */
const RESERVATION_FACTOR = 1.3;
/** The assumed output limit of a model whose limit is unknown. */
const ASSUMED_OUTPUT = 8_192;

/** Estimates the tokens of a text from its length in characters alone, at the rate of code and JSON. */
export function estimateTokensByLength(characters: number): number {
  return characters / 3.5;
}

/** The parts of a conversation from which its next request is built. */
export type NextRequest = Pick<Conversation, 'messages' | 'results' | 'queued'>;

/** Creates the first request of a task with this prompt. */
export function firstRequest(prompt: string): NextRequest {
  const queued = [{ id: 'prompt', kind: 'prompt', from: '', text: prompt }] as const;
  return { messages: [], results: new Map(), queued };
}

/** Estimates the input tokens of a conversation's next request. */
export function estimateInput(
  { messages, results, queued }: NextRequest,
  prefix: RequestPrefix,
): number {
  let tokens = estimatePrompt(prefix, messages);
  for (const result of results.values()) tokens += resultTokens(result);
  for (const { text, enclosed = [] } of queued) {
    tokens += estimateTokensUnrounded(text);
    for (const each of enclosed)
      tokens += estimateTokensUnrounded(each.text) + sumAttachmentTokens(each.attachments);
  }
  return Math.ceil(tokens);
}

/**
 * Returns an upper bound of `estimateInput` for the first request of a task. It is computed from the lengths of the texts
 * alone, because estimating the prefix takes two milliseconds of the start of the program.
 */
export function maxFirstInput(
  { queued }: Pick<NextRequest, 'queued'>,
  { system, tools }: RequestPrefix,
): number {
  const quoted = queued.flatMap(({ enclosed = [] }) => enclosed);
  const inputs = [...queued, ...quoted].map(({ text }) => text);
  const texts = [...system, ...tools.map((tool) => JSON.stringify(tool)), ...inputs];
  const characters = texts.reduce((sum, { length }) => sum + length, 0);
  const attachments = quoted.flatMap((each) => each.attachments ?? []);
  return characters * MAX_TOKENS_PER_CHARACTER + sumAttachmentTokens(attachments);
}

/** Estimates the input tokens of a request with these messages. */
export function estimatePrompt(prefix: RequestPrefix, messages: readonly Message[]): number {
  let tokens = prefixTokens(prefix);
  for (const message of messages) tokens += messageTokens(message);
  return Math.ceil(tokens);
}

/**
 * Returns the input tokens to reserve for a request, so that the request hardly ever takes more. Before the provider
 * has counted a request of the task, this is the estimate with a margin. Afterwards it is the provider's count plus the
 * tokens that were added since, with the margin only on these. It is never below the estimate without a margin, since
 * some servers leave parts out of their count.
 */
export function inputToReserve(
  estimated: number,
  measured: Pick<MeasuredRequest, 'input' | 'estimated'> | null,
): number {
  if (measured === null) return Math.ceil(estimated * RESERVATION_FACTOR);
  const added = Math.max(0, estimated - measured.estimated) * RESERVATION_FACTOR;
  return Math.max(estimated, Math.ceil(measured.input + added));
}

/**
 * Estimates the needs of a request, as if none of its input were cached.
 *
 * @param input the input tokens
 * @param output the requested output. Default: up to the model's output limit
 * @param newestRound the expense of the task's newest request; absent if there was none
 */
export function estimateRequestNeed(
  input: number,
  { maxOutput, price }: Pick<ModelDetails, 'maxOutput' | 'price'>,
  {
    output = {},
    newestRound,
  }: { readonly output?: Partial<OutputDemand>; readonly newestRound?: Amount } = {},
): RequestNeed {
  const rates = price === null ? null : selectRates(price, input);
  const outputToken = { tokens: 1, costUsd: rates === null ? 0 : rates.output / 1e6 };
  const inputUsd = rates === null ? 0 : (input * Math.max(rates.input, rates.cacheWrite)) / 1e6;
  const demand = { maxTokens: maxOutput ?? ASSUMED_OUTPUT, kind: 'turn', ...output } as const;
  const inputAmount = { tokens: input, costUsd: inputUsd };
  const lastAnswerTokens = minimumOutput({ ...demand, kind: 'last' });
  return {
    input: { ...NO_EXPENSE, ...inputAmount, turns: 1 },
    outputToken,
    nextRequest: addAmounts(newestRound ?? inputAmount, {
      tokens: lastAnswerTokens,
      costUsd: outputToken.costUsd * lastAnswerTokens,
    }),
    output: demand,
  };
}

/** Returns the minimum expense with which a request is sent: its input and a short useful answer. */
export function minimumExpense(need: RequestNeed): Expense {
  return requestExpense(need, minimumOutput(need.output));
}

/** The measurements of the newest request that a task made in this process. */
export interface MeasuredRequest {
  readonly used: Expense;
  /** The input tokens as the provider counted them, including cached ones. */
  readonly input: number;
  /** The estimate of the input tokens. */
  readonly estimated: number;
}

/** Cached estimates. See `cacheEstimate`. */
const knownTokens = new WeakMap<object, number>();

function prefixTokens(prefix: RequestPrefix): number {
  return cacheEstimate(prefix, () => {
    let tokens = 0;
    for (const part of prefix.system) tokens += textTokens(part);
    for (const tool of prefix.tools) tokens += toolTokens(tool);
    return tokens;
  });
}

/**
 * The cached estimates of long texts, the least recently used first. Siblings have the same system texts, and often read
 * the same files and search for the same things.
 */
const knownTexts = new Map<string, number>();
/** The maximum number of cached estimates, and the minimum length of a text whose estimate is cached, in UTF-16 units. */
const MAX_KNOWN_TEXTS = 64;
const MIN_KNOWN_TEXT_LENGTH = 1_000;
/** The maximum length of such a text, so that the cache does not keep much memory in use. */
const MAX_KNOWN_TEXT_LENGTH = 100_000;

function textTokens(text: string): number {
  if (text.length < MIN_KNOWN_TEXT_LENGTH || text.length > MAX_KNOWN_TEXT_LENGTH) {
    return estimateTokensUnrounded(text);
  }
  const tokens = knownTexts.get(text) ?? estimateTokensUnrounded(text);
  knownTexts.delete(text);
  const [oldest] = knownTexts.keys();
  if (oldest !== undefined && knownTexts.size >= MAX_KNOWN_TEXTS) knownTexts.delete(oldest);
  knownTexts.set(text, tokens);
  return tokens;
}

function toolTokens(tool: RequestPrefix['tools'][number]): number {
  return cacheEstimate(tool, () => estimateTokensUnrounded(JSON.stringify(tool)));
}

function messageTokens(message: Message): number {
  return cacheEstimate(message, () => {
    let tokens = 0;
    for (const part of message.content) {
      if (part.type === 'tool_call') tokens += estimateTokensUnrounded(JSON.stringify(part.input));
      else if (part.type === 'tool_result') tokens += resultTokens(part);
      else if (part.type === 'reasoning') tokens += estimateTokensUnrounded(part.text);
      else tokens += estimateTokensUnrounded(part.text) + sumAttachmentTokens(part.attachments);
    }
    return tokens;
  });
}

/** Estimates the tokens of a call's result, including its images and documents. */
export function resultTokens(result: ToolResultPart): number {
  return cacheEstimate(
    result,
    () => textTokens(result.text) + sumAttachmentTokens(result.attachments),
  );
}

/** Returns the estimate for an object that never changes (a prefix, tool, message or result), computed once. */
function cacheEstimate(subject: object, estimate: () => number): number {
  const known = knownTokens.get(subject);
  if (known !== undefined) return known;
  const tokens = estimate();
  knownTokens.set(subject, tokens);
  return tokens;
}
