import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toolResultRounds, type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { needs } from '../needs.ts';
import { finishedSoon } from './ending.ts';
import { findMarked } from './processes.ts';
import {
  clean,
  countIn,
  delegate,
  delegating,
  family,
  isPart,
  kill,
  startAtWork,
  statuses,
  tasks,
} from './tasks.ts';
import { TmuxTerminal } from './tmux.ts';
import { bash, openWorld } from './world.ts';

const inTerminal = it.runIf(needs('tmux', 'tmux'));
const WAITING = bash('until [ -e go ]; do sleep 0.05; done');
const inBackground = { run_in_background: true };

/** Two children in the background that wait for a file. */
const twoChildren = delegating(
  [delegate('part 1', inBackground), delegate('part 2', inBackground)],
  (request) =>
    toolResultRounds(request) === 0 ? { toolCalls: [WAITING] } : { text: 'the child is done' },
);

describe('muster tasks watch ID on a terminal', () => {
  inTerminal(
    'shows the tree of another process, steers it, and is killed without harm',
    async () => {
      await using world = await openWorld({ script: twoChildren });
      const { sandbox, model } = world;
      const running = await startAtWork(world, { commands: 2 });
      const { root, children } = await family(world);
      const mark = `WATCHER=${sandbox.root}`;
      using terminal = new TmuxTerminal(sandbox, ['tasks', 'watch', root.slice(0, 8)], {
        env: { ...model.env('anthropic'), WATCHER: sandbox.root },
      });
      const seen = await terminal.sees(/part 2 ·.*Bash/);
      expect(seen).toContain('> go');
      expect(seen).toMatch(/● main .*waiting for/);
      expect(seen).toMatch(/● general-purpose \w{6} bg part 1 · Bash/);
      expect(seen).toContain('watching');
      terminal.press('C-t', 'Enter');
      await terminal.sees(`← general-purpose ${children[0]?.slice(0, 6)}: part 1`);
      terminal.type('look into the other file');
      terminal.press('Enter');
      await terminal.sees(/^> look into the other file/m);
      const [pid, ...more] = findMarked(mark);
      expect(more).toEqual([]);
      process.kill(pid ?? 0, 'SIGKILL');
      await terminal.sees('exit 137');
      sandbox.write('go', '');
      const { code, stdout } = await finishedSoon(running.finished);
      expect([code, stdout]).toEqual([0, 'the root is done\n']);
      expect(await statuses(world)).toEqual(['completed', 'completed', 'completed']);
      const told = model.requests.filter((request) => countIn(request, 'look into the other file'));
      expect(told.length).toBe(1);
    },
  );

  inTerminal('stays over the end, and leaves with Ctrl+C pressed twice', async () => {
    await using world = await openWorld({ script: twoChildren });
    const { sandbox, model } = world;
    const running = await startAtWork(world, { commands: 2 });
    const { root } = await family(world);
    const env = model.env('anthropic');
    using terminal = new TmuxTerminal(sandbox, ['tasks', 'watch', root], { env });
    await terminal.sees(/part 2 ·.*Bash/);
    using other = new TmuxTerminal(sandbox, ['tasks', 'watch', root], { env });
    await other.sees(/part 2 ·.*Bash/);
    other.press('C-c', 'C-c');
    await other.sees('exit 0');
    sandbox.write('go', '');
    await finishedSoon(running.finished);
    await terminal.sees('the root is done');
    await terminal.sees('watching · /help');
    terminal.type('and more');
    terminal.press('Enter');
    await terminal.sees('not sent: “and more”');
    await terminal.sees(/muster --resume/);
    terminal.press('C-c', 'C-c');
    await terminal.sees('exit 0');
    expect(await statuses(world)).toEqual(['completed', 'completed', 'completed']);
  });

  inTerminal(
    'tells of a process that is gone, whose conversation then stands as it was left',
    async () => {
      await using world = await openWorld({ script: twoChildren });
      const { sandbox, model } = world;
      const running = await startAtWork(world, { commands: 2 });
      const { root } = await family(world);
      const env = model.env('anthropic');
      using terminal = new TmuxTerminal(sandbox, ['tasks', 'watch', root], { env });
      await terminal.sees(/part 2 ·.*Bash/);
      await kill(running);
      terminal.press('C-t');
      await terminal.sees(/! general-purpose \w{6} bg part 2 · interrupted/);
      terminal.press('C-c', 'C-c');
      await terminal.sees('exit 0');
      using again = new TmuxTerminal(sandbox, ['--resume', root], { env });
      await again.sees('/help');
      again.press('C-t');
      await again.sees(/! main interrupted/);
      await again.sees(/! general-purpose \w{6} bg part 1 · interrupted/);
      again.press('C-c', 'C-c');
      await again.sees('exit 0');
    },
  );

  inTerminal('shows a question of another terminal, and answers it there', async () => {
    const script = delegating([delegate('part 1')], (request) =>
      toolResultRounds(request) === 0
        ? { toolCalls: [bash('touch made')] }
        : { text: 'the child is done' },
    );
    await using world = await openWorld({ script });
    const { sandbox, model } = world;
    const env = model.env('anthropic');
    using owner = new TmuxTerminal(sandbox, [], { env });
    await owner.sees('/help');
    owner.type('go');
    owner.press('Enter');
    await owner.sees('asks to run Bash');
    const { root } = await family(world);
    using watcher = new TmuxTerminal(sandbox, ['tasks', 'watch', root], { env });
    const seen = await watcher.sees('asks to run Bash');
    expect(picture(seen)).toEqual(picture(owner.screen()));
    watcher.press('Tab');
    await watcher.sees('y once');
    watcher.press('y');
    await watcher.sees('the root is done');
    await owner.sees('the root is done');
    expect(existsSync(join(sandbox.workspace, 'made'))).toBe(true);
    // What the one who works says next is followed, too.
    owner.type('go once more');
    owner.press('Enter');
    await watcher.sees('> go once more');
    watcher.press('C-c', 'C-c');
    await watcher.sees('exit 0');
    owner.press('C-c', 'C-c');
    await owner.sees('exit 0');
  });
});

