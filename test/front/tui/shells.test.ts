import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { KEYS } from './emulator.ts';
import { Stage, type StageOptions } from './stage.ts';
import { useVirtualTime } from './virtual-time.ts';

useVirtualTime();

const CTRL_X = '\u0018';

/** Shells of the conversation and of a child: one runs, two have ended. */
async function withShells(options: StageOptions = {}): Promise<Stage> {
  const stage = new Stage(options);
  await stage.say('Look');
  stage.begin('child1xx', { description: 'look around', parent: 'mainmain' });
  const begin = (task: string, shell: string, command: string) =>
    stage.write(task, {
      type: 'shell.started',
      shell,
      callId: `call-${shell}`,
      command,
      output: `/data/spill/${task}-${shell}.txt`,
    });
  begin('mainmain', 'shellone', 'npm test');
  begin('child1xx', 'shelltwo', 'node server.js\n  --port 80');
  begin('mainmain', 'shellsix', 'make all');
  stage.pass(4_000);
  const end = { type: 'shell.ended', end: 'exited' } as const;
  stage.write('mainmain', { ...end, shell: 'shellone', exitCode: 0 });
  stage.write('mainmain', { ...end, shell: 'shellsix', exitCode: 2 });
  stage.pass(1_000);
  return stage;
}

it.each([
  [40, 12],
  [80, 24],
  [120, 30],
] as const)('the background shells at %d × %d', async (columns, rows) => {
  await using stage = await withShells({ columns, rows });
  await stage.say('/shells');
  expect(await stage.screen()).toMatchSnapshot();
});

it('a running shell is stopped by the second press of the key, and the list follows', async () => {
  await using stage = await withShells();
  await stage.say('/shells');
  await stage.emulator.press(CTRL_X);
  expect(stage.asked.stoppedShells).toEqual([]);
  expect(await stage.screen()).toContain('press it again to stop this shell');
  await stage.emulator.press(CTRL_X);
  await expect.poll(() => stage.asked.stoppedShells).toEqual(['child1xx shelltwo']);
  await expect.poll(() => stage.screen()).toMatch(/■ node server\.js --port 80 .*stopped/);
  await stage.emulator.press(CTRL_X);
  expect(await stage.screen()).toContain('this shell has ended');
});

it('another key takes the prepared stop back', async () => {
  await using stage = await withShells();
  await stage.say('/shells');
  await stage.emulator.press(CTRL_X, KEYS.down, CTRL_X);
  expect(await stage.screen()).toContain('this shell has ended');
  await stage.emulator.press(KEYS.up, CTRL_X);
  expect(stage.asked.stoppedShells).toEqual([]);
});

it('a path that is no file of the task is not read', async () => {
  await using stage = await withShells();
  writeFileSync('/tmp/muster-not-a-task-file', 'secret');
  stage.write('mainmain', {
    type: 'shell.started',
    shell: 'shellbad',
    callId: 'bad',
    command: 'bad',
    output: '/tmp/muster-not-a-task-file',
  });
  await stage.emulator.type('/shells shellbad');
  await stage.emulator.press(KEYS.escape, KEYS.enter);
  await expect.poll(() => stage.screen()).toContain('not in a file of the task');
  expect(await stage.screen()).not.toContain('secret');
});

it('a shell whose process is gone is not shown as running', async () => {
  await using stage = await withShells();
  stage.end('child1xx', 'interrupted' as never);
  await stage.say('/shells');
  expect(await stage.screen()).toMatch(/! node server\.js/);
});

it('a shell of another process is shown, and not stopped', async () => {
  const watched = {
    id: 'mainmain',
    isAtWork: false,
    isWatched: true,
    select: () => {},
    send: () => {},
    withdraw: () => [],
    continueWork: () => {},
    resumeTask: () => {},
  };
  await using stage = new Stage({ watched });
  stage.begin('mainmain', { agent: 'main' });
  stage.write('mainmain', {
    type: 'shell.started',
    shell: 'shellone',
    callId: 'call',
    command: 'npm start',
    output: '/data/spill/x.txt',
  });
  stage.place('mainmain');
  await stage.say('/shells');
  expect(await stage.screen()).toContain('● npm start');
  await stage.emulator.press(CTRL_X, CTRL_X);
  expect(await stage.screen()).toContain('can be stopped only where it runs');
  expect(stage.asked.stoppedShells).toEqual([]);
});

it('a typed id stops a shell, and a wrong one is explained', async () => {
  await using stage = await withShells();
  await stage.say('/shells stop shellx');
  expect(await stage.screen()).toContain('type /shells, /shells ID or /shells stop ID');
  await stage.say('/shells stop shelltwo');
  await expect.poll(() => stage.asked.stoppedShells).toEqual(['child1xx shelltwo']);
});
