import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { toolResultRounds, type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { needs } from '../needs.ts';
import { waitUntilPasses } from '../wait-until-passes.ts';
import { TmuxTerminal } from './tmux.ts';
import { openWorld, type World } from './world.ts';

const inTerminal = it.runIf(needs('tmux', 'tmux'));

/** Starts a command in the background, and works on without an end. */
function script(request: RecordedRequest): Answer {
  if (toolResultRounds(request) > 0) return { delayMs: 60_000, text: 'late' };
  const command = 'echo ready; sleep 300';
  return { toolCalls: [{ name: 'Bash', input: { command, run_in_background: true } }] };
}

/** The log of the only task. */
function readLog({ sandbox }: World): string {
  const tasks = join(sandbox.data, 'tasks');
  const name = readdirSync(tasks).find((file) => file.endsWith('.jsonl')) ?? '';
  return readFileSync(join(tasks, name), 'utf8');
}

const MODE = ['--permission-mode', 'autonomous', '--allow', 'Bash'];

inTerminal('a background shell is listed, read and stopped', async () => {
  await using world = await openWorld({ script });
  const { sandbox, model } = world;
  const env = model.env('anthropic');
  using terminal = new TmuxTerminal(sandbox, MODE, { env, size: [90, 24] });
  await terminal.sees('/help');
  terminal.type('go');
  terminal.press('Enter');
  await terminal.sees('echo ready');
  const command = async (text: string): Promise<void> => {
    terminal.type(text);
    await terminal.sees(`→ ${text}`);
    terminal.press('Enter');
  };
  await command('/shells');
  await terminal.sees(/● echo ready; sleep 300 .*main/);
  terminal.press('Enter');
  const output = await terminal.sees(/^ready$/m);
  expect(output).toContain('echo ready; sleep 300');
  terminal.press('Escape');
  await terminal.sees('esc stop');
  await command('/shells');
  await terminal.sees('ctrl+x stops it');
  terminal.press('C-x');
  await terminal.sees('press it again to stop this shell');
  terminal.press('C-x');
  await terminal.sees(/■ echo ready; sleep 300 .*stopped/);
  // The stop is recorded as one by another task, and the task is notified.
  const log = readLog(world);
  expect(log).toMatch(/"type":"shell\.ended"[^\n]*"end":"stopped"/);
  expect(log).toContain('(echo ready; sleep 300): stopped. Its output: TaskOutput');
});

inTerminal('plain lines list the shells and stop one', async () => {
  await using world = await openWorld({ script });
  const { sandbox, model } = world;
  const env = model.env('anthropic');
  using terminal = new TmuxTerminal(sandbox, [...MODE, '--screen-reader'], {
    env,
    size: [120, 30],
  });
  await terminal.sees('Type what you want done.');
  terminal.type('go');
  terminal.press('Enter');
  await waitUntilPasses(() => {
    expect(readLog(world)).toContain('"type":"shell.started"');
  });
  terminal.type('/shells');
  terminal.press('Enter');
  const listed = await terminal.sees('Background shells: 1');
  const [, id = ''] = /^ +(\w{8}) running, .*: echo ready/m.exec(listed) ?? [];
  terminal.type(`/shells ${id}`);
  terminal.press('Enter');
  await terminal.sees(/^ +ready$/m);
  terminal.type(`/shells stop ${id}`);
  terminal.press('Enter');
  await waitUntilPasses(() => {
    expect(readLog(world)).toMatch(/"type":"shell\.ended"[^\n]*"end":"stopped"/);
  });
});
