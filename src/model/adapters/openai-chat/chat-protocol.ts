import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { isGoogleHost } from '../../providers/vendors.ts';
import type { PromptRules, ProtocolAdapter, AnswerReader } from '../protocol-adapter.ts';
import type { JsonObject, JsonValue } from '../../../base/json.ts';
import { ReportedError } from '../errors/answer-errors.ts';
import type { AnswerBuilder } from '../answers/answer-builder.ts';
import { ChatCalls } from './chat-calls.ts';
import { readChatUsage } from '../answers/reported-usage.ts';
import { finishAnswer } from '../answers/finish-reasons.ts';
import { asObject, asObjects, asText } from '../answers/json-fields.ts';
import { findReportedError, findEventError } from '../answers/reported-errors.ts';

/** Reads answers of OpenAI's Chat Completions, and the variants that compatible servers send. */
class ChatReader implements AnswerReader {
  readonly awaitsEnd = false;
  private readonly answer: AnswerBuilder;
  private readonly calls: ChatCalls;
  /** The visible text so far, to recognize what a complete message repeats. */
  private visibleText = '';
  /** The thinking so far. */
  private thinking = '';
  /** True if content came in deltas, so that a final message repeats it. */
  private hasDeltas = false;
  private hasRefused = false;
  /** True if the response is one document, in which a message is expected. */
  private isDocument = false;

  constructor(answer: AnswerBuilder) {
    this.answer = answer;
    this.calls = new ChatCalls(answer);
  }

  takeEvent(chunk: JsonObject, name: string | null): void {
    const error = findEventError(chunk, name);
    if (error !== undefined) return this.answer.fail(new ReportedError(error));
    this.answer.setServedBy(chunk['model']);
    this.takeUsage(chunk);
    const choices = asObjects(chunk['choices']);
    if (choices.length === 0 && !Array.isArray(chunk['choices'])) {
      this.answer.repair('missing_choices');
    }
    // All choices are one answer: GitHub Copilot puts its text into one choice and its calls into the next.
    for (const choice of choices) this.takeChoice(choice);
    for (const choice of choices) this.takeReason(choice['finish_reason']);
  }

  takeDocument(response: JsonObject): boolean {
    if (asObjects(response['choices']).length === 0) return false;
    this.isDocument = true;
    this.takeEvent(response, null);
    return true;
  }

  private takeChoice(choice: JsonObject): void {
    const error = findReportedError(choice);
    if (error !== undefined) return this.answer.fail(new ReportedError(error));
    const delta = asObject(choice['delta']);
    const message = asObject(choice['message']);
    if (delta !== undefined && Object.keys(delta).length > 0) this.takeDelta(delta);
    if (message !== undefined) {
      this.takeMessage(message, { isLast: asText(choice['finish_reason']) !== undefined });
    }
    if (delta === undefined && message === undefined) this.addText(asText(choice['text']));
    this.takeUsage(choice);
  }

  private takeDelta(delta: JsonObject): void {
    this.addThinking(findThinking(delta));
    for (const part of splitContent(delta['content'])) {
      if (part.type === 'reasoning') this.addThinking(part.text);
      else this.addText(part.text);
    }
    this.takeRefusal(delta['refusal']);
    if (delta['content'] || delta['refusal']) this.hasDeltas = true;
    this.calls.take(delta);
  }

  /**
   * Takes a message that came instead of a delta: the complete answer, the answer so far, or a piece of it. Text
   * that has come before is not added again.
   */
  private takeMessage(message: JsonObject, { isLast }: { readonly isLast: boolean }): void {
    if (!this.isDocument) this.answer.repair('message_instead_of_delta');
    const parts = splitContent(message['content']);
    const joined = (type: ContentPart['type']): string =>
      parts.flatMap((part) => (part.type === type ? [part.text] : [])).join('');
    const thought = findThinking(message) + joined('reasoning');
    // A final message after deltas is the complete answer, even if the server has trimmed it.
    const isComplete = isLast && this.hasDeltas;
    if (!(isComplete && this.thinking !== '') || thought.startsWith(this.thinking)) {
      this.addThinking(findNewText(thought, this.thinking));
    }
    const text = joined('text');
    if (!(isComplete && this.visibleText !== '') || text.startsWith(this.visibleText)) {
      this.addText(findNewText(text, this.visibleText));
    }
    if (asText(message['refusal']) !== this.visibleText) this.takeRefusal(message['refusal']);
    this.calls.takeMessage(message);
  }

