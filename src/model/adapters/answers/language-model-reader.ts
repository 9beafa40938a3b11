import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';
import type { FinishReason } from '../../../protocol/model.ts';
import type { AnswerBuilder } from './answer-builder.ts';
import { asNumber, asObject } from './json-fields.ts';
import { ReportedError } from '../errors/answer-errors.ts';
import type { ReportedUsage } from './reported-usage.ts';

/**
 * Reads the parts that a model object of the AI SDK streams (versions 2 to 4 of its interface) into an answer. Unknown parts
 * are ignored.
 */
export class LanguageModelReader {
  readonly #answer: AnswerBuilder;
  readonly #metaKey: string;

  constructor(answer: AnswerBuilder, metaKey: string) {
    this.#answer = answer;
    this.#metaKey = metaKey;
  }

  takePart(part: JsonObject): void {
    const answer = this.#answer;
    const { id, delta } = part;
    const key = typeof id === 'string' ? id : '';
    const piece = typeof delta === 'string' ? delta : '';
    const meta = this.#readMeta(part);
    switch (part['type']) {
      case 'text-start':
        answer.openBlock('text', key, meta);
        return;
      case 'text-delta':
        answer.addText(piece, key, meta);
        return;
      case 'text-end':
        answer.closeBlock('text', key, meta);
        return;
      case 'reasoning-start':
        answer.openBlock('reasoning', key, meta);
        return;
      case 'reasoning-delta':
        answer.addReasoning(piece, key, meta);
        return;
      case 'reasoning-end':
        answer.closeBlock('reasoning', key, meta);
        return;
      case 'tool-input-start':
        if (part['providerExecuted'] !== true)
          answer.startCall(key, { id: key, name: String(part['toolName']) });
        return;
      case 'tool-input-delta':
        answer.appendArguments(key, piece);
        return;
      case 'tool-call':
        this.#takeCall(part, meta);
        return;
      case 'response-metadata':
        answer.setServedBy(part['modelId']);
        return;
      case 'finish':
        answer.setUsage(readUsage(asObject(part['usage']) ?? {}));
        answer.finish(readFinishReason(part['finishReason']));
        return;
      case 'error':
        answer.fail(readError(part['error']));
    }
  }

  /** Takes a complete call. Some models stream its arguments before, and some do not. */
  #takeCall(part: JsonObject, meta: JsonObject | undefined): void {
    if (part['providerExecuted'] === true) return;
    const key = String(part['toolCallId']);
    if (this.#answer.getArguments(key) === undefined)
      this.#answer.startCall(key, { id: key, name: String(part['toolName']) });
    const { input } = part;
    const raw = typeof input === 'string' ? input : JSON.stringify(input ?? {});
    this.#answer.endCall(key, { raw, ...(meta === undefined ? {} : { meta }) });
  }

  #readMeta({ providerMetadata }: JsonObject): JsonObject | undefined {
    return asObject(asObject(providerMetadata)?.[this.#metaKey]);
  }
}

/** Reads an error part. Errors are passed on as they are; other values are errors that the server reported. */
function readError(error: unknown): unknown {
  if (error instanceof Error) return error;
  return new ReportedError(isJsonObject(error) ? error : { message: String(error) });
}

/** Reads the usage: an object with totals and parts since version 3, and plain numbers in version 2. */
function readUsage(usage: JsonObject): ReportedUsage {
  const { inputTokens: input, outputTokens: output } = usage;
  const [inputParts, outputParts] = [asObject(input), asObject(output)];
  return {
    prompt: inputParts === undefined ? asNumber(input) : asNumber(inputParts['total']),
    uncached: asNumber(inputParts?.['noCache']),
    cacheRead: asNumber(inputParts?.['cacheRead'] ?? usage['cachedInputTokens']),
    cacheWrite: asNumber(inputParts?.['cacheWrite']),
    output: outputParts === undefined ? asNumber(output) : asNumber(outputParts['total']),
    reasoning: asNumber(outputParts?.['reasoning'] ?? usage['reasoningTokens']),
  };
}

const FINISH_REASONS: ReadonlyMap<JsonValue | undefined, FinishReason> = new Map<
  JsonValue | undefined,
  FinishReason
>([
  ['stop', 'stop'],
  ['length', 'length'],
  ['content-filter', 'content_filter'],
  ['tool-calls', 'tool_calls'],
]);

function readFinishReason(reason: JsonValue | undefined): FinishReason {
  return FINISH_REASONS.get(asObject(reason)?.['unified'] ?? reason) ?? 'other';
}
