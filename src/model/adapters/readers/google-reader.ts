import type { JsonObject } from '../../../base/json.ts';
import { ReportedError } from '../answer-errors.ts';
import type { AnswerBuilder } from './answer-builder.ts';
import { finishAnswer } from './finish-reasons.ts';
import { withCamelCaseNames } from './google-names.ts';
import { numberOf, objectOf, objectsOf, textOf, type AnswerReader } from './reader.ts';
import { errorInEvent } from './reported-errors.ts';
import type { ReportedUsage } from './usage.ts';

/** Reads Google's generateContent: https://ai.google.dev/api/generate-content */
export class GoogleReader implements AnswerReader {
  readonly awaitsEnd = false;
  private readonly answer: AnswerBuilder;
  private callCount = 0;

  constructor(answer: AnswerBuilder) {
    this.answer = answer;
  }

  take(sent: JsonObject, name: string | null): void {
    // The servers behind Google's own command line wrap each chunk.
    const chunk = withCamelCaseNames(objectOf(sent['response']) ?? sent);
    const error = errorInEvent(chunk, name);
    if (error !== undefined) return this.answer.fail(new ReportedError(error));
    this.answer.setServedBy(chunk['modelVersion']);
    const usage = objectOf(chunk['usageMetadata']);
    if (textOf(objectOf(chunk['promptFeedback'])?.['blockReason']) !== undefined) {
      this.answer.finish('content_filter');
    }
    const [candidate] = objectsOf(chunk['candidates']);
    if (candidate === undefined) {
      this.takeUsage(usage);
      const isKnown = usage !== undefined || chunk['promptFeedback'] !== undefined;
      if (!isKnown) this.answer.repair('missing_choices');
      return;
    }
    for (const part of objectsOf(objectOf(candidate['content'])?.['parts'])) this.takePart(part);
    const reason = textOf(candidate['finishReason']);
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

  takeWhole(response: JsonObject): boolean {
    const inner = withCamelCaseNames(objectOf(response['response']) ?? response);
    if (objectsOf(inner['candidates']).length === 0 && inner['promptFeedback'] === undefined) {
      return false;
    }
    this.take(response, null);
    return true;
  }

  private takePart(part: JsonObject): void {
    const signature = textOf(part['thoughtSignature']);
    const meta = signature === undefined ? undefined : { thoughtSignature: signature };
    const call = objectOf(part['functionCall']);
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
    const id = textOf(call['id']) ?? `call_${key}`;
    this.answer.startCall(key, { id, name: textOf(call['name']) ?? '' });
    const { args } = call;
    if (typeof args === 'string') this.answer.repair('arguments_encoded_twice');
    const raw = typeof args === 'string' ? args : JSON.stringify(args ?? {});
    this.answer.endCall(key, { raw, ...(meta === undefined ? {} : { meta }) });
  }
}

function googleUsage(usage: JsonObject): ReportedUsage {
  const prompt = numberOf(usage['promptTokenCount']);
  const toolPrompt = numberOf(usage['toolUsePromptTokenCount']) ?? 0;
  const answered = numberOf(usage['candidatesTokenCount']);
  const thought = numberOf(usage['thoughtsTokenCount']);
  const total = numberOf(usage['totalTokenCount']);
  const isOutputKnown = answered !== undefined || thought !== undefined;
  return {
    prompt: prompt === undefined ? undefined : prompt + toolPrompt,
    cacheRead: numberOf(usage['cachedContentTokenCount']),
    output: isOutputKnown
      ? (answered ?? 0) + (thought ?? 0)
      : total === undefined || prompt === undefined
        ? undefined
        : total - prompt - toolPrompt,
    reasoning: thought,
  };
}
