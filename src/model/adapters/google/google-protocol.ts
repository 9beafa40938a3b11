import { listNames } from '../../../base/text.ts';
import { createGoogle } from '@ai-sdk/google';
import type { ProtocolAdapter, AnswerReader } from '../protocol-adapter.ts';
import { capThinkingBudget } from '../request/thinking-budget.ts';
import { type JsonObject, type JsonValue, isJsonObject } from '../../../base/json.ts';
import { ReportedError } from '../errors/answer-errors.ts';
import type { AnswerBuilder } from '../answers/answer-builder.ts';
import { finishAnswer } from '../answers/finish-reasons.ts';
import { asNumber, asObject, asObjects, asText } from '../answers/json-fields.ts';
import { findEventError } from '../answers/reported-errors.ts';
import type { ReportedUsage } from '../answers/reported-usage.ts';

/** Reads answers of Google's generateContent: https://ai.google.dev/api/generate-content */
class GoogleReader implements AnswerReader {
  readonly awaitsEnd = false;
  private readonly answer: AnswerBuilder;
  private callCount = 0;

  constructor(answer: AnswerBuilder) {
    this.answer = answer;
  }

  takeEvent(event: JsonObject, name: string | null): void {
    // The servers behind Gemini CLI wrap each chunk in an object with the field `response`.
    const chunk = withCamelCaseNames(asObject(event['response']) ?? event);
    const error = findEventError(chunk, name);
    if (error !== undefined) return this.answer.fail(new ReportedError(error));
    this.answer.setServedBy(chunk['modelVersion']);
    const usage = asObject(chunk['usageMetadata']);
    if (asText(asObject(chunk['promptFeedback'])?.['blockReason']) !== undefined) {
      this.answer.finish('content_filter');
    }
    const [candidate] = asObjects(chunk['candidates']);
    if (candidate === undefined) {
      this.takeUsage(usage);
      const isKnown = usage !== undefined || chunk['promptFeedback'] !== undefined;
      if (!isKnown) this.answer.repair('missing_choices');
      return;
    }
    for (const part of asObjects(asObject(candidate['content'])?.['parts'])) this.takePart(part);
    const reason = asText(candidate['finishReason']);
    if (reason !== undefined) finishAnswer(this.answer, reason);
    this.takeUsage(usage);
  }

  /** Takes the usage. The counts of the output are ignored before the finish reason, because they are still incomplete. */
  private takeUsage(usage: JsonObject | undefined): void {
    if (usage === undefined) return;
    const isFinal = this.answer.finishReason !== null;
    this.answer.setUsage({
      ...readUsage(usage),
      ...(isFinal ? {} : { output: undefined, reasoning: undefined }),
    });
  }

  takeDocument(response: JsonObject): boolean {
    const inner = withCamelCaseNames(asObject(response['response']) ?? response);
    if (asObjects(inner['candidates']).length === 0 && inner['promptFeedback'] === undefined) {
      return false;
    }
    this.takeEvent(response, null);
    return true;
  }

  private takePart(part: JsonObject): void {
    const signature = asText(part['thoughtSignature']);
    const meta = signature === undefined ? undefined : { thoughtSignature: signature };
    const call = asObject(part['functionCall']);
    if (call !== undefined) return this.takeCall(call, meta);
    const { text } = part;
    if (typeof text !== 'string') {
      // A signature may arrive in a part without other content.
      if (meta !== undefined && Object.keys(part).length <= 2) return this.addSignature(meta);
      return this.answer.repair('unknown_block');
    }
    if (text === '') return meta === undefined ? undefined : this.addSignature(meta);
    if (part['thought'] === true) this.answer.addReasoning(text, undefined, meta);
    else this.answer.addText(text, undefined, meta);
  }

  /** Adds the signature of an empty part to the part before it. */
  private addSignature(meta: JsonObject): void {
    if (this.answer.hasContent) this.answer.addMetaToLastBlock(meta);
    else this.answer.addText('', undefined, meta);
  }

  private takeCall(call: JsonObject, meta: JsonObject | undefined): void {
    const key = `${this.callCount}`;
    this.callCount += 1;
    const id = asText(call['id']) ?? `call_${key}`;
    this.answer.startCall(key, { id, name: asText(call['name']) ?? '' });
    const { args } = call;
    if (typeof args === 'string') this.answer.repair('arguments_encoded_twice');
    const raw = typeof args === 'string' ? args : JSON.stringify(args ?? {});
    this.answer.endCall(key, { raw, ...(meta === undefined ? {} : { meta }) });
  }
}

function readUsage(usage: JsonObject): ReportedUsage {
  const prompt = asNumber(usage['promptTokenCount']);
  const toolPrompt = asNumber(usage['toolUsePromptTokenCount']) ?? 0;
  const answered = asNumber(usage['candidatesTokenCount']);
  const thought = asNumber(usage['thoughtsTokenCount']);
  const total = asNumber(usage['totalTokenCount']);
  const isOutputKnown = answered !== undefined || thought !== undefined;
  return {
    prompt: prompt === undefined ? undefined : prompt + toolPrompt,
    cacheRead: asNumber(usage['cachedContentTokenCount']),
    output: isOutputKnown
      ? (answered ?? 0) + (thought ?? 0)
      : total === undefined || prompt === undefined
        ? undefined
        : total - prompt - toolPrompt,
    reasoning: thought,
  };
}

/** The fields whose objects contain further fields of the protocol. The arguments of calls must not be renamed. */
const NESTED_FIELDS = new Set(
  listNames('candidates content parts functionCall usageMetadata promptFeedback'),
);

/**
 * Converts the field names of a chunk to camel case, because gateways that use Google's Python types send
 * `finish_reason` and `function_call`. If a field is present under both names, the value under the name in camel case is used.
 */
function withCamelCaseNames(chunk: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(chunk).flatMap(([name, value]) => {
      const camel = name.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
      if (value === undefined || (camel !== name && chunk[camel] !== undefined)) return [];
      return [[camel, NESTED_FIELDS.has(camel) ? withCamelCaseFields(value) : value] as const];
    }),
  );
}

function withCamelCaseFields(value: JsonValue): JsonValue {
  if (Array.isArray(value)) {
    return value.map((item) => (isJsonObject(item) ? withCamelCaseNames(item) : item));
  }
  return isJsonObject(value) ? withCamelCaseNames(value) : value;
}

const THINKING = /("thinkingConfig":\{"thinkingBudget":)(\d+)/;

/** Google's generateContent protocol. */
export const googleProtocol: ProtocolAdapter = {
  rules: {
    metaKey: 'google',
    joinsSystemMessages: false,
    sendsReasoningWithoutMetadata: false,
    cacheMarker: null,
    acceptsFilesInResults: true,
    acceptedCallIds: /^[\x21-\x7e]{1,64}$/,
    sendsSignedBlankText: true,
  },
  createLanguageModel: (modelId, { baseUrl: baseURL, apiKey }, fetch) =>
    createGoogle({ baseURL, apiKey: apiKey ?? '', fetch }).languageModel(modelId),
  createReader: (answer) => new GoogleReader(answer),
  loadSearch: async () => (await import('../provider-search.ts')).googleSearch,
  // In this protocol, the output limit already includes thinking, so only the thinking budget is lowered.
  setOutputLimit: (body, maxOutputTokens) => capThinkingBudget(body, THINKING, maxOutputTokens),
};
