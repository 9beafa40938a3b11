import { expect, it } from 'vitest';
import { KEYS } from './emulator.ts';
import { Stage } from './stage.ts';
import { useVirtualTime } from './virtual-time.ts';

useVirtualTime();

const STEERS =
  '\u001b[2J\u001b[H\u001b]0;owned\u0007\u001b]52;c;b3duZWQ=\u0007\u009b31m\u0090q\u001b\\\u0008\rover\u0000\u007f\u202eevil\u2066\u001b[?1049l\u001b[6n\u001b_pi:c\u0007';
const TEXTS: Readonly<Record<string, string>> = {
  'sequences of all kinds': `before ${STEERS} after`,
  'a megabyte without a newline': `before ${'x'.repeat(1_000_000)} after`,
  'a megabyte of escape characters': `before ${'\u001b'.repeat(1_000_000)} after`,
  'half sequences': 'before \u001b[',
  tabs: 'before\t\t\tafter',
  'lines that are no lines': 'before\u2028after\u0085after\u000bafter\u000cafter',
  'more combining marks than letters': `before ${`e${'\u0301'.repeat(500)}`.repeat(20)}`,
};

/** What Muster itself writes: cursor, colours, modes of the screen, and pictures in one piece. */
const OWN =
  // oxlint-disable-next-line no-control-regex -- what is looked for
  /\u001b\[(?:\??[\d;]*[a-zA-Z]|>[\d;]*[a-z])|\u001b\]8;;\u001b\\|\u001b\]8;;\u0007|\r\n|\r/g;

it.each(Object.keys(TEXTS))('%s stay text, whatever their source', async (name) => {
  const text = TEXTS[name] ?? '';
  await using stage = new Stage({ columns: 60, rows: 40, notices: [text.slice(0, 300)] });
  await stage.say('Go');
  stage.begin('child1xx', {
    agent: text.slice(0, 100),
    description: text.slice(0, 400),
    parent: 'mainmain',
  });
  stage.answer('child1xx', text, text);
  stage.signal({ type: 'text_delta', task: 'mainmain', text });
  await stage.screen();
  stage.answer('mainmain', text, text);
  stage.call('mainmain', 'b', 'Bash', { command: text });
  stage.result('mainmain', 'b', 'Bash', text, 'NOT_FOUND');
  stage.write('mainmain', { type: 'notified', level: 'error', message: text });
  stage.call('child1xx', 'e', 'Edit', {
    file_path: text.slice(0, 300),
    old_string: text,
    new_string: text,
  });
  stage.question('child1xx', 'e', {
    chain: ['main', text.slice(0, 50)],
    commands: [text.slice(0, 5_000)],
    edits: [
      { path: '/x', before: text.slice(0, 5_000), after: text.slice(0, 5_000), everywhere: true },
    ],
    reason: text.slice(0, 300),
  });
  for (const key of [
    KEYS.ctrlO,
    KEYS.tab,
    KEYS.escape,
    KEYS.pageUp,
    KEYS.ctrlT,
    KEYS.down,
    KEYS.enter,
  ]) {
    await stage.emulator.press(key);
  }
  const screen = await stage.screen();
  expect(screen).toContain('[default]');
  expect(screen).toContain('before');
  expect(stage.emulator.titles).toEqual([]);
  // The question rings once, and the background is asked for once.
  const own = stage.emulator.written.replace('\u001b]11;?\u0007', '').replaceAll(OWN, '');
  const rest = own.replace('\u0007', '');
  // oxlint-disable-next-line no-control-regex -- what is looked for
  expect(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.exec(rest)).toBe(
    null,
  );
});

it('a paste controls nothing', async () => {
  await using stage = new Stage();
  await stage.emulator.press(`\u001b[200~one ${STEERS} two\u001b[201~`);
  const screen = await stage.screen();
  expect(screen).toContain('one');
  expect(screen).toContain('⟨U+202E⟩evil');
  expect(stage.emulator.titles).toEqual([]);
});

it('typed text controls nothing', async () => {
  await using stage = new Stage();
  await stage.emulator.press('a', '\u009b', '3', '1', 'm', '\u0085', 'b');
  expect(await stage.screen()).toMatch(/^a31mb$/m);
});

it('a large paste is one mark in the editor, and complete in the message', async () => {
  await using stage = new Stage();
  const text = Array.from({ length: 200 }, (_, line) => `line ${line}`).join('\n');
  await stage.emulator.press(`\u001b[200~${text}\u001b[201~`);
  expect(await stage.screen()).toContain('[paste #1: 200 lines]');
  await stage.emulator.press(KEYS.enter);
  expect(await stage.screen()).toContain('line 199');
});
