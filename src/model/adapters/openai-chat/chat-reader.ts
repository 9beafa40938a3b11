import type { JsonObject, JsonValue } from '../../../base/json.ts';
import { ReportedError } from '../errors/answer-errors.ts';
import type { AnswerBuilder } from '../answers/answer-builder.ts';
import { ChatCalls } from './chat-calls.ts';
import { readChatUsage } from './chat-usage.ts';
import { finishAnswer } from '../answers/finish-reasons.ts';
import { asObject, asObjects, asText, type AnswerReader } from '../answers/answer-reader.ts';
import { findReportedError, findEventError } from '../answers/reported-errors.ts';

/** Reads OpenAI's Chat Completions and what the servers compatible with it make of it. */
export class ChatReader implements AnswerReader {
  readonly awaitsEnd = false;
  private readonly answer: AnswerBuilder;
  private readonly calls: ChatCalls;
  /** The visible text so far, to know again what a whole message repeats. */
  private said = '';
  /** The thinking so far. */
  private thought = '';
  /** Content came in deltas, so that a last message repeats it. */
  private hasDeltas = false;
  private hasRefused = false;
  /** The response is one document, in which a message is what belongs there. */
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
    // Only one answer is asked for: GitHub Copilot puts its text into one choice and its calls into the next.
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
    if (delta === undefined && message === undefined) this.say(asText(choice['text']));
    this.takeUsage(choice);
  }

  private takeDelta(delta: JsonObject): void {
    this.think(thoughtIn(delta));
    for (const part of contentParts(delta['content'])) {
      if (part.type === 'reasoning') this.think(part.text);
      else this.say(part.text);
    }
    this.refuse(delta['refusal']);
    if (delta['content'] || delta['refusal']) this.hasDeltas = true;
    this.calls.take(delta);
  }

  /**
   * Takes a message in place of a delta: the whole answer, the answer so far, or a piece of it. What was said
   * before is not said again.
   */
  private takeMessage(message: JsonObject, { isLast }: { readonly isLast: boolean }): void {
    if (!this.isDocument) this.answer.repair('message_instead_of_delta');
    const parts = contentParts(message['content']);
    const joined = (type: ContentPart['type']): string =>
      parts.flatMap((part) => (part.type === type ? [part.text] : [])).join('');
    const thought = thoughtIn(message) + joined('reasoning');
    // A last message behind deltas is the whole answer, even if the server has trimmed it.
    const isWhole = isLast && this.hasDeltas;
    if (!(isWhole && this.thought !== '') || thought.startsWith(this.thought)) {
      this.think(newIn(thought, this.thought));
    }
    const text = joined('text');
    if (!(isWhole && this.said !== '') || text.startsWith(this.said)) {
      this.say(newIn(text, this.said));
    }
    if (asText(message['refusal']) !== this.said) this.refuse(message['refusal']);
    this.calls.takeMessage(message);
  }

  private think(text: string): void {
    if (text === '') return;
    this.thought += text;
    this.answer.reasoning(text);
  }

  private say(text: string | undefined): void {
    if (text === undefined || text === '') return;
    this.said += text;
    this.answer.text(text);
  }

  /** OpenAI sends a refusal in place of content. */
  private refuse(refusal: JsonValue | undefined): void {
    const text = asText(refusal);
    if (text === undefined) return;
    this.hasRefused = true;
    this.say(text);
  }

  private takeReason(reason: JsonValue | undefined): void {
    const raw = asText(reason);
    if (raw !== undefined) finishAnswer(this.answer, raw, { hasRefused: this.hasRefused });
  }

  /** Kimi reports usage inside the choice, Groq under `x_groq`. */
  private takeUsage(holder: JsonObject): void {
    const usage = asObject(holder['usage']) ?? asObject(asObject(holder['x_groq'])?.['usage']);
    if (usage !== undefined) this.answer.setUsage(readChatUsage(usage));
  }
}

/** The part of a message that is new behind what came before it: messages come whole, growing or in pieces. */
function newIn(text: string, before: string): string {
  // Some servers trim the message that repeats what they streamed.
  if (before !== '' && text.trim() === before.trim()) return '';
  return text.startsWith(before) ? text.slice(before.length) : text;
}

/** The thinking in a delta or message, whatever the field. */
function thoughtIn(holder: JsonObject): string {
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

/** Mistral sends thinking as a part of the content: https://docs.mistral.ai/capabilities/reasoning */
function contentParts(content: JsonValue | undefined): readonly ContentPart[] {
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
