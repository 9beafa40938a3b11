import { toolCalls, type AssistantMessage, type ToolCallPart } from '../../protocol/message.ts';

/**
 * The tool calls of the newest answer as the model wrote them. The log, and so the state, holds them with secrets
 * redacted; a call that runs in the same process needs the original.
 */
export class UnredactedCalls {
  private newest: ReadonlyMap<string, ToolCallPart> = new Map();

  remember(message: AssistantMessage): void {
    this.newest = new Map(toolCalls(message).map((call) => [call.id, call]));
  }

  /** Replaces each call by its original, where this process has seen it. */
  unredacted(calls: readonly ToolCallPart[]): readonly ToolCallPart[] {
    return calls.map((call) => this.newest.get(call.id) ?? call);
  }
}
