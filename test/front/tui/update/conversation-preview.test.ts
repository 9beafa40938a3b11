import { expect, it } from 'vitest';
import { ConversationPreview } from '../../../../src/front/tui/update/picker-items.ts';
import type { EventBody, TaskEvent } from '../../../../src/protocol/events/event.ts';
import { taskSpec } from '../../../store/fixture-data.ts';

function lastMessage(bodies: readonly EventBody[]): string | undefined {
  const preview = new ConversationPreview();
  const all: readonly EventBody[] = [{ type: 'task.created', spec: taskSpec('main') }, ...bodies];
  for (const body of all) preview.add(body as TaskEvent);
  return preview.parts().find(({ label }) => label === 'last message')?.text;
}

function queued(id: string, change: object = {}): EventBody {
  const input = { id, kind: 'message', from: 'user', text: `text ${id}`, ...change } as const;
  return { type: 'input.queued', input };
}

function started(...inputs: readonly string[]): EventBody {
  return { type: 'turn.started', turn: 1, inputs, model: 'scripted/one' } as EventBody;
}

const withdrawn: EventBody = { type: 'input.withdrawn', ids: ['b'] };

it.each<readonly [string, readonly EventBody[], string | undefined]>([
  ['the newest one', [queued('a'), started('a'), queued('b')], 'text b'],
  ['not one that was taken back', [queued('a'), started('a'), queued('b'), withdrawn], 'text a'],
  [
    'not one that was taken back after another request',
    [queued('b'), started(), withdrawn],
    undefined,
  ],
  ['not a notice about a mode', [queued('a'), queued('n', { kind: 'notice' })], 'text a'],
  ['not a message of another task', [queued('a'), queued('t', { from: 'task' })], 'text a'],
])('the last message of a preview is %s', (_, bodies, expected) =>
  expect(lastMessage(bodies)).toBe(expected),
);
