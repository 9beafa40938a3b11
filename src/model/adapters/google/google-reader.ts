import { type JsonObject, type JsonValue, isJsonObject } from '../../../base/json.ts';
import { ReportedError } from '../errors/answer-errors.ts';
import type { AnswerBuilder } from '../answers/answer-builder.ts';
import { finishAnswer } from '../answers/finish-reasons.ts';
import {
  type AnswerReader,
  asNumber,
  asObject,
  asObjects,
  asText,
} from '../answers/answer-reader.ts';
import { findEventError } from '../answers/reported-errors.ts';
import type { ReportedUsage } from '../answers/reported-usage.ts';

/** Reads Google's generateContent: https://ai.google.dev/api/generate-content */
export class GoogleReader implements AnswerReader {
  readonly awaitsEnd = false;
  private readonly answer: AnswerBuilder;
  private callCount = 0;

  constructor(answer: AnswerBuilder) {
    this.answer = answer;
  }

  takeEvent(sent: JsonObject, name: string | null): void {
    // The servers behind Google's own command line wrap each chunk.
    const chunk = withCamelCaseNames(asObject(sent['response']) ?? sent);
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

  /** Gemini counts as it goes: before the finish reason, what is generated is not yet all of it. */
  private takeUsage(usage: JsonObject | undefined): void {
    if (usage === undefined) return;
    const isFinal = this.answer.finishReason !== null;
    this.answer.setUsage({
      ...googleUsage(usage),
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
      // A signature may come in a part without any content.
      if (meta !== undefined && Object.keys(part).length <= 2) return this.annotate(meta);
      return this.answer.repair('unknown_block');
    }
    if (text === '') return meta === undefined ? undefined : this.annotate(meta);
    if (part['thought'] === true) this.answer.reasoning(text, undefined, meta);
    else this.answer.text(text, undefined, meta);
  }

  /** The signature of an empty part belongs to the part before it. */
  private annotate(meta: JsonObject): void {
    if (this.answer.hasContent) this.answer.annotateLast(meta);
    else this.answer.text('', undefined, meta);
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

function googleUsage(usage: JsonObject): ReportedUsage {
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

/** The fields below which further fields of the protocol stand. Arguments of calls are none of them. */
const HOLDERS = new Set([
  'candidates',
  'content',
  'parts',
  'functionCall',
  'usageMetadata',
  'promptFeedback',
]);

/**
 * Returns a chunk with its field names in camel case: gateways that use Google's Python types send
 * `finish_reason` and `function_call`. A field that is there under both names keeps the value in camel case.
 */
function withCamelCaseNames(chunk: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(chunk).flatMap(([name, value]) => {
      const camel = name.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
      if (value === undefined || (camel !== name && chunk[camel] !== undefined)) return [];
      return [[camel, HOLDERS.has(camel) ? renamedBelow(value) : value] as const];
    }),
  );
}

function renamedBelow(value: JsonValue): JsonValue {
  if (Array.isArray(value)) {
    return value.map((item) => (isJsonObject(item) ? withCamelCaseNames(item) : item));
  }
  return isJsonObject(value) ? withCamelCaseNames(value) : value;
}
