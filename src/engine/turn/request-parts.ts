import { hash } from 'node:crypto';
import type { Message } from '../../protocol/message.ts';

/** About 48 bits: enough to tell one text of a task from another. */
const DIGEST_LENGTH = 12;

export type RequestPart = Message['content'][number];

/** What a request adds to the one before it: the answer to that, what its calls came to, and what was said since. */
export function addedParts(messages: readonly Message[]): readonly RequestPart[] {
  const answer = messages.findLastIndex(({ role }) => role === 'assistant');
  return messages
    .slice(Math.max(0, answer))
    .flatMap(({ content }): readonly RequestPart[] => content);
}

/** A digest of each of these, so that a log can be held against what was really sent. */
export function digestsOfAdded(messages: readonly Message[]): readonly string[] {
  return addedParts(messages).map((part) =>
    hash('sha256', JSON.stringify(part)).slice(0, DIGEST_LENGTH),
  );
}
