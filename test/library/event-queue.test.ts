import { expect, it } from 'vitest';
import { EventQueue } from '../../src/library/event-queue.ts';

it('ends a `next` that waits when its iterator is closed', async () => {
  const queue = new EventQueue<string>();
  const closed = queue.iterate();
  const open = queue.iterate();
  const waiting = [closed.next(), closed.next(), open.next()];
  expect(await closed.return?.()).toEqual({ done: true, value: undefined });
  queue.push('later');
  expect(await Promise.all([...waiting, closed.next()])).toEqual([
    { done: true, value: undefined },
    { done: true, value: undefined },
    { done: false, value: 'later' },
    { done: true, value: undefined },
  ]);
});