/** What is seen from the first message down to the keys of now, without times. */
function picture(screen: string): readonly string[] {
  const lines = screen.trimEnd().split('\n');
  const first = lines.indexOf('> go');
  expect(first).toBeGreaterThan(0);
  return lines.slice(first, -1).map((line) => line.replaceAll(/ *\d+ m?s\b| *\d+s\b/g, ' TIME'));
}

/** A child that says another thing when it goes on; the main agent says what it heard. */
function goingOn(request: RecordedRequest): Answer {
  if (isPart(request)) {
    return { text: countIn(request, 'Go on with the task.') > 0 ? 'and it went on' : 'found it' };
  }
  if (toolResultRounds(request) === 0) return { toolCalls: [delegate('part 1')] };
  return { text: countIn(request, 'and it went on') > 0 ? 'I heard of it.' : 'the root is done' };
}

inTerminal(
  'an ended child of a resumed conversation goes on by a key, and its result is told',
  async () => {
    await using world = await openWorld({ script: goingOn });
    const { sandbox, model } = world;
    await world.run(['-p', 'go']);
    const { root } = await family(world);
    using terminal = new TmuxTerminal(sandbox, ['--continue'], { env: model.env('anthropic') });
    await terminal.sees('the root is done');
    terminal.press('C-t');
    await terminal.sees(/✓ general-purpose \w{6} part 1 · completed/);
    terminal.press('Down', 'r');
    await terminal.sees('I heard of it.');
    // The editor has the keys again, because no child is at work any more.
    terminal.type('/resume');
    await terminal.sees('→ /resume');
    terminal.press('Enter');
    await terminal.sees(/Resume a conversation +1 of 1 · this directory/);
    await terminal.sees(/▶ ✓ .* this one/);
    terminal.press('Escape');
    await terminal.sees('/help');
    terminal.press('C-c', 'C-c');
    await terminal.sees('exit 0');
    expect(await statuses(world)).toEqual(['completed', 'completed']);
    expect(clean(await tasks(world, 'rerun', root))).toMatch(/main: \d+ events, identical$/m);
  },
);
