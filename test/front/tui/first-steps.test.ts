import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Question } from '../../../src/protocol/question.ts';
import { KEYS } from './emulator.ts';
import { Stage } from './stage.ts';
import { useVirtualTime } from './virtual-time.ts';

useVirtualTime();

const CTRL_S = '\u0013';
const CTRL_U = '\u0015';
const CTRL_W = '\u0017';

/** Waits until the screen shows a text. */
async function shows(stage: Stage, text: string): Promise<string> {
  for (;;) {
    const screen = await stage.screen();
    if (screen.includes(text)) return screen;
    await sleep(20);
  }
}

/** Returns the offered completions in their order. */
function offered(screen: string): readonly string[] {
  const lines = screen.split('\n');
  const border = lines.findLastIndex((line) => line.startsWith('────'));
  return lines.slice(border + 1, -1).map((line) => line.slice(2).split('  ')[0] ?? '');
}

describe('a mention that is typed', () => {
  it('offers an agent before files only if its name starts with the text', async () => {
    await using stage = new Stage();
    stage.files = ['src/explore.ts', 'src/code.ts'];
    // The name of the agent does not start with these letters.
    await stage.emulator.type('@ore');
    expect(offered(await shows(stage, '→ src/explore.ts'))).toEqual(['src/explore.ts', '@Explore']);
    await stage.emulator.press(KEYS.ctrlC);
    await stage.emulator.type('@exp');
    expect(offered(await shows(stage, '→ @Explore'))).toEqual(['@Explore', 'src/explore.ts']);
  });

  it('is sent with the first Enter if it is complete', async () => {
    await using stage = new Stage();
    stage.files = ['src/main.ts', 'src/other.ts'];
    await stage.emulator.type('look at @src/main.t');
    await shows(stage, '→ src/main.ts');
    await stage.say('s');
    expect(stage.asked.enclosed.map(({ words }) => words)).toEqual(['look at @src/main.ts']);
  });
});

it.each([
  ['a line', '/the', CTRL_U],
  ['a word', 'See @src/ma', CTRL_W],
])('completions close with a key that deletes %s', async (_, typed, key) => {
  await using stage = new Stage();
  stage.files = ['src/main.ts'];
  await stage.emulator.type(typed);
  await shows(stage, '→ ');
  await stage.emulator.press(key);
  expect(await stage.screen()).not.toContain('→ ');
  await stage.emulator.type('Hello');
  expect(await stage.screen()).toContain('Hello');
});

it('a command runs with the first Enter if its argument is complete', async () => {
  await using stage = new Stage();
  await stage.emulator.type('/theme ligh');
  await shows(stage, '→ light');
  await stage.say('t');
  expect(await stage.screen()).toContain('theme: light');
});

it('the cursor is behind a message that is recalled, and ↑ goes on to earlier ones', async () => {
  await using stage = new Stage({ typed: ['the first', 'the second'] });
  await stage.emulator.press(KEYS.up);
  await stage.emulator.type('!');
  expect(await stage.screen()).toMatch(/^the second!$/m);
  await stage.emulator.press(KEYS.ctrlC, KEYS.up, KEYS.up);
  await stage.emulator.type('!');
  expect(await stage.screen()).toMatch(/^the first!$/m);
});

async function worked(): Promise<Stage> {
  const stage = new Stage();
  await stage.say('go');
  return stage;
}

it('the keys beside a count of hidden lines open the text of that entry', async () => {
  await using stage = await worked();
  const lines = Array.from({ length: 12 }, (_, index) => `line ${index + 1}`);
  stage.call('mainmain', 'b', 'Bash', { command: 'seq 12' });
  stage.result('mainmain', 'b', 'Bash', lines.join('\n'));
  stage.answer('mainmain', 'There are twelve.');
  stage.end('mainmain');
  await stage.emulator.press(CTRL_S, 'v');
  expect(await shows(stage, 'esc closes')).toContain('line 1\nline 2\n');
});

