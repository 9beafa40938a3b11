/**
 * The terminal UI as pictures: `npm run tui:shots [-- --out DIR] [SCENE…]`. Each scene of the tests, at each
 * size as text, and at 80 × 24 as SVG on dark and light. Without `--out`, a temporary directory.
 * `npm run tui:shots -- --docs` draws the pictures of the docs again.
 */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SCREEN_SCENES, SIZES, type Scene } from '../test/front/tui/scenes.ts';
import { shotOf, type Background } from '../test/front/tui/shot.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { out: { type: 'string' }, docs: { type: 'boolean', default: false } },
});
const names = SCREEN_SCENES.map(({ name }) => name);
const unknown = positionals.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`no scene ${unknown.join(', ')}; there are ${names.join(', ')}\n`);
  process.exitCode = 2;
} else if (values.docs) {
  for (const scene of SCREEN_SCENES) {
    const picture = join(import.meta.dirname, '../docs/images', `terminal-${scene.name}.svg`);
    writeFileSync(picture, (await shotOf(scene)).svg);
  }
} else {
  const out = values.out ?? mkdtempSync(join(tmpdir(), 'muster-shots-'));
  mkdirSync(out, { recursive: true });
  const wanted = SCREEN_SCENES.filter(
    ({ name }) => positionals.length === 0 || positionals.includes(name),
  );
  for (const scene of wanted) await write(scene, out);
  process.stdout.write(`${out}\n`);
}

async function write(scene: Scene, out: string): Promise<void> {
  for (const [columns, rows] of SIZES) {
    const { text } = await shotOf(scene, { columns, rows });
    writeFileSync(join(out, `${scene.name}-${columns}x${rows}.txt`), `${text}\n`);
  }
  for (const background of ['dark', 'light'] as const satisfies readonly Background[]) {
    const { svg } = await shotOf(scene, { background });
    writeFileSync(join(out, `${scene.name}-${background}.svg`), svg);
  }
}
