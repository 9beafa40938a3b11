import type { ErrorCode } from '../../base/errors.ts';
import type { TaskEvent } from '../events/event.ts';
import type { TaskInput } from '../input.ts';
import type { Decision } from '../permission.ts';
import type { QuotedCall, QuotedItem } from '../quoted-item.ts';

/** A message with a slash command that was not sent, because a shell part of it was refused. */
export interface UnsentMessage {
  /** The slash command as it was typed. */
  readonly command: string;
  /** The shell part, on one line. */
  readonly part: string;
  /** The text of the refusal, in which tags are escaped. */
  readonly text: string;
  /** The decision that refused it. Null if the call was not valid. */
  readonly decision: Decision | null;
}

/** The part of a conversation that the outcome of such a call changes. */
interface MessageQueue {
  queued: readonly TaskInput[];
  unsent: UnsentMessage | null;
}

/** Finds the next call that a message makes before it is sent. Returns null if all have ended. */
export function findQuotedCall(queued: readonly TaskInput[]): QuotedCall | null {
  for (const { enclosed = [] } of queued)
    for (const { call } of enclosed) if (call !== undefined) return call;
  return null;
}

/**
 * Applies the outcome of a call that a slash command has made: its output becomes a part of the message, or, if it was
 * refused, the message is not sent, because without the output it would say something else.
 */
export function applyToQuotedCalls(
  conversation: MessageQueue,
  event: Extract<TaskEvent, { type: 'call.ended' | 'call.refused' }>,
): void {
  const { queued } = conversation;
  const input = queued.find(({ enclosed }) => enclosed?.some((item) => isOf(item, event)));
  if (input === undefined) return;
  if (event.type === 'call.refused') {
    conversation.queued = queued.filter((each) => each !== input);
    conversation.unsent = describeUnsent(input, event);
    return;
  }
  const enclosed = (input.enclosed ?? []).map((item) =>
    isOf(item, event) ? addOutput(item, event) : item,
  );
  const completed = { ...input, enclosed };
  conversation.queued = queued.map((each) => (each === input ? completed : each));
}

function isOf({ call }: QuotedItem, { callId }: { readonly callId: string }): boolean {
  return call?.id === callId;
}

function addOutput(
  { kind, name, nonce: own }: QuotedItem,
  { text, nonce = own, error, facts }: Extract<TaskEvent, { type: 'call.ended' }>,
): QuotedItem {
  const exitCode = facts.commands?.[0]?.exitCode ?? null;
  return { kind, name, outcome: describeEnd(exitCode, error), text, nonce };
}

/** Describes how a command ended, unless it succeeded. */
function describeEnd(exitCode: number | null, error: ErrorCode | null): string {
  if (exitCode === 0) return '';
  return exitCode === null
    ? `It was ended (${error ?? 'by a signal'}).`
    : `Its exit code was ${exitCode}.`;
}

function describeUnsent(
  { enclosed = [] }: TaskInput,
  event: Extract<TaskEvent, { type: 'call.refused' }>,
): UnsentMessage {
  const at = enclosed.findIndex((item) => isOf(item, event));
  const command = enclosed.slice(0, at).findLast(({ kind }) => kind === 'slash_command');
  const { text, decision } = event;
  return { command: command?.name ?? '', part: enclosed[at]?.name ?? '', text, decision };
}