it('a remark at the end of an output is not cut', async () => {
  await using stage = await worked();
  const remark = `[the sandbox has no network: ${'only this can be reached, '.repeat(3)}see docs]`;
  stage.call('mainmain', 'b', 'Bash', { command: 'npm install' });
  stage.write('mainmain', {
    type: 'call.ended',
    callId: 'b',
    tool: 'Bash',
    text: `${'npm error '.repeat(20)}\n${remark}`,
    error: null,
    facts: { commands: [{ command: 'npm install', exitCode: 1 }] },
    ms: 12,
  });
  const screen = await shows(stage, 'npm install');
  expect(screen).toMatch(/^ {2}(?:npm error )+.*…$/m);
  expect(screen.replaceAll(/\n {2}/g, ' ')).toContain(remark);
});

const INPUT: Question = {
  id: 'mainmainq1',
  task: 'mainmain',
  callId: 'a',
  kind: 'input',
  chain: ['main'],
  tool: 'AskUser',
  text: 'Which rounding?',
  options: ['half up', 'half to even'],
};

async function asked(question: Question): Promise<Stage> {
  const stage = await worked();
  stage.call('mainmain', 'a', 'AskUser', { question: 'Which rounding?' });
  stage.write('mainmain', { type: 'question.asked', question, digest: '0', parks: false });
  return stage;
}

describe('a question of the model', () => {
  it('is answered by the text that is typed and sent while it is shown', async () => {
    await using stage = await asked(INPUT);
    await shows(stage, 'Which rounding?');
    await stage.emulator.type('always down');
    expect(await stage.screen()).toMatch(/^└ your answer, below: enter sends it$/m);
    await stage.emulator.press(KEYS.enter);
    expect(stage.asked.answers).toEqual([{ question: 'mainmainq1', text: 'always down' }]);
    expect(stage.asked.sent).toEqual([]);
    expect(await stage.screen()).not.toContain('always down');
  });

  it('is not answered by a message that was begun before it, nor by a command', async () => {
    await using stage = await worked();
    await stage.emulator.type('and th');
    await stage.screen();
    stage.write('mainmain', {
      type: 'question.asked',
      question: INPUT,
      digest: '0',
      parks: false,
    });
    await shows(stage, 'Which rounding?');
    await stage.say('en stop');
    await stage.say('/usage');
    expect(stage.asked.answers).toEqual([]);
    expect(stage.asked.sent).toEqual([['mainmain', 'and then stop']]);
  });

  it('says which keys answer if Enter is pressed alone', async () => {
    await using stage = await asked(INPUT);
    await shows(stage, 'Which rounding?');
    await stage.emulator.press(KEYS.enter);
    expect(await stage.screen()).toContain('type your answer, or ↓ chooses one');
    expect(stage.asked.answers).toEqual([]);
  });
});

