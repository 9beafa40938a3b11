import type { Message } from '../../../protocol/message.ts';

/** Gives each call of an answer an id that neither the answer nor the history has. */
export class CallIds {
  private readonly history: readonly Message[];
  /** The ids that the server gave to the calls of this answer. */
  private readonly given = new Set<string>();
  /** The ids in use in the history and in this answer. */
  private used: Set<string> | null = null;

  constructor(history: readonly Message[]) {
    this.history = history;
  }

  /** Returns the server's id, or one in its form where the server gave none. */
  serverIdOf(id: string | undefined): string {
    return id ?? `call_${this.given.size}`;
  }

  /** Takes an id for a call, with a suffix where it is in use. `isRenamed`: another call of the answer has it. */
  take(serverId: string): { readonly id: string; readonly isRenamed: boolean } {
    this.used ??= callIds(this.history);
    let id = serverId;
    for (let n = 2; this.used.has(id); n += 1) id = `${serverId}_${n}`;
    this.used.add(id);
    const isRenamed = this.given.has(serverId);
    this.given.add(serverId);
    return { id, isRenamed };
  }
}

function callIds(history: readonly Message[]): Set<string> {
  const ids = new Set<string>();
  for (const message of history) {
    if (message.role !== 'assistant') continue;
    for (const part of message.content) if (part.type === 'tool_call') ids.add(part.id);
  }
  return ids;
}
