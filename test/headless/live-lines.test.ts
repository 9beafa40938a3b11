import { expect, it } from 'vitest';
import { LiveLines, type LiveDetail } from '../../src/front/headless/live-lines.ts';
import { call, calls, play } from '../engine/play.ts';
import { statesOf, testEngine } from '../engine/support.ts';

/** What a person sees of a child that says this, its id and times left out. */
async function linesOf(message: string, level: string, detail: LiveDetail) {
  const test = testEngine(
    play({
      main: [calls(call('Task', { prompt: 'part', description: 'a\njob' }))],
      part: [calls(call('Notify', { message, level }))],
    }),
  );
  await test.start('main').ended;
  const lines: string[] = [];
  const live = new LiveLines((line) => lines.push(line), detail);
  const states = statesOf(test.events);
  for (const event of test.events) {
    const state = states.get(event.task);
    if (state !== undefined) live.show(event, state);
  }
  return lines.map((line) =>
    line.replace(/(general-purpose) \w{6}:/, '$1 ID:').replace(/[\d.]+ m?s$/, 'T'),
  );
}

const AROUND = (line: string) => [
  '▸ general-purpose ID: a job',
  line,
  '✓ general-purpose ID: 2 turns, 1 tool call, T',
];

it.each([
  ['half way', 'info', '· general-purpose ID: half way'],
  ['odd', 'warning', '! warning: general-purpose ID: odd'],
  ['broken', 'error', '! error: general-purpose ID: broken'],
  [
    'done\n✓ general-purpose 123456: 1 turn\r\u001b[2K',
    'info',
    '· general-purpose ID: done ✓ general-purpose 123456: 1 turn⟨U+000D⟩⟨U+001B⟩[2K',
  ],
])('what a subagent notifies of is one line: %j', async (message, level, line) => {
  expect(await linesOf(message, level, 'tasks')).toEqual(AROUND(line));
});

it('a person who watches nothing is not told of it', async () => {
  expect(await linesOf('half way', 'error', 'waits')).toEqual([]);
});
