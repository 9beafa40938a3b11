import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Answer, RecordedRequest } from '../../src/testing/index.ts';
import type { TmuxTerminal } from '../e2e/tmux.ts';
import { openWorld } from '../e2e/world.ts';
import { waitUntilPasses } from '../wait-until-passes.ts';
import { configure, inTerminal, leave, openTerminal, run, send, typedText } from './story.ts';

const MARKDOWN = `# First

## Second

### Third

- one
  - nested one
    1. deeper
- two

\`\`\`ts
function f() {
    const text = "${'a long line of code '.repeat(6)}";
}
\`\`\`

| name | count |
|------|------:|
| a | 1 |
| b | 20 |

Fish &amp; chips &copy; 2026`;

function script(request: RecordedRequest): Answer {
  const said = typedText(request);
  if (said.includes('think')) return { thinking: 'I think about it deeply.', text: 'Thought.' };
  return { text: said.includes('markdown') ? MARKDOWN : 'Answered.' };
}

inTerminal('the status line gives way on a narrow screen, and known hints disappear', async () => {
  await using world = await openWorld({ script });
  using terminal = await openTerminal(world);
  await send(terminal, 'Hello');
  await terminal.sees('Answered.');
  await terminal.sees(
    /^workspace · claude-sonnet-5 · \d+ % · \$0\S* · \[default\] +\/help · shift\+tab mode$/m,
  );
  // With more room, the provider and the size of the context window are named.
  terminal.resize(120, 24);
  await terminal.sees(
    /^workspace · anthropic\/claude-sonnet-5 · \d+ % of 1M · \$0\S* · \[default\]/m,
  );
  terminal.resize(50, 24);
  await terminal.sees(/^claude-sonnet-5 · \d+ % · \$0\S* · \[default\]/m);
  terminal.resize(40, 24);
  await terminal.sees(/^\d+ % · \$0\S* · \[default\]/m);
  terminal.resize(80, 24);
  await terminal.sees('shift+tab mode');
  // Eight presses lead through all four modes twice.
  for (let press = 0; press < 8; press += 1) terminal.press('BTab');
  await terminal.sees(/\[default\] +\/help$/m);
  await leave(terminal);
  expect(readdirSync(world.sandbox.data)).toContain('hints.json');
  using again = await openTerminal(world);
  expect(await again.sees(/\[default\] +\/help$/m)).not.toContain('shift+tab mode');
});

inTerminal('a conversation is exported and copied', async () => {
  await using world = await openWorld({ script });
  using terminal = await openTerminal(world, { env: { KITTY_WINDOW_ID: '1' } });
  const written = join(world.sandbox.root, 'written');
  terminal.record(written);
  await send(terminal, 'Hello');
  await terminal.sees('Answered.');
  await terminal.sees('shift+tab mode');
  await send(terminal, '/export talk.html');
  await terminal.sees('the conversation is in');
  const page = readFileSync(join(world.sandbox.workspace, 'talk.html'), 'utf8');
  expect(page).toMatch(/^<!doctype html>/i);
  expect(page).toContain('Answered.');
  expect(page).not.toContain('<script');
  await run(terminal, '/copy');
  const copied = Buffer.from('Answered.').toString('base64');
  await waitUntilPasses(() =>
    expect(readFileSync(written, 'utf8')).toContain(`\u001b]52;c;${copied}`),
  );
});

/** The escape sequences of the accent color of the mode, by theme. */
const ACCENTS = { light: '\u001b[34m', dark: '\u001b[36m' } as const;

function paintsMode(terminal: TmuxTerminal, accent: string): Promise<void> {
  // oxlint-disable-next-line no-control-regex -- the color is an escape sequence
  const colors = /((?:\u001b\[[\d;]*m)+)\[default\]/;
  return waitUntilPasses(() => expect(colors.exec(terminal.painted())?.[1]).toContain(accent));
}

inTerminal.each([
  ['reported as white', { background: '#ffffff' }, ACCENTS.light],
  ['reported as black', { background: '#101010' }, ACCENTS.dark],
  ['not reported', {}, ACCENTS.dark],
  ['named as white by a variable', { env: { COLORFGBG: '0;15' } }, ACCENTS.light],
] as const)('the theme follows a background that is %s', async (_, options, accent) => {
  await using world = await openWorld({ script });
  using terminal = await openTerminal(world, options);
  await paintsMode(terminal, accent);
});

inTerminal('a theme is set by hand, whatever the background, and kept', async () => {
  await using world = await openWorld({ script });
  {
    using terminal = await openTerminal(world, { background: '#ffffff' });
    await paintsMode(terminal, ACCENTS.light);
    await send(terminal, '/theme dark');
    await terminal.sees('theme: dark; /config terminal.theme dark keeps it');
    await paintsMode(terminal, ACCENTS.dark);
    await send(terminal, '/config terminal.theme dark');
    await terminal.sees(/terminal\.theme/);
    await leave(terminal);
  }
  using again = await openTerminal(world, { background: '#ffffff' });
  await again.sees('[default]');
  await paintsMode(again, ACCENTS.dark);
});

inTerminal('thinking is shown and hidden', async () => {
  await using world = await openWorld({ script });
  configure(world, '[terminal]\nthinking = "full"\n');
  using terminal = await openTerminal(world);
  await send(terminal, 'think');
  expect(await terminal.sees('Thought.')).toContain('I think about it deeply.');
  await send(terminal, '/thinking hidden');
  await terminal.sees('thinking: hidden; /config terminal.thinking hidden keeps it');
  expect(terminal.screen()).not.toContain('deeply');
  await send(terminal, '/thinking full');
  await terminal.sees('I think about it deeply.');
});

inTerminal('an answer is drawn as markdown', async () => {
  await using world = await openWorld({ script });
  using terminal = await openTerminal(world);
  await send(terminal, 'markdown');
  await terminal.sees('Fish & chips © 2026');
  const end = await terminal.sees(/\[default\] +\/help/);
  expect(end).toMatch(/^Third\n\n- one\n {2}- nested one\n {4}1\. deeper\n- two$/m);
  // The rest of a long line of code is indented further than the line.
  expect(end).toMatch(/^ {6}const text = "a long line.*\n {8}code a long line.*";\n {2}\}$/m);
  expect(end).toMatch(/^name │ count\n─────┼──────\na {4}│ {5}1\nb {4}│ {4}20$/m);
  terminal.press('PageUp');
  const top = await terminal.sees(/^═════$/m);
  expect(top).toMatch(/^First\n═════\n\nSecond\n──────\n\nThird$/m);
});

inTerminal('a long paste is one mark, and an armed quit expires', async () => {
  await using world = await openWorld({ script });
  using terminal = await openTerminal(world);
  terminal.paste(Array.from({ length: 82 }, (_, index) => `pasted ${index}`).join('\n'));
  await terminal.sees('[paste #1: 82 lines]');
  terminal.press('C-c');
  await terminal.sees('ctrl+c again leaves');
  await waitUntilPasses(() => expect(terminal.screen()).not.toContain('ctrl+c again leaves'));
  // A second press after that only asks again.
  terminal.press('C-c');
  await terminal.sees('ctrl+c again leaves');
  expect(terminal.screen()).not.toContain('exit 0');
});
