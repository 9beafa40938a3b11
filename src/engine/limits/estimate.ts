import { estimateTokensUnrounded } from '../../base/token-estimate.ts';
import { ratesFor } from '../../model/cost.ts';
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
import { leastOutput, type OutputDemand } from './output-cap.ts';

/**
 * What a request may take beyond its estimate, for what is held back for it: the estimate is right in the
 * mean, most texts are within a quarter of it, and tokenizers differ by as much among each other.
 */
const RESERVED_SHARE = 1.3;
/** What a request asks for at most where nothing is known of the model, and no limit is sent. */
const USUAL_OUTPUT = 8_192;

/** Of a text that is not at hand, by its length alone: code and JSON take about so much. */
export function tokensOf(characters: number): number {
  return characters / 3.5;
}

/** What the next request of a conversation holds. */
export type NextRequest = Pick<Conversation, 'messages' | 'results' | 'queued'>;

/** The first request of a task. */
export function firstRequest(prompt: string): NextRequest {
  const queued = [{ id: 'prompt', kind: 'prompt', from: '', text: prompt }] as const;
  return { messages: [], results: new Map(), queued };
}

/** Of the next request as it would be sent. */
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

/** Of a request as it is sent. */
export function estimatePrompt(prefix: RequestPrefix, messages: readonly Message[]): number {
  let tokens = prefixTokens(prefix);
  for (const message of messages) tokens += messageTokens(message);
  return Math.ceil(tokens);
}

/**
 * What is held back for the input of a request, so that it hardly ever takes more: the estimate with a
 * margin; once the provider has counted an earlier one, its count, and with the margin only what came since.
 * The bare estimate then still bounds it from below: some servers leave parts out of one count.
 */
export function inputToReserve(
  estimated: number,
  measured: Pick<Measured, 'input' | 'estimated'> | null,
): number {
  if (measured === null) return Math.ceil(estimated * RESERVED_SHARE);
  const added = Math.max(0, estimated - measured.estimated) * RESERVED_SHARE;
  return Math.max(estimated, Math.ceil(measured.input + added));
}

/**
 * Tells what a request with so many tokens of input needs of a budget: nothing of the input counted as
 * cached, and one turn. `output.most`: default, the output limit of the model. `newestRound`: what the
 * newest request of the task took, where there was one.
 */
export function requestNeed(
  input: number,
  { maxOutput, price }: Pick<ModelDetails, 'maxOutput' | 'price'>,
  {
    output = {},
    newestRound,
  }: { readonly output?: Partial<OutputDemand>; readonly newestRound?: Amount } = {},
): RequestNeed {
  const rates = price === null ? null : ratesFor(price, input);
  const outputToken = { tokens: 1, costUsd: rates === null ? 0 : rates.output / 1e6 };
  const inputUsd = rates === null ? 0 : (input * Math.max(rates.input, rates.cacheWrite)) / 1e6;
  const demand = { most: maxOutput ?? USUAL_OUTPUT, kind: 'turn', ...output } as const;
  const own = { tokens: input, costUsd: inputUsd };
  const least = leastOutput({ ...demand, kind: 'last' });
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

/** The least with which a request is sent: its input, and a useful answer. */
export function leastExpense(need: RequestNeed): Expense {
  return requestExpense(need, leastOutput(need.output));
}

/** What a task's newest answer in this process has shown of what its requests take. */
export interface Measured {
  readonly used: Expense;
  /** Tokens of its request: as the provider counted them, cached ones too, and as they were estimated. */
  readonly input: number;
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

/** Prefixes of siblings differ in the last line alone: what is above it is counted once for all of them. */
const knownTexts = new Map<string, number>();
const MOST_KNOWN_TEXTS = 32;
const LEAST_KNOWN_TEXT = 1_000;

function systemTokens(text: string): number {
  if (text.length < LEAST_KNOWN_TEXT) return estimateTokensUnrounded(text);
  const known = knownTexts.get(text);
  if (known !== undefined) return known;
  const tokens = estimateTokensUnrounded(text);
  const [oldest] = knownTexts.keys();
  if (oldest !== undefined && knownTexts.size >= MOST_KNOWN_TEXTS) knownTexts.delete(oldest);
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

/** Of the outcome of a call, with what it shows. */
export function resultTokens(result: ToolResultPart): number {
  return once(
    result,
    () => estimateTokensUnrounded(result.text) + sumAttachmentTokens(result.attachments),
  );
}

/** Neither a prefix nor a tool, a message nor a part of one changes once it is there. */
function once(of: object, estimate: () => number): number {
  const known = knownTokens.get(of);
  if (known !== undefined) return known;
  const tokens = estimate();
  knownTokens.set(of, tokens);
  return tokens;
}
