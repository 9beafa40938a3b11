import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EventLines } from '../../../src/front/html/event-lines.ts';
import { treePage } from '../../../src/front/html/page.ts';
import { bigTree } from '../../report/logs.ts';
import { Chromium, HAS_CHROMIUM } from './chromium.ts';

const place = mkdtempSync(join(tmpdir(), 'muster-page-'));
afterAll(() => rmSync(place, { recursive: true, force: true }));

/** All of it would be asked for, or run, if it were taken for markup. */
const HOSTILE = `</pre></style></script><script>document.title='owned';fetch('http://127.0.0.1:9/a')</script><img src="http://127.0.0.1:9/b" onerror="document.title='owned'"><link rel=stylesheet href=http://127.0.0.1:9/c>`;

function write(name: string, size: { tasks: number; events: number }): string {
  const lines = new EventLines();
  const tree = bigTree(size, HOSTILE, lines.add);
  const file = join(place, name);
  writeFileSync(file, [...treePage(tree, { events: lines, diffs: new Map() })].join(''));
  return pathToFileURL(file).href;
}

const LANES_WIDTH = `document.querySelector('.rows').getBoundingClientRect().width`;

describe.runIf(HAS_CHROMIUM)('the page in Chromium', () => {
  let chromium: Chromium;
  beforeAll(() => void (chromium = new Chromium()));
  afterAll(() => chromium[Symbol.asyncDispose]());

  it.each([
    { tasks: 8, events: 200 },
    { tasks: 1_000, events: 10_000 },
    { tasks: 1, events: 10_000 },
  ])(
    'opens with nothing asked for and nothing wrong: $tasks tasks, $events events',
    async (size) => {
      const url = write(`${size.tasks}-${size.events}.html`, size);
      const page = await chromium.open(url);
      // All that is folded is laid out, too.
      await page.evaluate(
        `document.querySelectorAll('details').forEach((each) => each.open = true)`,
      );
      await page.evaluate(`document.body.offsetHeight`);
      expect([page.requests, page.complaints]).toEqual([[url], []]);
      expect(await page.evaluate('document.scripts.length + document.images.length')).toBe(0);
      expect(await page.evaluate('document.title')).toContain('find the parser');
      expect(await page.evaluate(`document.querySelectorAll('.lanes .row > a').length`)).toBe(
        size.tasks + 1,
      );
      // Laid out by the style that the policy lets act.
      expect(await page.evaluate(`getComputedStyle(document.querySelector('.row')).display`)).toBe(
        'grid',
      );
    },
  );

  it('can be zoomed with the keyboard, and a lane links to its task', async () => {
    const url = write('keys.html', { tasks: 8, events: 200 });
    const page = await chromium.open(url);
    const before = Number(await page.evaluate(LANES_WIDTH));
    await page.evaluate(`document.getElementById('z1').focus()`);
    await page.press('ArrowRight', 39);
    expect(await page.evaluate(`document.getElementById('z2').checked`)).toBe(true);
    expect(Number(await page.evaluate(LANES_WIDTH))).toBeGreaterThan(before * 1.5);
    await page.evaluate(`document.querySelectorAll('.lanes .row > a')[3].click()`);
    await page.evaluate(`new Promise((done) => requestAnimationFrame(() => setTimeout(done)))`);
    expect(await page.evaluate(`document.getElementById('t3').closest('details').open`)).toBe(true);
    expect(page.complaints).toEqual([]);
  });
});
