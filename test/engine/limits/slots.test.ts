import { describe, expect, it } from 'vitest';
import { Slots, CommandQueue } from '../../../src/engine/limits/slots.ts';
import type { SandboxPort } from '../../../src/protocol/tool.ts';

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

const FOREGROUND = { serves: false };
const BACKGROUND = { serves: true };

it('lets a command in the foreground wait behind another one', async () => {
  const queue = new CommandQueue(2);
  const first = await queue.take(never, FOREGROUND);
  await queue.take(never, BACKGROUND);
  let isGranted = false;
  const second = queue.take(never, FOREGROUND).then((lane) => {
    isGranted = true;
    return lane;
  });
  await Promise.resolve();
  expect(isGranted).toBe(false);
  first.release();
  first.release();
  await second;
  await expect(queue.take(never, BACKGROUND)).rejects.toMatchObject({
    code: 'LIMIT_EXCEEDED',
    message: expect.stringContaining('max_processes = 2'),
  });
});

it('refuses a command that would wait behind background commands alone', async () => {
  const queue = new CommandQueue(1);
  const shell = await queue.take(never, BACKGROUND);
  await expect(queue.take(never, FOREGROUND)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
  shell.release();
  await queue.take(never, FOREGROUND);
});

it('ends a wait when the call is stopped, and then holds no slot', async () => {
  const queue = new CommandQueue(1);
  const first = await queue.take(never, FOREGROUND);
  const controller = new AbortController();
  const waiting = queue.take(controller.signal, FOREGROUND);
  controller.abort(new Error('stopped'));
  await expect(waiting).rejects.toThrow('stopped');
  first.release();
  (await queue.take(never, BACKGROUND)).release();
});

it('holds a slot from before a command starts until it is released', async () => {
  const queue = new CommandQueue(1);
  let released = 0;
  const release = (): void => void (released += 1);
  const port: SandboxPort = {
    confine: async ([file, ...args]) => ({
      file,
      args,
      env: {},
      held: null,
      maxProcesses: 0,
      settle: () => Promise.resolve({ removed: [], fromCommits: [] }),
      release,
    }),
  };
  const broken: SandboxPort = { confine: () => Promise.reject(new Error('no sandbox')) };
  const options = { cwd: '/', serves: false };
  await expect(queue.queueCommands(broken, never).confine(['true'], options)).rejects.toThrow(
    'no sandbox',
  );
  const command = await queue.queueCommands(port, never).confine(['true'], options);
  await expect(queue.take(never, BACKGROUND)).rejects.toThrow('max_processes');
  command.release();
  command.release();
  expect(released).toBe(2);
  await queue.take(never, BACKGROUND);
});
