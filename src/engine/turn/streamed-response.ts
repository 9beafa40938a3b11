import { toolCalls } from '../../protocol/message.ts';
import type { ModelRequest, ProgressPart, Usage } from '../../protocol/model.ts';
import type { FinalPart } from './turn-outcome.ts';
import { estimatePrompt, estimateTokensByLength } from '../limits/estimate.ts';
import { estimateTokensUnrounded } from '../../base/token-estimate.ts';

/** The most UTF-16 units that are kept of an answer that broke off, so that its log line stays small. */
const MAX_KEPT_LENGTH = 65_536;

/**
 * Collects a streamed response: its text, in case it breaks off, and its tokens, in case the provider reports no
 * usage. Tokens are counted only on demand, since few responses need it.
 */
export class StreamedResponse {
  private isAccepted = false;
  private readonly answerText = new PartialText();
  private readonly reasoningText = new PartialText();

  markAccepted(): void {
    this.isAccepted = true;
  }

  add(part: ProgressPart): void {
    if (part.type === 'text_delta') this.answerText.add(part.text);
    else if (part.type === 'reasoning_delta') this.reasoningText.add(part.text);
  }

  /** The text, or its beginning if it is long. */
  get text(): string {
    return this.answerText.kept.slice(0, MAX_KEPT_LENGTH);
  }

  /**
   * Estimates the usage. Returns null if no answer had started, in which case nothing is charged.
   *
   * @param last the end of the response
   */
  estimate(
    { prefix, messages }: Pick<ModelRequest, 'prefix' | 'messages'>,
    last: FinalPart,
  ): Usage | null {
    if (!this.isAccepted) return null;
    const reasoning = this.reasoningText.tokens;
    return {
      input: estimatePrompt(prefix, messages),
      output: Math.ceil(this.answerText.tokens + reasoning + countCallTokens(last)),
      cacheRead: 0,
      cacheWrite: 0,
      reasoning: Math.ceil(reasoning),
    };
  }
}

function countCallTokens(last: FinalPart): number {
  if (last.type === 'failed') return estimateTokensByLength(last.argumentCharacters ?? 0);
  return toolCalls(last.message).reduce(
    (sum, { input }) => sum + estimateTokensUnrounded(JSON.stringify(input)),
    0,
  );
}

/** A text that arrives in pieces and of which the beginning is kept. */
class PartialText {
  kept = '';
  private length = 0;

  add(piece: string): void {
    if (this.kept.length < MAX_KEPT_LENGTH) this.kept += piece;
    this.length += piece.length;
  }

  /** The part that was not kept is assumed to have as many tokens per character. */
  get tokens(): number {
    if (this.length === 0) return 0;
    return (estimateTokensUnrounded(this.kept) * this.length) / this.kept.length;
  }
}
