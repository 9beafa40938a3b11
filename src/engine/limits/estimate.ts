import { estimateTokensUnrounded } from '../../base/token-estimate.ts';
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
 * The factor from the estimate of a request's input to the reservation for it. The estimate is right on
 * average, most texts are within a quarter of it, and tokenizers differ from each other by as much.
 */
const RESERVED_SHARE = 1.3;
/** The assumed output limit of a model whose limit is unknown. */
const USUAL_OUTPUT = 8_192;

/** Estimates the tokens of a text by its length alone, at the rate of code and JSON. */
export function estimateTokensByLength(characters: number): number {
  return characters / 3.5;
}

/** The part of a conversation that its next request is made of. */
export type NextRequest = Pick<Conversation, 'messages' | 'results' | 'queued'>;

/** Returns the first request of a task with this prompt. */
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

/** Estimates the input tokens of a request with these messages. */
export function estimatePrompt(prefix: RequestPrefix, messages: readonly Message[]): number {
  let tokens = prefixTokens(prefix);
  for (const message of messages) tokens += messageTokens(message);
  return Math.ceil(tokens);
}

/**
 * Returns the input tokens to reserve for a request, so that it hardly ever takes more. Before the provider has
 * counted a request of the task, that is the estimate with a margin. After that it is the provider's count, plus
 * what was added since, with the margin on the addition only. It is never below the bare estimate, since some
 * servers leave parts out of their count.
 */
export function inputToReserve(
  estimated: number,
  measured: Pick<MeasuredRequest, 'input' | 'estimated'> | null,
): number {
  if (measured === null) return Math.ceil(estimated * RESERVED_SHARE);
  const added = Math.max(0, estimated - measured.estimated) * RESERVED_SHARE;
  return Math.max(estimated, Math.ceil(measured.input + added));
}

/**
 * Returns the needs of a request, as if none of its input were cached.
 *
 * @param input the tokens of its input
 * @param output the output that it asks for; by default up to the model's output limit
 * @param newestRound the expense of the task's newest request, if there was one
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
  const demand = { most: maxOutput ?? USUAL_OUTPUT, kind: 'turn', ...output } as const;
  const own = { tokens: input, costUsd: inputUsd };
  const least = minimumOutput({ ...demand, kind: 'last' });
  return {
    input: { ...NO_EXPENSE, ...own, turns: 1 },
    outputToken,
    nextRequest: addAmounts(newestRound ?? own, {
      tokens: least,
      costUsd: outputToken.costUsd * least,
    }),
    output: demand,
  };
}

/** Returns the smallest expense with which a request is sent: its input and a short useful answer. */
export function minimumExpense(need: RequestNeed): Expense {
  return requestExpense(need, minimumOutput(need.output));
}

/** The measured size of the newest request that a task made in this process. */
export interface MeasuredRequest {
  readonly used: Expense;
  /** Its input tokens as the provider counted them, cached ones included. */
  readonly input: number;
  /** Its input tokens as they were estimated. */
  readonly estimated: number;
}

const knownTokens = new WeakMap<object, number>();

function prefixTokens(prefix: RequestPrefix): number {
  return once(prefix, () => {
    let tokens = 0;
    for (const part of prefix.system) tokens += systemTokens(part);
    for (const tool of prefix.tools) tokens += toolTokens(tool);
    return tokens;
  });
}

/** Token counts of long system texts. Siblings share all but the last one, so each is counted once. */
const knownTexts = new Map<string, number>();
const MAX_KNOWN_TEXTS = 32;
const MIN_KNOWN_TEXT = 1_000;

function systemTokens(text: string): number {
  if (text.length < MIN_KNOWN_TEXT) return estimateTokensUnrounded(text);
  const known = knownTexts.get(text);
  if (known !== undefined) return known;
  const tokens = estimateTokensUnrounded(text);
  const [oldest] = knownTexts.keys();
  if (oldest !== undefined && knownTexts.size >= MAX_KNOWN_TEXTS) knownTexts.delete(oldest);
  knownTexts.set(text, tokens);
  return tokens;
}

function toolTokens(tool: RequestPrefix['tools'][number]): number {
  return once(tool, () => estimateTokensUnrounded(JSON.stringify(tool)));
}

function messageTokens(message: Message): number {
  return once(message, () => {
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

/** Estimates the tokens of a call's result, with the images and documents that it shows. */
export function resultTokens(result: ToolResultPart): number {
  return once(
    result,
    () => estimateTokensUnrounded(result.text) + sumAttachmentTokens(result.attachments),
  );
}

/** Caches an estimate for an object that never changes: a prefix, a tool, a message or a part of one. */
function once(subject: object, estimate: () => number): number {
  const known = knownTokens.get(subject);
  if (known !== undefined) return known;
  const tokens = estimate();
  knownTokens.set(subject, tokens);
  return tokens;
}
