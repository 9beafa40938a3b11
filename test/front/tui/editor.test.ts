import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { KEYS } from './emulator.ts';
import { Stage } from './stage.ts';
import { useVirtualTime } from './virtual-time.ts';

const PASTE = (text: string) => `\u001b[200~${text}\u001b[201~`;

/** Once it is so; the test's own time limit ends what never is. */
async function until(stage: Stage, isSo: (screen: string) => boolean): Promise<string> {
  for (;;) {
    const screen = await stage.screen();
    if (isSo(screen)) return screen;
    await sleep(20);
  }
}

describe('a shell command of the user', () => {
  it('is shown, and its output goes with the next message', async () => {
    await using stage = new Stage({ cwd: tmpdir() });
    await stage.say("!printf 'one\\ntwo\\n'; exit 3");
    const screen = await until(stage, (text) => text.includes('exit code 3'));
    expect(screen).toMatch(/^! printf 'one\\ntwo\\n'; exit 3 +exit code 3, /m);
    expect(screen).toMatch(/^ {2}one\n {2}two$/m);
    expect(stage.asked.enclosed).toEqual([]);
    await stage.say('why?');
    await stage.say('again');
    const output = {
      command: "printf 'one\\ntwo\\n'; exit 3",
      outcome: expect.stringMatching(/^exit code 3, /) as string,
      text: 'one\ntwo\n',
    };
    expect(stage.asked.enclosed).toEqual([
      { words: 'why?', outputs: [output], images: [], to: null },
    ]);
  });

  it('shows its output even after a conversation has ended', async () => {
    await using stage = new Stage({ cwd: tmpdir() });
    await stage.say('go');
    stage.answer('mainmain', 'Done.');
    stage.end('mainmain');
    await stage.say('!echo here');
    const screen = await until(stage, (text) => text.includes('exit code 0'));
    expect(screen).toMatch(/^! echo here +exit code 0, [^\n]*\n {2}here$/m);
  });

  it('is only shown, and not sent, if it starts with two exclamation marks', async () => {
    await using stage = new Stage({ cwd: tmpdir() });
    await stage.say('!!echo here');
    const screen = await until(stage, (text) => text.includes('shown only'));
    expect(screen).toMatch(/^!! echo here +exit code 0, .*· shown only$/m);
    await stage.say('go');
    expect(stage.asked.enclosed).toEqual([]);
  });

  it('shows its output while it runs, ends with Esc, and runs alone', async () => {
    await using stage = new Stage({ cwd: tmpdir() });
    await stage.say('!echo first; sleep 600 & sleep 600');
    await until(stage, (text) => /^ {2}first$/m.test(text));
    await stage.say('!echo second');
    expect(await stage.screen()).toContain('one command at a time');
    await stage.emulator.press(KEYS.escape);
    const screen = await until(stage, (text) => text.includes('stopped by the user'));
    expect(screen).toContain('stopped by the user, ended by SIGTERM');
    expect(stage.asked.interrupted).toEqual([]);
  });

  it('ends with Ctrl+C, which does not leave while it runs', async () => {
    await using stage = new Stage({ cwd: tmpdir() });
    await stage.say('!sleep 600');
    await until(stage, (text) => text.includes('running'));
    await sleep(200);
    await stage.emulator.press(KEYS.ctrlC);
    await until(stage, (text) => text.includes('stopped by the user'));
    expect(stage.hasLeft).toBe(false);
  });

  it('cannot control the terminal by its output', async () => {
    await using stage = new Stage({ cwd: tmpdir() });
    await stage.say(
      "!printf '\\033]0;title\\007\\033[2J\\033]52;c;aGk=\\007\\342\\200\\256evil\\n'",
    );
    const screen = await until(stage, (text) => text.includes('exit code 0'));
    expect(screen).toContain('evil');
    expect(stage.emulator.titles).toEqual([]);
    expect(stage.emulator.written).not.toContain('\u001b]52;');
  });

  it('keeps the screen and the message small even for a million lines of output', async () => {
    await using stage = new Stage({ cwd: tmpdir() });
    await stage.say('!seq 1000000');
    const screen = await until(stage, (text) => text.includes('exit code 0'));
    expect(screen).toMatch(/^ {2}… 999992 lines before: ctrl\+\w v shows all$/m);
    expect(screen).toMatch(/^ {2}1000000$/m);
    await stage.say('go');
    const [output] = stage.asked.enclosed[0]?.outputs ?? [];
    expect(output?.text.length).toBeLessThan(5.5 * 1024 * 1024);
    expect(output?.text).toContain('limit kept_characters');
    expect(output?.text.endsWith('1000000\n')).toBe(true);
  });
});

