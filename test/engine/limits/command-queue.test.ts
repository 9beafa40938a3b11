import { expect, it } from 'vitest';
import { CommandQueue } from '../../../src/engine/limits/slots.ts';
import type { SandboxPort } from '../../../src/protocol/tool.ts';

const never = new AbortController().signal;
const FOREGROUND = { serves: false };
const BACKGROUND = { serves: true };

it('lets a command in the foreground wait behind another one', async () => {
  const lanes = new CommandQueue(2);
  const first = await lanes.take(never, FOREGROUND);
  await lanes.take(never, BACKGROUND);
  let isGranted = false;
  const second = lanes.take(never, FOREGROUND).then((lane) => {
    isGranted = true;
    return lane;
  });
  await Promise.resolve();
  expect(isGranted).toBe(false);
  first.release();
  first.release();
  await second;
  await expect(lanes.take(never, BACKGROUND)).rejects.toMatchObject({
    code: 'LIMIT_EXCEEDED',
    message: expect.stringContaining('max_processes = 2'),
  });
});

it('refuses a command that would wait behind background commands alone', async () => {
  const lanes = new CommandQueue(1);
  const shell = await lanes.take(never, BACKGROUND);
  await expect(lanes.take(never, FOREGROUND)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
  shell.release();
  await lanes.take(never, FOREGROUND);
});

it('ends a wait when the call is stopped, and then holds no slot', async () => {
  const lanes = new CommandQueue(1);
  const first = await lanes.take(never, FOREGROUND);
  const controller = new AbortController();
  const waiting = lanes.take(controller.signal, FOREGROUND);
  controller.abort(new Error('stopped'));
  await expect(waiting).rejects.toThrow('stopped');
  first.release();
  (await lanes.take(never, BACKGROUND)).release();
});

it('holds a slot from before a command starts until it is released', async () => {
  const lanes = new CommandQueue(1);
  let released = 0;
  const release = (): void => void (released += 1);
  const port: SandboxPort = {
    confine: async ([file, ...args]) => ({
      file,
      args,
      env: {},
      held: null,
      settle: () => Promise.resolve({ removed: [], fromCommits: [] }),
      release,
    }),
  };
  const broken: SandboxPort = { confine: () => Promise.reject(new Error('no sandbox')) };
  const options = { cwd: '/', serves: false };
  await expect(lanes.queueCommands(broken, never).confine(['true'], options)).rejects.toThrow(
    'no sandbox',
  );
  const command = await lanes.queueCommands(port, never).confine(['true'], options);
  await expect(lanes.take(never, BACKGROUND)).rejects.toThrow('max_processes');
  command.release();
  command.release();
  expect(released).toBe(2);
  await lanes.take(never, BACKGROUND);
});
