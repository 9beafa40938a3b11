import { estimateTokensUnrounded } from '../../base/token-estimate.ts';
import { toolCalls } from '../../protocol/message.ts';
import type { ModelRequest, ProgressPart, Usage } from '../../protocol/model.ts';
import type { LastPart } from './answer.ts';
import { estimatePrompt, tokensOf } from '../limits/estimate.ts';

/** UTF-16 units of a broken answer that are kept: it is no answer, and its log line must stay small. */
const MOST_KEPT = 65_536;

/**
 * What came of an answer: its text, for one that breaks off, and its tokens, for one that ends without the
 * provider's own usage. Few do: nothing is counted before it is asked for.
 */
export class Streamed {
  private isAccepted = false;
  private readonly said = new Growing();
  private readonly thought = new Growing();

  accepted(): void {
    this.isAccepted = true;
  }

  take(part: ProgressPart): void {
    if (part.type === 'text_delta') this.said.add(part.text);
    else if (part.type === 'reasoning_delta') this.thought.add(part.text);
  }

  /** Its beginning where it is long. */
  get text(): string {
    return this.said.kept.slice(0, MOST_KEPT);
  }

  /** `last`: how it ended. Null: no answer had begun, and nothing is charged. */
  estimate(
    { prefix, messages }: Pick<ModelRequest, 'prefix' | 'messages'>,
    last: LastPart,
  ): Usage | null {
    if (!this.isAccepted) return null;
    const reasoning = this.thought.tokens;
    return {
      input: estimatePrompt(prefix, messages),
      output: Math.ceil(this.said.tokens + reasoning + callTokens(last)),
      cacheRead: 0,
      cacheWrite: 0,
      reasoning: Math.ceil(reasoning),
    };
  }
}

function callTokens(last: LastPart): number {
  if (last.type === 'failed') return tokensOf(last.argumentCharacters ?? 0);
  return toolCalls(last.message).reduce(
    (sum, { input }) => sum + estimateTokensUnrounded(JSON.stringify(input)),
    0,
  );
}

/** A text that comes in pieces, of which the beginning is kept. */
class Growing {
  kept = '';
  private length = 0;

  add(piece: string): void {
    if (this.kept.length < MOST_KEPT) this.kept += piece;
    this.length += piece.length;
  }

  /** What is not kept is taken to be as the rest. */
  get tokens(): number {
    if (this.length === 0) return 0;
    return (estimateTokensUnrounded(this.kept) * this.length) / this.kept.length;
  }
}