describe('files', () => {
  useVirtualTime();

  it('are offered after an @, together with agents, by any of their letters', async () => {
    await using stage = new Stage();
    stage.files = ['src/base/text.ts', 'src/front/tui/app.ts', 'my notes.md', 'docs/tasks.md'];
    await stage.emulator.type('look at @app');
    expect(await until(stage, (text) => text.includes('src/front/tui/app.ts'))).not.toContain(
      'docs/tasks.md',
    );
    await stage.emulator.press(KEYS.tab);
    expect(await stage.screen()).toMatch(/^look at @src\/front\/tui\/app\.ts$/m);
    await stage.emulator.type('and @mynot');
    await until(stage, (text) => text.includes('my notes.md'));
    await stage.emulator.press(KEYS.tab);
    expect(await stage.screen()).toContain('and @"my notes.md"');
    await stage.emulator.press(KEYS.enter);
    expect(stage.asked.enclosed).toEqual([
      {
        words: 'look at @src/front/tui/app.ts and @"my notes.md"',
        outputs: [],
        images: [],
        to: null,
      },
    ]);
  });

  it('delay no key, whatever their number', async () => {
    await using stage = new Stage();
    stage.files = Array.from(
      { length: 50_000 },
      (_, at) => `packages/p${at % 90}/src/file-${at}.ts`,
    );
    await stage.emulator.type('@file-49999');
    expect(await until(stage, (text) => text.includes('packages/p'))).toMatch(/^@file-49999$/m);
  });
});

it('arguments of commands are offered', async () => {
  await using stage = new Stage();
  await stage.say('go');
  stage.begin('child1xx', { parent: 'mainmain', description: 'look around' });
  await stage.emulator.type('/task-status c');
  expect(await until(stage, (text) => text.includes('Explore look around'))).toContain('child1xx');
});

describe('a paste', () => {
  useVirtualTime();

  it('is one mark if it is long, and complete in the message and the history', async () => {
    await using stage = new Stage();
    const text = Array.from({ length: 120 }, (_, at) => `line ${at}`).join('\n');
    await stage.emulator.press(PASTE(text));
    expect(await stage.screen()).toContain('[paste #1: 120 lines]');
    await stage.emulator.press(KEYS.enter);
    expect(stage.typed).toEqual([text]);
    expect(stage.store.list()).toHaveLength(1);
    await stage.emulator.press(KEYS.up);
    expect(await stage.screen()).toContain('line 119');
  });

  it.each([
    ['carriage returns', '\r'],
    ['both', '\r\n'],
    ['keys', '\u001b[106;5u'],
  ])('keeps its lines if the terminal sends %s', async (_, end) => {
    await using stage = new Stage();
    await stage.emulator.press(PASTE(['one', 'two', '', 'three'].join(end)));
    expect(await stage.screen()).toMatch(/^one\ntwo\n\nthree$/m);
    await stage.emulator.press(KEYS.enter);
    expect(stage.typed).toEqual(['one\ntwo\n\nthree']);
  });

  it('attaches the image if it is the path of an image', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'muster-image-'));
    try {
      writeFileSync(join(directory, 'a shot.png'), 'image');
      await using stage = new Stage({ cwd: directory });
      await stage.emulator.press(PASTE(`${directory}/a\\ shot.png `));
      const screen = await until(stage, (text) => text.includes('[image #1]'));
      expect(screen).toContain('[image #1]: PNG image, 1 × 1 pixels, 68 bytes');
      await stage.emulator.type('what is it?');
      await stage.emulator.press(KEYS.enter);
      expect(stage.asked.enclosed).toEqual([
        { words: '[image #1] what is it?', outputs: [], images: ['[image #1]'], to: null },
      ]);
      stage.whyNoImage = 'scripted/one accepts no images';
      await stage.emulator.press(PASTE(`'${directory}/a shot.png'`));
      const refused = await until(stage, (text) => text.includes('accepts no images'));
      expect(refused).toContain('a shot.png');
      expect(refused).not.toContain('[image #2]');
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('is text if it is a path that does not exist', async () => {
    await using stage = new Stage({ cwd: tmpdir() });
    await stage.emulator.press(PASTE('/nowhere/a.png'));
    const screen = await until(stage, (text) => text.includes('taken as text'));
    expect(screen).toMatch(/^\/nowhere\/a\.png$/m);
  });
});

it('messages of earlier sessions are in the history', async () => {
  await using stage = new Stage({ typed: ['older', 'newer'] });
  await stage.emulator.press(KEYS.up);
  expect(await stage.screen()).toMatch(/^newer$/m);
  await stage.emulator.press(KEYS.up);
  expect(await stage.screen()).toMatch(/^older$/m);
});
