import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { bash, openWorld } from '../e2e/world.ts';
import { waitUntilPasses } from '../wait-until-passes.ts';
import { answer, configure, inTerminal, openTerminal, roundsOf, send, typedText } from './story.ts';

/** Asks for a command, works for long, or fails several times at first. */
function script(request: RecordedRequest): Answer {
  const said = typedText(request);
  if (said.includes('ask') && roundsOf(request) === 0) return { toolCalls: [bash('touch made')] };
  if (said.includes('work long')) return { delayMs: 10_500, text: 'It took long.' };
  if (said.includes('overloaded') && request.attempt < 3) {
    return { fault: { kind: 'status', status: 529, retryAfterSeconds: 2 } };
  }
  return { text: 'Answered.' };
}

const OSC = { bell: '\u0007', osc9: '\u001b]9;', osc99: '\u001b]99;', osc777: '\u001b]777;' };

/** Removes the sequences that end with a bell. */
function withoutSequences(output: string): string {
  // oxlint-disable-next-line no-control-regex -- these are the sequences to remove
  return output.replaceAll(/\u001b\][^\u0007\u001b]*\u0007/g, '');
}

inTerminal.each([
  ['bell', {}, OSC.bell],
  ['bell', { KITTY_WINDOW_ID: '1' }, OSC.bell],
  ['notify', { KITTY_WINDOW_ID: '1' }, OSC.osc99],
  ['notify', { TERM_PROGRAM: 'iTerm.app' }, OSC.osc9],
  ['desktop', { TERM_PROGRAM: 'WezTerm' }, OSC.osc777],
  ['notify', {}, OSC.bell],
  ['off', { KITTY_WINDOW_ID: '1' }, null],
] as const)('a question calls the user: %s in %j', async (notify, env, sequence) => {
  await using world = await openWorld({ script });
  configure(world, `[terminal]\nnotify = "${notify}"\ntitle = false\n`);
  using terminal = await openTerminal(world, { env });
  const written = join(world.sandbox.root, 'written');
  terminal.record(written);
  await send(terminal, 'ask');
  await terminal.sees('asks to run Bash');
  await answer(terminal, 'y');
  await terminal.sees('Answered.');
  const output = readFileSync(written, 'utf8');
  const found = Object.entries(OSC).filter(([name, start]) =>
    name === 'bell' ? withoutSequences(output).includes(start) : output.includes(start),
  );
  expect(found.map(([, start]) => start)).toEqual(sequence === null ? [] : [sequence]);
});

inTerminal('nothing calls the user while the terminal has the focus', async () => {
  await using world = await openWorld({ script });
  using terminal = await openTerminal(world);
  const written = join(world.sandbox.root, 'written');
  terminal.record(written);
  const hasRung = (): boolean => withoutSequences(readFileSync(written, 'utf8')).includes(OSC.bell);
  terminal.report('\u001b[I');
  await send(terminal, 'ask');
  await terminal.sees('asks to run Bash');
  await answer(terminal, 'y');
  await terminal.sees('Answered.');
  await send(terminal, 'work long');
  await terminal.sees('It took long.');
  await terminal.sees(/worked for 1\d s/);
  expect(hasRung()).toBe(false);
  // The user looks at something else.
  terminal.report('\u001b[O');
  await send(terminal, 'ask again');
  await terminal.sees(/ask again[^]*asks to run Bash/);
  await waitUntilPasses(() => expect(hasRung()).toBe(true));
});

inTerminal('the end of long work rings, and says how long it took', async () => {
  await using world = await openWorld({ script });
  using terminal = await openTerminal(world);
  const written = join(world.sandbox.root, 'written');
  terminal.record(written);
  await send(terminal, 'work long');
  await terminal.sees('> work long');
  expect(terminal.title()).toMatch(/^● .*: work long$/);
  await terminal.sees('It took long.');
  await terminal.sees(/· worked for 1\d s · [\d.k]+ tok · \$0/);
  expect(terminal.title()).toMatch(/^✓ .*: work long$/);
  expect(withoutSequences(readFileSync(written, 'utf8'))).toContain(OSC.bell);
});

inTerminal('a repeated request has one line, which counts', async () => {
  await using world = await openWorld({ script });
  using terminal = await openTerminal(world);
  await send(terminal, 'overloaded');
  await terminal.sees(/! [^]*: try 2 of \d+ in\s+\d s/);
  await terminal.sees(/! [^]*: try 3 of \d+ in\s+\d s/);
  expect(terminal.screen().match(/: try \d/g)).toHaveLength(1);
  await terminal.sees('Answered.');
});
