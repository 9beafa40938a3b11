import { isDeepStrictEqual } from 'node:util';
import type { EventBody, TaskEvent } from '../protocol/events/event.ts';
import { LogFold } from '../engine/task/fold-log.ts';
import { findAddedParts, type RequestPart } from '../engine/turn/request.ts';

/**
 * Of a request that holds something else than was sent: which event of the log is not what it was then.
 * Null: that is not how they differ.
 */
export function explained(
  made: EventBody,
  logged: TaskEvent,
  whole: readonly TaskEvent[],
): readonly string[] | null {
  if (made.type !== 'turn.accepted' || logged.type !== 'turn.accepted') return null;
  const sent = logged.added ?? [];
  const now = made.added ?? [];
  if (isDeepStrictEqual(sent, now) || sent.length !== now.length) return null;
  const parts = partsBefore(logged, whole);
  return now.flatMap((digest, index) => {
    const part = parts[index];
    if (digest === sent[index] || part === undefined) return [];
    return [
      `the request of turn ${made.turn} would hold something else: ${whatOf(part, logged, whole)}`,
    ];
  });
}

function partsBefore({ seq }: TaskEvent, whole: readonly TaskEvent[]): readonly RequestPart[] {
  const fold = new LogFold((visit) => whole.forEach((event) => visit(event)));
  for (const event of whole) if (event.seq < seq) fold.add(event);
  return findAddedParts(fold.state?.conversation.messages ?? []);
}

function whatOf(part: RequestPart, { seq }: TaskEvent, whole: readonly TaskEvent[]): string {
  const before = whole.filter((event) => event.seq < seq);
  if (part.type === 'tool_result') {
    const outcome = before.findLast(
      (event) =>
        (event.type === 'call.ended' || event.type === 'call.refused') &&
        event.callId === part.callId,
    );
    return `what call ${part.callId} (${part.name}) came to is not what it was then (event ${outcome?.seq ?? '?'})`;
  }
  if (part.type === 'text' && before.some((event) => saysText(event, part.text))) {
    const said = before.findLast((event) => saysText(event, part.text));
    return `what the task is told is not what it was then (event ${said?.seq ?? '?'})`;
  }
  const answer = before.findLast(({ type }) => type === 'turn.ended');
  return `the model's answer, or what is told beside it, is not what it was then (event ${answer?.seq ?? '?'})`;
}

function saysText(event: TaskEvent, text: string): boolean {
  if (event.type === 'task.created') {
    return event.spec.prompt === text || event.spec.given?.text === text;
  }
  if (event.type === 'context.handed') return event.text === text;
  return event.type === 'input.queued' && event.input.text === text;
}
