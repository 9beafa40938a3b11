import type { JsonObject, JsonValue } from '../../../base/json.ts';
import { ReportedError } from '../answer-errors.ts';
import type { AnswerBuilder } from './answer-builder.ts';
import { ChatCalls } from './chat-calls.ts';
import { readFinishReason } from './finish-reasons.ts';
import { errorIn, numberOf, objectOf, objectsOf, textOf, type AnswerReader } from './reader.ts';
import type { ReportedUsage } from './usage.ts';

/** Reads OpenAI's Chat Completions and what the servers compatible with it make of it. */
export class ChatReader implements AnswerReader {
  readonly awaitsEnd = false;
  private readonly answer: AnswerBuilder;
  private readonly calls: ChatCalls;
  /** The visible text and the thoughts so far, to recognize what a message repeats. */
  private said = '';
  private thought = '';
  private hasDeltas = false;
  private hasRefused = false;
  /** The response is one document, in which a message is what belongs there. */
  private isDocument = false;

  constructor(answer: AnswerBuilder) {
    this.answer = answer;
    this.calls = new ChatCalls(answer);
  }

  take(chunk: JsonObject, name: string | null = null): void {
    const error = errorIn(chunk, name);
    if (error !== undefined) return this.answer.fail(new ReportedError(error));
    this.answer.setServedBy(chunk['model']);
    this.takeUsage(chunk);
    const choices = objectsOf(chunk['choices']);
    if (choices.length === 0 && !Array.isArray(chunk['choices'])) {
      this.answer.repair('missing_choices');
    }
    // Only one answer is asked for; some servers number it otherwise than from 0.
    const [choice, ...others] = choices;
    if (choice !== undefined) this.takeChoice(choice);
    for (const other of others) this.takeFurtherChoice(other);
  }

  /** Copilot puts the calls of an answer into a choice of their own, behind its text. */
  private takeFurtherChoice(choice: JsonObject): void {
    if (this.said === '') return this.takeChoice(choice);
    this.calls.take(objectOf(choice['delta']) ?? objectOf(choice['message']) ?? {});
    this.takeReason(choice['finish_reason']);
  }

  takeWhole(response: JsonObject): boolean {
    if (objectsOf(response['choices']).length === 0) return false;
    this.isDocument = true;
    this.take(response);
    return true;
  }

  private takeChoice(choice: JsonObject): void {
    const error = errorIn(choice);
    if (error !== undefined) return this.answer.fail(new ReportedError(error));
    const delta = objectOf(choice['delta']);
    const message = objectOf(choice['message']);
    if (delta !== undefined && Object.keys(delta).length > 0) {
      this.hasDeltas = true;
      this.takeDelta(delta);
    }
    if (message !== undefined) this.takeMessage(message);
    if (delta === undefined && message === undefined) this.say(textOf(choice['text']));
    this.takeUsage(choice);
    this.takeReason(choice['finish_reason']);
  }

  private takeDelta(delta: JsonObject): void {
    this.addThought(thoughtOf(delta) ?? '');
    for (const part of contentParts(delta['content'])) {
      if (part.type === 'reasoning') this.addThought(part.text);
      else this.say(part.text);
    }
    this.refuse(delta['refusal']);
    this.calls.take(delta);
  }

  /**
   * Takes a message in place of a delta. It repeats what came before it, or is the next piece of the answer if
   * all pieces come as messages.
   */
  private takeMessage(message: JsonObject): void {
    if (!this.isDocument) this.answer.repair('message_instead_of_delta');
    if (this.said === '' && this.thought === '') return this.takeDelta(message);
    const parts = contentParts(message['content']);
    const thought = thoughtOf(message) ?? joined(parts, 'reasoning');
    const text = joined(parts, 'text');
    this.addThought(this.newPart(this.thought, thought));
    this.say(this.newPart(this.said, text));
    this.calls.take(message);
  }

