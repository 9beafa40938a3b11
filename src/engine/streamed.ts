import { toolCalls } from '../protocol/message.ts';
import type { ModelPart, ModelRequest, Usage } from '../protocol/model.ts';
import { estimatePrompt, tokensIn, tokensOf } from './estimate.ts';

/** Counts what came of an answer, for one that ends without the provider's own usage. */
export class Streamed {
  private isAccepted = false;
  private output = 0;
  private reasoning = 0;

  take(part: ModelPart): void {
    switch (part.type) {
      case 'accepted':
        this.isAccepted = true;
        return;
      case 'text_delta':
        this.output += tokensIn(part.text);
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
