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
import {
  CHAT_META_KEY,
  readThoughts,
  toThoughtFields,
  type ThoughtPiece,
} from './chat-thoughts.ts';
import type { ProviderQuirks } from '../../settings/provider-quirks.ts';
import { findReportedError, findEventError } from '../answers/reported-errors.ts';

/** Reads answers of OpenAI's Chat Completions, and the variants of compatible servers. */
class ChatReader implements AnswerReader {
  readonly awaitsEnd = false;
  private readonly answer: AnswerBuilder;
  private readonly calls: ChatCalls;
  /** The visible text so far, to recognize the text that a complete message repeats. */
  private visibleText = '';
  /** The thinking so far, for the same reason. */
  private thinking = '';
  /** True if content has arrived in deltas, so that a final message repeats it. */
  private hasDeltas = false;
  private hasRefused = false;
  /** True if the response is one document, in which a message is expected. */
  private isDocument = false;

  constructor(answer: AnswerBuilder) {
    this.answer = answer;
    this.calls = new ChatCalls(answer);
  }

  takeEvent(chunk: JsonObject, name: string | null): void {
    // An error may come with the usage of the part of the answer that has come.
    this.takeUsage(chunk);
    const error = findEventError(chunk, name);
    if (error !== undefined) return this.answer.fail(new ReportedError(error));
    this.answer.setServedBy(chunk['model']);
    const choices = asObjects(chunk['choices']);
    if (choices.length === 0 && !Array.isArray(chunk['choices'])) {
      this.answer.repair('missing_choices');
    }
    // All choices belong to one answer: GitHub Copilot sends the text in one choice and the calls in the next.
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
    for (const piece of readThoughts(delta)) this.addThought(piece);
    for (const part of splitContent(delta['content'])) {
      if (part.type === 'reasoning') this.addThought(part);
      else this.addText(part.text);
    }
    this.takeRefusal(delta['refusal']);
    if (delta['content'] || delta['refusal']) this.hasDeltas = true;
    this.calls.take(delta);
  }

  /**
   * Takes a message that arrived instead of a delta: the complete answer, the answer so far, or a piece of it. Text that
   * has already arrived is not added again.
   */
  private takeMessage(message: JsonObject, { isLast }: { readonly isLast: boolean }): void {
    if (!this.isDocument) this.answer.repair('message_instead_of_delta');
    const parts = splitContent(message['content']);
    const joined = (type: ContentPart['type']): string =>
      parts.flatMap((part) => (part.type === type ? [part.text] : [])).join('');
    const thoughts = [...readThoughts(message), { text: joined('reasoning') }];
    // A final message after deltas is the complete answer, even if the server has trimmed it.
    const isComplete = isLast && this.hasDeltas;
    this.takeThoughts(thoughts, { isComplete });
    const text = joined('text');
    if (!(isComplete && this.visibleText !== '') || text.startsWith(this.visibleText)) {
      this.addText(findNewText(text, this.visibleText));
    }
    if (asText(message['refusal']) !== this.visibleText) this.takeRefusal(message['refusal']);
    this.calls.takeMessage(message);
  }

  /** Takes the thoughts of a message. Thoughts that have come before are not added again. */
  private takeThoughts(
    thoughts: readonly ThoughtPiece[],
    { isComplete }: { readonly isComplete: boolean },
  ): void {
    const before = this.thinking;
    if (before === '') {
      for (const piece of thoughts) this.addThought(piece);
      return;
    }
    const text = thoughts.map((piece) => piece.text).join('');
    if (isComplete && !text.startsWith(before)) return;
    this.addThought({ ...thoughts[0], text: findNewText(text, before) });
  }

  private addThought({ text, key, meta }: ThoughtPiece): void {
    if (text === '' && meta === undefined) return;
    this.thinking += text;
    this.answer.addReasoning(text, key, meta);
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

/**
 * Returns the part of a message's text that is new. `before`: the text so far. A message contains the complete text, the
 * text so far with an addition, or only a new piece.
 */
function findNewText(text: string, before: string): string {
  // Some servers trim the message that repeats the streamed text.
  if (before !== '' && text.trim() === before.trim()) return '';
  return text.startsWith(before) ? text.slice(before.length) : text;
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
        typeof thinking === 'string' ? thinking : asObjects(thinking).map(getPartText).join('');
      return text === '' ? [] : [{ type: 'reasoning', text }];
    }
    const text = getPartText(part);
    return text === '' ? [] : [{ type: 'text', text }];
  });
}

