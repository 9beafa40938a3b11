import { describe, expect, it } from 'vitest';
import { unknownModel } from '../../../src/protocol/listed-model.ts';
import { KEYS } from './emulator.ts';
import { Stage, type StageOptions } from './stage.ts';
import { useVirtualTime } from './virtual-time.ts';

useVirtualTime();

const CTRL_R = '\u0012';
const PAGE_DOWN = '\u001b[6~';

const TYPED = [
  'Explain the cache',
  'Where is the retry limit decided, and who reads it? Look at src/retry.ts first.',
  'Fix the failing test\nin test/limits.test.ts',
  'Now run the tests',
];

async function history(options: StageOptions = {}): Promise<Stage> {
  const stage = new Stage({ typed: TYPED, ...options });
  stage.typedElsewhere = ['Bring the notes up to date'];
  await stage.emulator.press(CTRL_R);
  return stage;
}

describe('the history', () => {
  it.each([
    [40, 12],
    [80, 24],
    [120, 30],
  ] as const)('at %d × %d', async (columns, rows) => {
    await using stage = await history({ columns, rows });
    await stage.emulator.type('te');
    expect(await stage.screen()).toMatchSnapshot();
  });

  it('shows the messages of other directories, too', async () => {
    await using stage = await history();
    expect(await stage.screen()).toContain('1 of 4 · this directory');
    await stage.emulator.press('\t');
    const screen = await stage.screen();
    expect(screen).toContain('1 of 5 · all directories');
    expect(screen).toContain('Bring the notes up to date');
  });

  it('puts the full message into the editor', async () => {
    await using stage = await history();
    await stage.emulator.type('fix');
    await stage.emulator.press(KEYS.enter);
    expect(await stage.screen()).toMatch(/^Fix the failing test *\nin test\/limits\.test\.ts/m);
  });

  it('draws hostile texts as plain text', async () => {
    const hostile = '\u001b]0;title\u0007\u001b[31mred \u202Etxet\u0000 \u001b[2J end';
    await using stage = await history({ typed: [hostile, `${'x'.repeat(5_000)} long`] });
    await stage.emulator.type('e');
    const screen = await stage.screen();
    expect(screen.split('\n')).toHaveLength(24);
    expect(screen).toContain('end');
    expect(screen).not.toContain('\u202E');
    expect(stage.emulator.titles).toEqual([]);
    expect(stage.emulator.written).not.toContain('\u001b[2J end');
  });
});

describe('the models', () => {
  const MODELS = Array.from({ length: 60 }, (_, index) => ({
    ...unknownModel(`model-${index}`),
    contextWindow: 200_000,
    price: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
    efforts: index === 0 ? ['low', 'high'] : null,
  }));

  it('are listed with window, price and effort, and paged', async () => {
    await using stage = new Stage({ columns: 90 });
    stage.modelLists = [{ provider: 'mine', models: MODELS, isComplete: true, problem: null }];
    await stage.say('/model');
    expect(await stage.screen()).toMatch(/▶ mine\/model-0 +200k +\$3\/15 +low high/);
    await stage.emulator.press(PAGE_DOWN, PAGE_DOWN);
    expect(await stage.screen()).toContain('▶ mine/model-22');
    await stage.emulator.type('59');
    await stage.emulator.press(KEYS.enter);
    expect(await stage.screen()).toContain('mine/model-59 from the next message on');
  });

  it('say which provider did not answer', async () => {
    await using stage = new Stage();
    stage.modelLists = [{ provider: 'mine', models: [], isComplete: false, problem: 'timed out' }];
    await stage.say('/model');
    expect(await stage.screen()).toContain('mine: timed out');
  });
});

it('completions are found by letters in their order, and paged', async () => {
  await using stage = new Stage();
  stage.files = Array.from({ length: 40 }, (_, index) => `src/file-${10 + index}.ts`);
  await stage.emulator.type('@sf');
  expect(await stage.screen()).toContain('(1/40)');
  await stage.emulator.press(PAGE_DOWN, PAGE_DOWN);
  expect(await stage.screen()).toContain('(11/40)');
});

it('a task is opened from its list', async () => {
  await using stage = new Stage();
  await stage.say('Look');
  stage.begin('child1xx', { parent: 'mainmain', description: 'look around' });
  stage.answer('child1xx', 'Found it.');
  await stage.say('/tasks');
  await stage.emulator.type('around');
  expect(await stage.screen()).toMatch(/▶ +● Explore: look around +child1xx/);
  await stage.emulator.press(KEYS.enter);
  expect(await stage.screen()).toContain('← Explore child1: look around');
});
