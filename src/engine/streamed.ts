import { tokensIn } from '../base/token-estimate.ts';
import { toolCalls } from '../protocol/message.ts';
import type { ModelPart, ModelRequest, Usage } from '../protocol/model.ts';
import { estimatePrompt, tokensOf } from './estimate.ts';

/** UTF-16 units of a broken answer that are kept: it is no answer, and its log line must stay small. */
const MOST_KEPT = 65_536;

/**
 * What came of an answer: its tokens, for one that ends without the provider's own usage, and its text, for
 * one that breaks off.
 */
export class Streamed {
  private isAccepted = false;
  private output = 0;
  private reasoning = 0;
  private said = '';

  take(part: ModelPart): void {
    switch (part.type) {
      case 'accepted':
        this.isAccepted = true;
        return;
      case 'text_delta':
        this.output += tokensIn(part.text);
        if (this.said.length < MOST_KEPT) this.said += part.text;
        return;
      case 'reasoning_delta':
        this.output += tokensIn(part.text);
        this.reasoning += tokensIn(part.text);
        return;
      case 'failed':
        this.output += tokensOf(part.argumentCharacters ?? 0);
        return;
      case 'finished':
        if (part.usageMissing !== true) return;
        for (const { input } of toolCalls(part.message)) {
          this.output += tokensIn(JSON.stringify(input));
        }
        return;
      default:
    }
  }

  /** Its beginning where it is long. */
  get text(): string {
    return this.said.slice(0, MOST_KEPT);
  }

  /** Null: no answer had begun, and nothing is charged. */
  estimate({ prefix, messages }: Pick<ModelRequest, 'prefix' | 'messages'>): Usage | null {
    if (!this.isAccepted) return null;
    return {
      input: estimatePrompt(prefix, messages),
      output: Math.ceil(this.output),
      cacheRead: 0,
      cacheWrite: 0,
      reasoning: Math.ceil(this.reasoning),
    };
  }
}