  private newPart(before: string, text: string): string {
    if (text.startsWith(before)) return text.slice(before.length);
    return this.hasDeltas ? '' : text;
  }

  private addThought(text: string): void {
    this.thought += text;
    if (text !== '') this.answer.reasoning(text);
  }

  private say(text: string | undefined): void {
    if (text === undefined || text === '') return;
    this.said += text;
    this.answer.text(text);
  }

  /** OpenAI sends a refusal in place of content. */
  private refuse(refusal: JsonValue | undefined): void {
    const text = textOf(refusal);
    if (text === undefined) return;
    this.hasRefused = true;
    this.say(text);
  }

  private takeReason(reason: JsonValue | undefined): void {
    const raw = textOf(reason);
    if (raw === undefined) return;
    const read = readFinishReason(raw);
    if ('error' in read) return this.answer.fail(read.error);
    const isRefusal = read.reason === 'stop' && this.hasRefused;
    this.answer.finish(isRefusal ? 'content_filter' : read.reason);
  }

  /** Kimi reports usage inside the choice, Groq under `x_groq`. */
  private takeUsage(holder: JsonObject): void {
    const usage = objectOf(holder['usage']) ?? objectOf(objectOf(holder['x_groq'])?.['usage']);
    if (usage !== undefined) this.answer.setUsage(chatUsage(usage));
  }
}

/** Reads usage under the names of any protocol, because gateways pass them on. */
export function chatUsage(usage: JsonObject): ReportedUsage {
  const promptDetails = objectOf(usage['prompt_tokens_details'] ?? usage['input_tokens_details']);
  const outputDetails = objectOf(
    usage['completion_tokens_details'] ?? usage['output_tokens_details'],
  );
  const output = numberOf(usage['completion_tokens'] ?? usage['output_tokens']);
  const total = numberOf(usage['total_tokens']);
  return {
    prompt:
      numberOf(usage['prompt_tokens'] ?? usage['input_tokens']) ??
      (total === undefined || output === undefined ? undefined : total - output),
    cacheRead:
      numberOf(promptDetails?.['cached_tokens']) ??
      // Moonshot and DeepSeek.
      numberOf(usage['cached_tokens'] ?? usage['prompt_cache_hit_tokens']),
    output,
    reasoning: numberOf(outputDetails?.['reasoning_tokens']),
  };
}

/** The thought in a delta or a message, outside of its content; undefined if there is none. */
function thoughtOf(delta: JsonObject): string | undefined {
  const plain =
    textOf(delta['reasoning_content']) ?? textOf(delta['reasoning']) ?? textOf(delta['thinking']);
  if (plain !== undefined) return plain;
  // OpenRouter: https://openrouter.ai/docs/use-cases/reasoning-tokens
  const details = objectsOf(delta['reasoning_details']).map(
    (detail) => textOf(detail['text']) ?? textOf(detail['summary']) ?? '',
  );
  return textOf(details.join(''));
}

interface ContentPart {
  readonly type: 'text' | 'reasoning';
  readonly text: string;
}

/** Mistral sends thinking as a part of the content: https://docs.mistral.ai/capabilities/reasoning */
function contentParts(content: JsonValue | undefined): readonly ContentPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return objectsOf(content).flatMap((part): ContentPart[] => {
    const { thinking } = part;
    if (part['type'] === 'thinking' || thinking !== undefined) {
      const text =
        typeof thinking === 'string' ? thinking : objectsOf(thinking).map(partText).join('');
      return text === '' ? [] : [{ type: 'reasoning', text }];
    }
    const text = partText(part);
    return text === '' ? [] : [{ type: 'text', text }];
  });
}

function joined(parts: readonly ContentPart[], wanted: ContentPart['type']): string {
  return parts.map(({ type, text }) => (type === wanted ? text : '')).join('');
}

function partText(part: JsonObject): string {
  return textOf(part['text']) ?? '';
}