describe('the arrow keys in a question of the model', () => {
  const ANSWERED = [{ question: 'mainmainq1', text: '2' }];

  it('mark an answer without the focus, and Enter gives it', async () => {
    await using stage = await asked(INPUT);
    await shows(stage, '└ ↑ ↓ or 1–2 choose · t type an answer · tab to focus');
    stage.pass(1_000);
    await stage.emulator.press(KEYS.down);
    await shows(stage, '│ ▶ 1  half up');
    await stage.emulator.press(KEYS.down, KEYS.down, KEYS.up);
    await shows(stage, '│ ▶ 2  half to even');
    expect(await stage.screen()).toContain('enter gives the marked answer');
    await stage.emulator.press(KEYS.enter);
    expect(stage.asked.answers).toEqual(ANSWERED);
  });

  it('do nothing before the user can have read the question', async () => {
    await using stage = await asked(INPUT);
    await shows(stage, 'Which rounding?');
    await stage.emulator.press(KEYS.down, KEYS.enter);
    expect(await stage.screen()).not.toContain('▶');
    expect(stage.asked.answers).toEqual([]);
  });

  it('leave digits and typed answers as they are', async () => {
    await using stage = await asked(INPUT);
    await shows(stage, 'Which rounding?');
    stage.pass(1_000);
    await stage.emulator.press(KEYS.down);
    await stage.emulator.type('none');
    expect(await stage.screen()).not.toContain('▶');
    await stage.emulator.press(KEYS.enter);
    expect(stage.asked.answers).toEqual([{ question: 'mainmainq1', text: 'none' }]);
  });

  it('do the same while it has the focus, and scroll long answers into view', async () => {
    const options = ['short', `${'long '.repeat(400)}end of two`, 'last'];
    await using stage = await asked({ ...INPUT, options });
    await shows(stage, 'Which rounding?');
    await stage.emulator.press(KEYS.tab, KEYS.down);
    expect(await stage.screen()).toContain('▶ 2  long');
    await stage.emulator.press(KEYS.down);
    expect(await stage.screen()).toContain('▶ 3  last');
    await stage.emulator.press(KEYS.up);
    stage.pass(1_000);
    await stage.emulator.press(KEYS.enter);
    expect(stage.asked.answers).toEqual(ANSWERED);
  });

  it('go through earlier messages if the model offers no answers', async () => {
    await using stage = await asked({ ...INPUT, options: [] });
    await shows(stage, '└ t type an answer');
    stage.pass(1_000);
    await stage.emulator.press(KEYS.up);
    expect(await stage.screen()).toMatch(/your answer, below|first send or clear/);
    expect(stage.asked.answers).toEqual([]);
  });
});

describe('a question about a call', () => {
  it('is answered by Enter only if it is pressed twice, each time after a pause', async () => {
    await using stage = await worked();
    stage.call('mainmain', 'b', 'Bash', { command: 'npm test' });
    stage.question('mainmain', 'b');
    await shows(stage, 'y once');
    // The user may have pressed it before the question came into view.
    await stage.emulator.press(KEYS.enter);
    await shows(stage, 'y allows it once, n refuses it');
    stage.pass(1_000);
    await stage.emulator.press(KEYS.enter);
    await shows(stage, '└ ▶ y once · n no');
    await shows(stage, 'enter again allows it once, n refuses it');
    await stage.emulator.press(KEYS.enter);
    expect(stage.asked.answers).toEqual([]);
    // Another key takes it back, and a message is typed as always.
    stage.pass(1_000);
    await stage.emulator.type('wait');
    expect(await stage.screen()).not.toContain('▶ y once');
    await stage.emulator.press(KEYS.ctrlC);
    stage.pass(1_000);
    await stage.emulator.press(KEYS.enter);
    stage.pass(6_000);
    await stage.emulator.press(KEYS.enter);
    expect(stage.asked.answers).toEqual([]);
    stage.pass(1_000);
    await stage.emulator.press(KEYS.enter);
    expect(stage.asked.answers).toEqual([{ question: 'mainmainq1', text: 'yes' }]);
  });

  it('gets the answer that was chosen with the arrows when it has the focus', async () => {
    await using stage = await worked();
    stage.call('mainmain', 'b', 'Bash', { command: 'npm test' });
    stage.question('mainmain', 'b');
    await shows(stage, 'y once');
    await stage.emulator.press(KEYS.tab, KEYS.enter);
    await shows(stage, 'read what is shown now, then press the key again');
    await stage.emulator.press('\u001b[C');
    await shows(stage, '└ y once · ▶ n no · r no, with a reason · esc later');
    stage.pass(1_000);
    await stage.emulator.press(KEYS.enter);
    expect(stage.asked.answers).toEqual([{ question: 'mainmainq1', text: 'no' }]);
  });

  it('says what is typed while the reason of a refusal is', async () => {
    await using stage = await worked();
    stage.call('mainmain', 'b', 'Bash', { command: 'npm test' });
    stage.question('mainmain', 'b');
    await shows(stage, 'y once');
    await stage.emulator.press(KEYS.tab, 'r');
    expect(await stage.screen()).toContain('└ your reason, below: enter sends it · esc back');
    await stage.emulator.press(KEYS.escape);
    await stage.emulator.type('wait');
    expect(await stage.screen()).toContain('└ to answer, first send or clear what you have typed');
  });
});
