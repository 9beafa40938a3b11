import { tokensIn } from '../../base/token-estimate.ts';
import { toolCalls } from '../../protocol/message.ts';
import type { ModelRequest, ProgressPart, Usage } from '../../protocol/model.ts';
import type { FinalPart } from './turn-outcome.ts';
import { estimatePrompt, tokensOf } from '../limits/estimate.ts';

/** UTF-16 units of a broken answer that are kept: it is no answer, and its log line must stay small. */
const MAX_KEPT_LENGTH = 65_536;

/**
 * What came of an answer: its text, for one that breaks off, and its tokens, for one that ends without the
 * provider's own usage. Few do: nothing is counted before it is asked for.
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

  /** Its beginning where it is long. */
  get text(): string {
    return this.answerText.kept.slice(0, MAX_KEPT_LENGTH);
  }

  /** `last`: how it ended. Null: no answer had begun, and nothing is charged. */
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
  if (last.type === 'failed') return tokensOf(last.argumentCharacters ?? 0);
  return toolCalls(last.message).reduce(
    (sum, { input }) => sum + tokensIn(JSON.stringify(input)),
    0,
  );
}

/** A text that comes in pieces, of which the beginning is kept. */
class PartialText {
  kept = '';
  private length = 0;

  add(piece: string): void {
    if (this.kept.length < MAX_KEPT_LENGTH) this.kept += piece;
    this.length += piece.length;
  }

  /** What is not kept is taken to be as the rest. */
  get tokens(): number {
    if (this.length === 0) return 0;
    return (tokensIn(this.kept) * this.length) / this.kept.length;
  }
}
