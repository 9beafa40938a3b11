import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, vi } from 'vitest';
import type { Cell } from '../../scripts/terminal-svg.ts';
import type { TmuxTerminal } from '../e2e/tmux.ts';
import { openWorld } from '../e2e/world.ts';
import { Emulator } from '../front/tui/emulator.ts';
import {
  LEAD,
  REAL_SCENES,
  SCENE_CONFIG,
  SCENE_FILES,
  sceneScript,
  type RealScene,
} from './scenes.ts';
import { configure, inTerminal, openTerminal } from './story.ts';

const SIZES = [
  [80, 24],
  [40, 12],
  [120, 40],
  [200, 60],
] as const;

/** Far longer than the program takes to draw itself for a new size. */
const MAX_WAIT_MS = 30_000;

/** The colors that are readable on a background; the numbers are those of the 16 colors of a terminal. */
interface Palette {
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  readonly background?: string;
  readonly foregrounds: readonly number[];
  readonly backgrounds: readonly number[];
}

const [BLACK, RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN] = [0, 1, 2, 3, 4, 5, 6];
const DARK = {
  foregrounds: [RED, GREEN, YELLOW, MAGENTA, CYAN],
  backgrounds: [YELLOW, CYAN],
};
const LIGHT = { foregrounds: [RED, GREEN, BLUE, MAGENTA], backgrounds: [YELLOW, CYAN] };

const PALETTES: readonly Palette[] = [
  { name: 'dark, with 256 colors', env: { TERM: 'screen-256color' }, ...DARK },
  {
    name: 'light, as the terminal reports, with all colors',
    env: { TERM: 'xterm-256color', COLORTERM: 'truecolor' },
    background: '#fdf6e3',
    ...LIGHT,
  },
  {
    name: 'no color, with 16 colors',
    env: { TERM: 'xterm-16color', NO_COLOR: '1' },
    foregrounds: [],
    backgrounds: [],
  },
];

/** Other terminals, in which the scenes with the most colors are tested. */
const MORE_PALETTES: readonly Palette[] = [
  { name: 'dark, with all colors', env: { COLORTERM: 'truecolor' }, ...DARK },
  { name: 'dark, with 16 colors', env: { TERM: 'xterm-16color', COLORFGBG: '15;0' }, ...DARK },
  { name: 'light, with 16 colors', env: { TERM: 'xterm-16color', COLORFGBG: '0;15' }, ...LIGHT },
  { name: 'light, with 256 colors', env: { TERM: 'xterm-256color', COLORFGBG: '0;15' }, ...LIGHT },
];
const COLORED_SCENES = REAL_SCENES.filter(({ name }) =>
  ['end', 'question about an edit', 'work'].includes(name),
);

interface Picture {
  readonly text: string;
  readonly cells: readonly (readonly Cell[])[];
}

/** Reads what the terminal shows, cell by cell. */
async function takePicture(terminal: TmuxTerminal, [columns, rows]: readonly [number, number]) {
  const painted = terminal.painted();
  const emulator = new Emulator(columns, rows);
  emulator.write(painted.trimEnd().replaceAll('\n', '\r\n'));
  return { painted, text: await emulator.screen(), cells: emulator.cells() };
}

/** Opens the program in a palette and plays a scene. */
async function withScene(
  scene: RealScene,
  { env, background }: Pick<Palette, 'env' | 'background'>,
  use: (terminal: TmuxTerminal) => Promise<void>,
): Promise<void> {
  await using world = await openWorld({ script: sceneScript, files: SCENE_FILES });
  configure(world, SCENE_CONFIG);
  const agents = join(world.sandbox.home, '.config/muster/agents');
  mkdirSync(agents);
  writeFileSync(join(agents, 'lead.md'), LEAD);
  const { args = [] } = scene;
  using terminal = await openTerminal(world, {
    args,
    env,
    ...(background === undefined ? {} : { background }),
  });
  await scene.play(terminal);
  await use(terminal);
}

function textsInView(scene: RealScene, columns: number): readonly RegExp[] {
  const { sees, seesOn80, seesOn120 = [] } = scene;
  return [...sees, ...(columns >= 80 ? seesOn80 : []), ...(columns >= 120 ? seesOn120 : [])];
}

/** Expects that no line is longer than the screen, and that the cursor is where the user types. */
function expectInPlace(
  { cells, text }: Picture,
  unbroken: readonly string[],
  { cursor = 'editor' }: RealScene,
): void {
  const lines = text.split('\n');
  expect(unbroken.slice(0, lines.length)).toEqual(lines);
  const cursors = cells.flatMap((row, index) =>
    row.flatMap(({ isInverse }) => (isInverse ? [index] : [])),
  );
  if (cursor === 'none') return expect(cursors).toEqual([]);
  const rules = lines.flatMap((line, index) => (/^─+$/.test(line) ? [index] : []));
  const between = cursor === 'editor' ? rules.slice(-2) : rules.slice(0, 2);
  const [first = -1, last = -1] = between;
  expect(cursors).toHaveLength(1);
  expect(cursors[0]).toBeGreaterThan(first);
  expect(cursors[0]).toBeLessThan(last);
}

/** Expects that all colors are in the palette, and that only black is written on a colored background. */
function expectReadable(
  { painted, cells }: Picture & { readonly painted: string },
  palette: Palette,
) {
  // Colors beyond the 16 of the terminal, which the user cannot adjust.
  // oxlint-disable-next-line no-control-regex -- the sequences of colors begin with it
  expect(painted).not.toMatch(/\u001B\[[\d;]*[34]8[;:][25]/);
  const looks = [
    { foreground: null, background: null },
    ...palette.foregrounds.map((foreground) => ({ foreground, background: null })),
    ...palette.backgrounds.map((background) => ({ foreground: BLACK, background })),
  ];
  const allowed = new Set(looks.map((look) => JSON.stringify(look)));
  const found = cells
    .flat()
    .map(({ foreground, background }) => JSON.stringify({ foreground, background }));
  expect([...new Set(found)].filter((look) => !allowed.has(look))).toEqual([]);
  if (palette.foregrounds.length > 0) return;
  expect(cells.flat().filter(({ isBold, isDim }) => isBold || isDim)).toEqual([]);
}

describe.each([
  ...PALETTES.map((palette) => ({ palette, scenes: REAL_SCENES })),
  ...MORE_PALETTES.map((palette) => ({ palette, scenes: COLORED_SCENES })),
])('$palette.name', ({ palette, scenes }) => {
  inTerminal.each(scenes)('$name', async (scene) => {
    await withScene(scene, palette, async (terminal) => {
      for (const size of SIZES) {
        const [columns, rows] = size;
        terminal.resize(columns, rows);
        const check = async (): Promise<void> => {
          const picture = await takePicture(terminal, size);
          for (const text of textsInView(scene, columns)) {
            expect(picture.text, `on ${columns} × ${rows}`).toMatch(text);
          }
          expectInPlace(picture, terminal.unbrokenLines(), scene);
          expectReadable(picture, palette);
        };
        // The old picture stays until the program has drawn itself for the new size.
        await vi.waitFor(check, { timeout: MAX_WAIT_MS, interval: 50 });
      }
    });
  });
});