function getPartText(part: JsonObject): string {
  return asText(part['text']) ?? '';
}

/** The rules of a server with these differences for one of its models. */
function createRules(
  { thoughts }: ProviderQuirks,
  cacheMarker: PromptRules['cacheMarker'],
): PromptRules {
  return {
    metaKey: CHAT_META_KEY,
    // The package reads only the signature of the call under this key.
    callMetaKey: 'google',
    // The part that tasks with the same agent share is marked.
    joinsSystemMessages: cacheMarker === null,
    sendsReasoningWithoutMetadata: true,
    cacheMarker,
    acceptsFilesInResults: false,
    // OpenAI: "string too long. Expected a string with maximum length 40".
    acceptedCallIds: /^[\x21-\x7e]{1,40}$/,
    thoughtFields: (content) => toThoughtFields(content, thoughts),
  };
}

/** The rules for servers of which no difference is known. */
const RULES = createRules({}, null);

const CACHE_MARKER = { [CHAT_META_KEY]: { cache_control: { type: 'ephemeral' } } };

/** The rules for models without and with marks for the cache. */
type RulesByMarks = Readonly<Record<'plain' | 'marked', PromptRules>>;

/** The rules by the differences of a server. They are kept, since converted tools are kept for each of them. */
const rulesByQuirks = new WeakMap<ProviderQuirks, RulesByMarks>();

function findRules(quirks: ProviderQuirks, modelId: string): PromptRules {
  const known = rulesByQuirks.get(quirks) ?? {
    plain: createRules(quirks, null),
    marked: createRules(quirks, CACHE_MARKER),
  };
  rulesByQuirks.set(quirks, known);
  return quirks.cacheMarks?.test(modelId) === true ? known.marked : known.plain;
}

/** The rules for Google, which defines a substitute for missing signatures: https://ai.google.dev/gemini-api/docs/thought-signatures */
const GOOGLE_RULES: PromptRules = {
  ...RULES,
  substituteSignature: 'skip_thought_signature_validator',
};

/** Matches models that accept no call without a signature: Gemini from version 3 on, and names without a version. */
const NEEDS_SIGNATURES = /(?:^|\/)gemini-(?![12]\b|exp-|pro(?:-vision)?$)/;

/** The field of a mark as it is in a body. Inside a text it would be escaped. */
const MARK = '"cache_control":{';

/**
 * Moves the marks for the cache, which the provider package writes into messages, into the parts of their content, where
 * OpenRouter expects them: https://openrouter.ai/docs/guides/best-practices/prompt-caching. The system messages become
 * parts of one, since chat templates accept no second one.
 */
function moveCacheMarks(body: string): string {
  if (!body.includes(MARK)) return body;
  const { messages, ...rest }: JsonObject = JSON.parse(body);
  const all = asObjects(messages);
  const system = all.filter(({ role }) => role === 'system');
  const joined = { role: 'system', content: system.flatMap(listParts) };
  const others = all.slice(system.length).map(moveMark);
  const changed = system.length === 0 ? others : [joined, ...others];
  return JSON.stringify({ ...rest, messages: changed });
}

function moveMark(message: JsonObject): JsonObject {
  const { cache_control: mark, ...rest } = message;
  return mark === undefined ? message : { ...rest, content: listParts(message) };
}

/** Returns the content of a message as parts, with the mark of the message. */
function listParts({ cache_control: mark, content }: JsonObject): readonly JsonObject[] {
  if (typeof content !== 'string') return asObjects(content);
  return [{ type: 'text', text: content, ...(mark === undefined ? {} : { cache_control: mark }) }];
}

/** OpenAI's Chat Completions protocol, which many other servers imitate. */
export const chatProtocol: ProtocolAdapter = {
  rules: RULES,
  selectRules: ({ baseUrl, quirks }, modelId) => {
    if (isGoogleHost(baseUrl) && NEEDS_SIGNATURES.test(modelId)) return GOOGLE_RULES;
    return quirks === undefined ? RULES : findRules(quirks, modelId);
  },
  createLanguageModel: (modelId, endpoint, fetch) =>
    createOpenAICompatible({
      // The name is fixed, since it is also the key of the package's metadata.
      name: CHAT_META_KEY,
      baseURL: endpoint.baseUrl,
      ...(endpoint.apiKey === null ? {} : { apiKey: endpoint.apiKey }),
      fetch,
      includeUsage: true,
    }).chatModel(modelId),
  createReader: (answer) => new ChatReader(answer),
  finishBody: moveCacheMarks,
};