  private addThinking(text: string): void {
    if (text === '') return;
    this.thinking += text;
    this.answer.addReasoning(text);
  }

  private addText(text: string | undefined): void {
    if (text === undefined || text === '') return;
    this.visibleText += text;
    this.answer.addText(text);
  }

  /** Takes the refusal that OpenAI sends instead of content. */
  private takeRefusal(refusal: JsonValue | undefined): void {
    const text = asText(refusal);
    if (text === undefined) return;
    this.hasRefused = true;
    this.addText(text);
  }

  private takeReason(reason: JsonValue | undefined): void {
    const raw = asText(reason);
    if (raw !== undefined) finishAnswer(this.answer, raw, { hasRefused: this.hasRefused });
  }

  /** Takes the usage, which Kimi reports inside the choice and Groq under `x_groq`. */
  private takeUsage(holder: JsonObject): void {
    const usage = asObject(holder['usage']) ?? asObject(asObject(holder['x_groq'])?.['usage']);
    if (usage !== undefined) this.answer.setUsage(readChatUsage(usage));
  }
}

/** Returns the part of a message that is new. Messages come complete, growing or in pieces. */
function findNewText(text: string, before: string): string {
  // Some servers trim the message that repeats what they streamed.
  if (before !== '' && text.trim() === before.trim()) return '';
  return text.startsWith(before) ? text.slice(before.length) : text;
}

/** Finds the thinking in a delta or message, in any of its fields. */
function findThinking(holder: JsonObject): string {
  const plain =
    asText(holder['reasoning_content']) ??
    asText(holder['reasoning']) ??
    asText(holder['thinking']);
  if (plain !== undefined) return plain;
  // OpenRouter: https://openrouter.ai/docs/use-cases/reasoning-tokens
  return asObjects(holder['reasoning_details'])
    .map((detail) => asText(detail['text']) ?? asText(detail['summary']) ?? '')
    .join('');
}

interface ContentPart {
  readonly type: 'text' | 'reasoning';
  readonly text: string;
}

/** Splits content into text and thinking, which Mistral sends as parts: https://docs.mistral.ai/capabilities/reasoning */
function splitContent(content: JsonValue | undefined): readonly ContentPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return asObjects(content).flatMap((part): ContentPart[] => {
    const { thinking } = part;
    if (part['type'] === 'thinking' || thinking !== undefined) {
      const text =
        typeof thinking === 'string' ? thinking : asObjects(thinking).map(partText).join('');
      return text === '' ? [] : [{ type: 'reasoning', text }];
    }
    const text = partText(part);
    return text === '' ? [] : [{ type: 'text', text }];
  });
}

function partText(part: JsonObject): string {
  return asText(part['text']) ?? '';
}

/** The provider name for the package. It is fixed, since it is also the key of the package's metadata. */
const NAME = 'openaiCompatible';

const RULES: PromptRules = {
  metaKey: NAME,
  // The package reads only the signature of the call under this key.
  callMetaKey: 'google',
  joinSystem: true,
  plainReasoning: true,
  cacheMarker: null,
  filesInResults: false,
  // OpenAI: "string too long. Expected a string with maximum length 40".
  acceptedIds: /^[\x21-\x7e]{1,40}$/,
};

/** The rules for Google, which defines a signature for calls without one: https://ai.google.dev/gemini-api/docs/thought-signatures */
const GOOGLE_RULES: PromptRules = {
  ...RULES,
  missingSignature: 'skip_thought_signature_validator',
};

/** Matches Gemini from version 3 on, which accepts no call without a signature, and names without a version. */
const NEEDS_SIGNATURES = /(?:^|\/)gemini-(?![12]\b|exp-|pro(?:-vision)?$)/;

/** OpenAI's Chat Completions protocol, which many other servers imitate. */
export const chatProtocol: ProtocolAdapter = {
  rules: RULES,
  rulesOf: ({ baseUrl }, modelId) =>
    isGoogleHost(baseUrl) && NEEDS_SIGNATURES.test(modelId) ? GOOGLE_RULES : RULES,
  languageModel: (modelId, endpoint, fetch) =>
    createOpenAICompatible({
      name: NAME,
      baseURL: endpoint.baseUrl,
      ...(endpoint.apiKey === null ? {} : { apiKey: endpoint.apiKey }),
      fetch,
      includeUsage: true,
    }).chatModel(modelId),
  createReader: (answer) => new ChatReader(answer),
};
