import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PLAIN, themeFor } from '../../../src/front/tui/view/theme.ts';
import { KEYS } from './emulator.ts';
import { SCREEN_SCENES, SIZES, streaming, streamOn } from './scenes.ts';
import { shotOf } from './shot.ts';
import { Stage } from './stage.ts';
import { useVirtualTime } from './virtual-time.ts';

useVirtualTime();

describe.each(SIZES)('on %i × %i', (columns, rows) => {
  it.for(SCREEN_SCENES)('$name', async (scene, { expect: expectHere }) => {
    const { text } = await shotOf(scene, { columns, rows });
    expectHere(text).toMatchSnapshot();
  });
});

describe('on a light background', () => {
  it.for(SCREEN_SCENES.flatMap((scene) => SIZES.map((size) => ({ scene, size }))))(
    '$scene.name reads the same on $size',
    async ({ scene, size: [columns, rows] }, { expect: expectHere }) => {
      const light = await shotOf(scene, { columns, rows, background: 'light' });
      expectHere(light.text).toBe((await shotOf(scene, { columns, rows })).text);
    },
  );
});

describe('without color', () => {
  it.for(SCREEN_SCENES.flatMap((scene) => SIZES.map((size) => ({ scene, size }))))(
    '$scene.name reads the same on $size',
    async ({ scene, size: [columns, rows] }, { expect: expectHere }) => {
      const plain = await shotOf(scene, { columns, rows, theme: PLAIN });
      expectHere(plain.text).toBe((await shotOf(scene, { columns, rows })).text);
      expectHere(plain.paint.replaceAll(/\d+: \d+\+1 #/g, '').trim()).toBe('');
    },
  );
});

describe('in color', () => {
  it.for(SCREEN_SCENES)('$name', async (scene, { expect: expectHere }) => {
    const [dark, light] = [await shotOf(scene), await shotOf(scene, { background: 'light' })];
    expectHere(dark.paint).toMatchSnapshot('dark');
    expectHere(light.paint).toMatchSnapshot('light');
    expectHere(light.text).toBe(dark.text);
  });
});

it('has colors unless they are refused', async () => {
  await using stage = new Stage();
  await stage.screen();
  expect(stage.emulator.isPainted).toBe(true);
  expect(themeFor({ NO_COLOR: '1' })).toBe(PLAIN);
});

it.each([
  [
    [200, 50],
    [40, 12],
  ],
  [
    [40, 12],
    [300, 80],
  ],
] as const)(
  'is drawn for the new size when %j becomes %j while an answer streams',
  async (before, after) => {
    await using stage = new Stage({ columns: before[0], rows: before[1] });
    await streaming.play(stage);
    await stage.screen();
    stage.emulator.resize(after[0], after[1]);
    streamOn(stage);
    const streamed = {
      ...streaming,
      play: async (other: Stage) => {
        await streaming.play(other);
        streamOn(other);
      },
    };
    const [columns, rows] = after;
    expect(await stage.screen()).toBe((await shotOf(streamed, { columns, rows })).text);
    stage.emulator.resize(before[0], before[1]);
    const back = await shotOf(streamed, { columns: before[0], rows: before[1] });
    expect(await stage.screen()).toBe(back.text);
  },
);

it.each(SCREEN_SCENES)('the pages show the current screen: $name', async (scene) => {
  const { svg } = await shotOf(scene);
  const picture = join(import.meta.dirname, '../../../docs/images', `terminal-${scene.name}.svg`);
  await expect(svg).toMatchFileSnapshot(picture);
});

it.each([
  [30, 8],
  [20, 6],
  [9, 5],
  [3, 3],
  [1, 1],
])('can be drawn on %i × %i', async (columns, rows) => {
  for (const scene of SCREEN_SCENES) {
    await using stage = new Stage({ columns, rows });
    await scene.play(stage);
    await stage.emulator.press(KEYS.ctrlO, KEYS.pageUp, KEYS.tab);
    expect((await stage.emulator.screen()).split('\n').length).toBe(rows);
  }
});

it('keeps wide and combining characters in their columns', async () => {
  await using stage = new Stage({ columns: 40, rows: 14 });
  await stage.say('日本語のテキストを四十桁の端末に折り返して表示する');
  stage.begin('child1xx', { description: '広い文字 e\u0301te\u0301 👩‍👩‍👧', parent: 'mainmain' });
  expect(await stage.screen()).toMatchSnapshot();
});
