import { describe, expect, it } from 'vitest';
import { Slots } from '../../../src/engine/limits/slots.ts';

const never = new AbortController().signal;

describe('Slots', () => {
  it('queues in order, and lets resuming tasks go first', async () => {
    const slots = new Slots(1);
    const order: string[] = [];
    const first = await slots.acquire(never, { isResuming: false });
    const take = async (name: string, isResuming: boolean) => {
      const slot = await slots.acquire(never, { isResuming });
      order.push(name);
      slot.release();
    };
    const all = [
      take('new 1', false),
      take('new 2', false),
      take('back 1', true),
      take('back 2', true),
    ];
    expect(slots.isFull).toBe(true);
    first.release();
    await Promise.all(all);
    expect(order).toEqual(['back 1', 'back 2', 'new 1', 'new 2']);
    expect(slots.isFull).toBe(false);
  });

  it('gives no slot to a task that was stopped in the queue', async () => {
    const slots = new Slots(1);
    const held = await slots.acquire(never, { isResuming: false });
    const controller = new AbortController();
    const stopped = slots.acquire(controller.signal, { isResuming: false });
    const next = slots.acquire(never, { isResuming: false });
    controller.abort(new Error('stopped'));
    await expect(stopped).rejects.toThrow('stopped');
    held.release();
    (await next).release();
    expect(slots.isFull).toBe(false);
  });

  it('counts a slot that is released twice only once', async () => {
    const slots = new Slots(1);
    const slot = await slots.acquire(never, { isResuming: false });
    slot.release();
    slot.release();
    await slots.acquire(never, { isResuming: false });
    expect(slots.isFull).toBe(true);
  });

  it('gives no slot to a task that is stopped already', async () => {
    const slots = new Slots(1);
    await expect(
      slots.acquire(AbortSignal.abort(new Error('gone')), { isResuming: false }),
    ).rejects.toThrow('gone');
    expect(slots.isFull).toBe(false);
  });
});
