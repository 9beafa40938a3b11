import {
  DARK_PALETTE,
  LIGHT_PALETTE,
  terminalSvg,
  type Cell,
} from '../../../scripts/terminal-svg.ts';
import { themeFor, type Theme } from '../../../src/front/tui/view/theme.ts';
import type { Scene } from './scenes.ts';
import { Stage } from './stage.ts';

export type Background = 'dark' | 'light';

export interface ShotOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly background?: Background;
  readonly theme?: Theme;
}

/** What a scene leaves on the screen. */
export interface Shot {
  readonly text: string;
  readonly svg: string;
  readonly paint: string;
}

/** Plays a scene on an emulated terminal: by default of 80 × 24, dark. */
export async function shotOf(
  scene: Scene,
  { columns = 80, rows = 24, background = 'dark', theme }: ShotOptions = {},
): Promise<Shot> {
  const colours = background === 'dark' ? themeFor({}) : themeFor({ COLORFGBG: '0;15' });
  await using stage = new Stage({ columns, rows, theme: theme ?? colours });
  await scene.play(stage);
  await stage.screen();
  // What the first code on the screen has asked for is there now, and drawn a moment later.
  await import('highlight.js/lib/common');
  const text = await stage.screen();
  const cells = stage.emulator.cells();
  const palette = background === 'dark' ? DARK_PALETTE : LIGHT_PALETTE;
  return {
    text,
    svg: terminalSvg(cells, { palette, title: `Muster: ${scene.name}` }),
    paint: paintOf(cells),
  };
}

const COLOURS = 'krgybmcwKRGYBMCW';

/**
 * Which cells have which colour, a line each, as `column+columns look`: the letter of a colour (`r`, `g`, `y`,
 * `b`, `m`, `c`), `*` bold, `-` dim, `#` reversed. Lines without any are left out.
 */
function paintOf(cells: readonly (readonly Cell[])[]): string {
  return cells
    .flatMap((row, index) => {
      const runs = paintedRuns(row).map(({ from, to, look }) => `${from}+${to - from} ${look}`);
      return runs.length === 0 ? [] : [`${index}: ${runs.join(', ')}`];
    })
    .join('\n');
}

function paintedRuns(row: readonly Cell[]) {
  const runs: { from: number; to: number; look: string }[] = [];
  for (const [column, cell] of row.entries()) {
    const look = lookOf(cell);
    const last = runs.at(-1);
    if (look === '') continue;
    if (last?.look === look && last.to === column) last.to = column + 1;
    else runs.push({ from: column, to: column + 1, look });
  }
  return runs;
}

function lookOf({ foreground, background, isBold, isDim, isInverse }: Cell): string {
  return [
    isBold ? '*' : '',
    isDim ? '-' : '',
    isInverse ? '#' : '',
    foreground === null ? '' : COLOURS[foreground],
    background === null ? '' : `/${COLOURS[background]}`,
  ].join('');
}
