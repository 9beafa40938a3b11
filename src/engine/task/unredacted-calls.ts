import { toolCalls, type AssistantMessage, type ToolCallPart } from '../../protocol/message.ts';
import type { QuotedCall, QuotedItem } from '../../protocol/quoted-item.ts';

/**
 * The calls of a task as this process got them: those of the newest answer, and those of slash commands in messages of the
 * user. The log, and so the state, holds them with secrets redacted; a call that runs in the same process needs the original.
 */
export class UnredactedCalls {
  private newest: ReadonlyMap<string, ToolCallPart> = new Map();
  private readonly quoted = new Map<string, QuotedCall>();

  remember(message: AssistantMessage): void {
    this.newest = new Map(toolCalls(message).map((call) => [call.id, call]));
  }

  /** Replaces each call by its original, if this process has received the original. */
  restore(calls: readonly ToolCallPart[]): readonly ToolCallPart[] {
    return calls.map((call) => this.newest.get(call.id) ?? call);
  }

  /** Remembers the calls of slash commands in the items of a message. */
  rememberQuoted(items: readonly QuotedItem[] = []): void {
    for (const { call } of items) if (call !== undefined) this.quoted.set(call.id, call);
  }

  /** Returns the call of a slash command. Returns null if only the log holds it. */
  findQuoted(id: string): QuotedCall | null {
    return this.quoted.get(id) ?? null;
  }
}
