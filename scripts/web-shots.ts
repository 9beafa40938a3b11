/**
 * The page of `muster web` as pictures: `npm run web:shots [-- --out DIR]`. Each view in light and dark colors, on a
 * desktop and on a phone. `npm run web:shots -- --docs` makes the pictures of the docs again. It needs a build and
 * Chromium.
 */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { openBrowser, openWatchedPage } from '../test/web/world/browser.ts';
import { fixtureData, START } from '../test/web/world/fixture-run.ts';
import { FixtureServer } from '../test/web/world/fixture-server.ts';

interface WebScene {
  readonly name: string;
  readonly hash: string;
  /** The text whose appearance says that the view is complete. */
  readonly shows: string;
  readonly act?: (page: Page) => Promise<void>;
}

const SCENES: readonly WebScene[] = [
  { name: 'tasks', hash: '#/tasks', shows: 'Paint the cage' },
  { name: 'transcript', hash: '#/tasks/wheel1', shows: 'Ended: completed' },
  { name: 'question', hash: '#/tasks/seed05', shows: 'Yes, once' },
  { name: 'timeline', hash: '#/tasks/wheel1/timeline', shows: 'waits for a person' },
  { name: 'usage', hash: '#/tasks/wheel1/usage', shows: 'By model' },
  { name: 'changes', hash: '#/tasks/wheel1/changes', shows: '2 files changed' },
  { name: 'questions', hash: '#/questions', shows: 'Yes, once' },
  { name: 'compare', hash: '#/compare/wheel1/cage01', shows: 'Totals' },
  {
    name: 'start',
    hash: '#/tasks/wheel1',
    shows: 'Start a task',
    act: (page) => page.click('text=New task'),
  },
  { name: 'keys', hash: '#/tasks', shows: 'In the tree', act: (page) => page.keyboard.press('?') },
];

const SIZES = {
  desktop: { width: 1280, height: 800 },
  phone: { width: 390, height: 844 },
} as const;

const DOCS: readonly (readonly [
  scene: string,
  size: keyof typeof SIZES,
  scheme: 'light' | 'dark',
])[] = [
  ['transcript', 'desktop', 'light'],
  ['timeline', 'desktop', 'dark'],
  ['question', 'phone', 'light'],
];

async function shoot(
  browser: Browser,
  scene: WebScene,
  to: {
    readonly size: keyof typeof SIZES;
    readonly scheme: 'light' | 'dark';
    readonly path: string;
  },
): Promise<void> {
  await using server = new FixtureServer(fixtureData());
  const url = await server.listen();
  const { page, context } = await openWatchedPage(browser, {
    url: `${url}${scene.hash}`,
    scheme: to.scheme,
    size: SIZES[to.size],
    now: START + 95_000,
  });
  await page.waitForSelector('[data-connection=open]');
  await scene.act?.(page);
  await page.getByText(scene.shows).filter({ visible: true }).first().waitFor();
  await page.waitForTimeout(300);
  if (to.path.endsWith('.webp')) {
    const session = await context.newCDPSession(page);
    const options = { format: 'webp', quality: 80 } as const;
    const { data } = await session.send('Page.captureScreenshot', options);
    writeFileSync(to.path, Buffer.from(data, 'base64'));
  } else {
    await page.screenshot({ path: to.path });
  }
  await context.close();
}

const { values } = parseArgs({
  options: { out: { type: 'string' }, docs: { type: 'boolean', default: false } },
});
const browser = await openBrowser();
if (values.docs) {
  const images = join(import.meta.dirname, '../docs/images');
  for (const [name, size, scheme] of DOCS) {
    const scene = SCENES.find((each) => each.name === name);
    if (scene === undefined) throw new Error(`there is no scene ${name}`);
    await shoot(browser, scene, { size, scheme, path: join(images, `web-${name}.webp`) });
  }
} else {
  const out = values.out ?? mkdtempSync(join(tmpdir(), 'muster-web-shots-'));
  mkdirSync(out, { recursive: true });
  for (const scene of SCENES) {
    for (const size of ['desktop', 'phone'] as const) {
      for (const scheme of ['light', 'dark'] as const) {
        const path = join(out, `${scene.name}-${size}-${scheme}.png`);
        await shoot(browser, scene, { size, scheme, path });
      }
    }
  }
  process.stdout.write(`${out}\n`);
}
await browser.close();
