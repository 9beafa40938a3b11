import { expect, it } from 'vitest';
import { toolResultRounds, type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { needs } from '../needs.ts';
import { TmuxTerminal } from './tmux.ts';
import { openWorld } from './world.ts';

const inTerminal = it.runIf(needs('tmux', 'tmux'));
const SIZE = [80, 24] as const;

/** The main agent starts as many children as it is told to; those that are to last work without an end. */
function script(request: RecordedRequest): Answer {
  const { system, messages } = request;
  const said = JSON.stringify(messages);
  if (system.includes('subagent of Muster')) {
    return said.includes('last') ? { delayMs: 60_000, text: 'late' } : { text: 'It is there.' };
  }
  if (said.includes('taken back and sent')) return { text: 'That was read.' };
  const [, count = '0', kind = ''] = /start (\d+) that (\w+)/.exec(said) ?? [];
  if (toolResultRounds(request) > 0) return { text: 'All have ended.' };
  if (said.includes('in the background')) return { toolCalls: [delegation('quick', 0, true)] };
  return {
    toolCalls: Array.from({ length: Number(count) }, (_, index) => delegation(kind, index, false)),
  };
}

function delegation(kind: string, index: number, isBackground: boolean) {
  const background = isBackground ? { run_in_background: true } : {};
  const prompt = `${kind} ${index}`;
  const description = `part ${index}`;
  return { name: 'Task', input: { prompt, description, subagent_type: 'Explore', ...background } };
}

inTerminal('a message that waits is taken back, changed and sent', async () => {
  await using world = await openWorld({ script });
  using terminal = new TmuxTerminal(world.sandbox, [], {
    env: world.model.env('anthropic'),
    size: SIZE,
  });
  await terminal.sees('/help');
  terminal.type('start 1 that last');
  terminal.press('Enter');
  await terminal.sees('part 0 ·');
  terminal.type('a first thought');
  terminal.press('Enter');
  await terminal.sees('waits for the next turn');
  terminal.press('Up');
  await terminal.sees('1 message taken back');
  expect(terminal.screen()).not.toContain('waits for the next turn');
  await terminal.sees(/^a first thought/m);
  terminal.type(' taken back and sent');
  terminal.press('Enter');
  await terminal.sees('waits for the next turn');
  // Esc takes the message back, too; the next Esc stops the turn.
  terminal.press('Escape');
  await terminal.sees('1 message taken back');
  terminal.press('Enter');
  await terminal.sees('waits for the next turn');
  terminal.press('C-t', 'Down', 'C-x');
  await terminal.sees('That was read.');
  const asked = JSON.stringify(world.model.requests.map(({ messages }) => messages));
  expect(asked).toContain('a first thought taken back and sent');
  expect(asked).not.toContain('"a first thought"');
  terminal.press('C-c', 'C-c');
  await terminal.sees('exit 0');
});

inTerminal('esc leaves a child, then stops the turn, then the tree', async () => {
  await using world = await openWorld({ script });
  using terminal = new TmuxTerminal(world.sandbox, [], {
    env: world.model.env('anthropic'),
    size: SIZE,
  });
  await terminal.sees('/help');
  terminal.type('start 2 that last');
  terminal.press('Enter');
  await terminal.sees('2 × Explore: 2 at work');
  terminal.press('C-t', 'Enter');
  const opened = await terminal.sees(/← Explore \w+: part 0/);
  expect(opened).toContain('plan · anthropic/');
  terminal.press('Escape');
  await terminal.sees('2 × Explore: 2 at work');
  terminal.press('Escape');
  await terminal.sees('2 × Explore: 2 stopped');
  // Now nothing is at work: Esc twice opens /undo.
  await terminal.sees('shift+tab mode');
  terminal.press('Escape');
  await terminal.sees('esc again: undo (/undo)');
  terminal.press('Escape');
  await terminal.sees('Go back to before a message');
  terminal.press('Escape');
  await terminal.sees('shift+tab mode');
  terminal.press('C-c', 'C-c');
  await terminal.sees('exit 0');
});

inTerminal('twelve equal calls are one block, and all of them can be reached', async () => {
  await using world = await openWorld({ script });
  using terminal = new TmuxTerminal(world.sandbox, [], {
    env: world.model.env('anthropic'),
    size: SIZE,
  });
  await terminal.sees('/help');
  terminal.type('start 12 that last');
  terminal.press('Enter');
  await terminal.sees('12 × Explore: 12 at work');
  terminal.press('C-t');
  await terminal.sees(/… 1 to \d+ of 13/);
  for (let step = 0; step < 12; step += 1) terminal.press('Down');
  const last = await terminal.sees(/▶ {2}● Explore \w+ part 11 ·/);
  expect(last).toMatch(/… \d+ to 13 of 13/);
  terminal.press('C-x');
  await terminal.sees('12 × Explore: 1 stopped, 11 at work');
  terminal.press('C-c', 'C-c');
  await terminal.sees('exit 0');
});

inTerminal('a fan-out is estimated from the tasks of an earlier conversation', async () => {
  await using world = await openWorld({ script });
  const env = world.model.env('anthropic');
  using terminal = new TmuxTerminal(world.sandbox, [], { env, size: SIZE });
  await terminal.sees('/help');
  terminal.type('start 8 that end');
  terminal.press('Enter');
  await terminal.sees('8 × Explore: 8 done');
  await terminal.sees('All have ended.');
  expect(terminal.screen()).not.toContain('your last');
  terminal.type('/new');
  terminal.press('Enter');
  await terminal.sees('shift+tab mode');
  terminal.type('start 9 that end');
  terminal.press('Enter');
  await terminal.sees(/9 × Explore, (about|less than) \$[\d.–]+ \(your last 8 with/);
  terminal.press('C-c', 'C-c');
  await terminal.sees('exit 0');
});

inTerminal('a task in the background looks like a start, and its end has a line', async () => {
  await using world = await openWorld({ script });
  using terminal = new TmuxTerminal(world.sandbox, [], {
    env: world.model.env('anthropic'),
    size: SIZE,
  });
  await terminal.sees('/help');
  terminal.type('start one in the background');
  terminal.press('Enter');
  await terminal.sees(/Task Explore: part 0 .*the background, \w{6}/);
  await terminal.sees(/✓ Explore: part 0 completed in the background/);
  await terminal.sees('shift+tab mode');
  terminal.press('C-c');
  await terminal.sees('ctrl+c again leaves');
  // The second press counts only for a short time, and a paste changes nothing about that.
  terminal.paste('a pasted text');
  expect(await terminal.sees('a pasted text')).toContain('ctrl+c again');
  await terminal.sees('shift+tab mode');
  terminal.press('C-c');
  await terminal.sees('ctrl+c again leaves');
  terminal.press('C-c');
  await terminal.sees('exit 0');
});
