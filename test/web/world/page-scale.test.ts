import { createServer } from 'node:http';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TaskRow } from '../../../src/front/web/wire.ts';
import type { EventBody } from '../../../src/protocol/events/event.ts';
import { openBrowser, openWatchedPage } from './browser.ts';
import { fixtureData, FixtureLog, fixtureRow, START } from './fixture-run.ts';
import { FixtureServer, type FixtureData } from './fixture-server.ts';

const TASKS = 10_000;
const TREES = 40;
/** The maximum number of elements with the role of a line that the page holds. */
const MAX_LINES = 300;
/** The most processor time of one task of the page while it is scrolled, in milliseconds. */
const MAX_TASK_MS = 50;

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
});

/** Trees of equal size, of which the newest one is at work. */
function manyTasks(): readonly TaskRow[] {
  return Array.from({ length: TASKS }, (_, at): TaskRow => {
    const tree = Math.floor(at / (TASKS / TREES));
    const place = at % (TASKS / TREES);
    const root = `root${tree}`;
    return fixtureRow({
      id: place === 0 ? root : `task${tree}x${place}`,
      root,
      parent: place === 0 ? null : root,
      depth: place === 0 ? 0 : 1,
      title: `Task ${place} of tree ${tree}: look for the callers of function number ${at}`,
      agent: place === 0 ? 'main' : 'Explore',
      created: START - tree * 100_000 + place,
      status: tree === 0 && place < 20 ? 'running' : 'completed',
    });
  }).toReversed();
}

function manyData(): FixtureData {
  const data = fixtureData();
  return {
    ...data,
    overview: { ...data.overview, tasks: manyTasks(), questions: [] },
  };
}

/** Records the entries of the browser for long tasks, whose times contain what other programs take. */
async function recordLongTasks(page: Page): Promise<() => Promise<readonly number[]>> {
  await page.evaluate(() => {
    const durations: number[] = [];
    Reflect.set(globalThis, 'longTasks', durations);
    const observer = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) durations.push(Math.round(duration));
    });
    observer.observe({ type: 'longtask', buffered: false });
  });
  return () => page.evaluate(() => Reflect.get(globalThis, 'longTasks') as number[]);
}

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** The duration and the processor time in microseconds. */
  readonly dur?: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** Returns the processor time of each task of the page's main thread in a trace, in milliseconds, the longest first. */
function listTaskTimes(trace: Buffer): readonly number[] {
  const { traceEvents } = JSON.parse(trace.toString('utf8')) as {
    readonly traceEvents: readonly TraceEvent[];
  };
  const mainThreads = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  return traceEvents
    .filter(
      ({ name, ph, pid, tid }) =>
        ph === 'X' && name.endsWith('RunTask') && mainThreads.has(`${pid} ${tid}`),
    )
    .map(({ tdur = 0 }) => tdur / 1_000)
    .toSorted((a, b) => b - a);
}

async function measureHeap(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return usedSize;
}

/** Returns the time from the start of the navigation until the first view was there, in milliseconds. */
async function readFirstView(page: Page): Promise<number> {
  await expect.poll(() => page.evaluate(() => Reflect.has(globalThis, 'firstViewMs'))).toBe(true);
  return await page.evaluate(() => Reflect.get(globalThis, 'firstViewMs') as number);
}

it('10,000 tasks are shown with few elements, and scrolled without long pauses', async () => {
  await using server = new FixtureServer(manyData());
  const url = await server.listen();
  const { page, context, problems } = await openWatchedPage(browser, { url });
  const first = await readFirstView(page);
  // All trees are open, so that the list is as long as it can be.
  await page.keyboard.press('e');
  await page.keyboard.press('*');
  await expect
    .poll(() => page.locator('.tree > .virtual').evaluate((each) => each.clientHeight))
    .toBe(TASKS * 54);
  const longTasks = await recordLongTasks(page);
  await browser.startTracing(page, {
    categories: ['toplevel', 'disabled-by-default-devtools.timeline'],
  });
  const counts = await page.evaluate(async () => {
    const tree = document.querySelector('.tree') ?? document.body;
    const seen: number[] = [];
    const nextPicture = () =>
      new Promise((resolve) => {
        requestAnimationFrame(resolve);
      });
    for (let step = 0; step < 300; step += 1) {
      tree.scrollTop += step % 30 === 0 ? 17_000 : 240;
      await nextPicture();
      seen.push(document.querySelectorAll('[role=treeitem]').length);
    }
    return seen;
  });
  const times = listTaskTimes(await browser.stopTracing());
  const pauses = await longTasks();
  const plain = await measurePlainPage(JSON.stringify(server.data.overview));
  console.log(
    [
      `${TASKS} tasks: first line after ${Math.round(first)} ms, a plain page with the same bytes after ${Math.round(plain)} ms`,
      `at most ${Math.max(...counts)} lines in the page`,
      `the longest of ${times.length} tasks while scrolling: ${times
        .slice(0, 5)
        .map((ms) => ms.toFixed(1))
        .join(', ')} ms of processor time`,
      `long tasks on the clock of this machine: ${pauses.length === 0 ? 'none' : `${pauses.join(', ')} ms`}`,
    ].join('\n'),
  );
  expect(Math.max(...counts)).toBeLessThanOrEqual(MAX_LINES);
  expect(await page.locator('*').count()).toBeLessThan(2_000);
  expect(times.length).toBeGreaterThan(300);
  expect(times.filter((ms) => ms > MAX_TASK_MS)).toEqual([]);
  await page.keyboard.press('End');
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-posinset')))
    .toBe(String(TASKS / TREES - 1));
  expect(problems).toEqual([]);
  await context.close();
});

/** Shows the same bytes as text in a page without any script of its own, and returns the time until they are there. */
async function measurePlainPage(text: string): Promise<number> {
  const html = `<!doctype html><meta charset="utf-8"><title>plain</title><pre>${text.replaceAll('<', '&lt;')}</pre><p id="end">end</p>`;
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html);
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const { page, context } = await openWatchedPage(browser, { url: `http://127.0.0.1:${port}/` });
  const time = await readFirstView(page);
  await context.close();
  server.closeAllConnections();
  server.close();
  return time;
}

it('a long run that is replayed ten times as fast leaves the memory as it was', async () => {
  const data = manyData();
  data.events.set('root0', [...new FixtureLog('root0').begin('work').events]);
  await using server = new FixtureServer(data);
  const url = await server.listen();
  const { page, context, problems } = await openWatchedPage(browser, {
    url: `${url}#/tasks/root0`,
  });
  await page.waitForSelector('[data-connection=open]');
  const session = await context.newCDPSession(page);
  const log = new FixtureLog('root0').begin('work');
  const rows = manyTasks().filter(({ root }) => root === 'root0');
  let sent = 1;
  const heaps: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    for (let step = 0; step < 40; step += 1) {
      for (let each = 0; each < 60; each += 1) {
        log.add({
          type: 'notified',
          level: 'info',
          message: `${'note '.repeat(30)}${each}`,
        } as EventBody);
      }
      log.call('Bash', { command: `step ${step}` }, 'output\n'.repeat(100));
      server.append('root0', log.events.slice(sent));
      sent = log.events.length;
      server.change(
        'rows',
        rows
          .slice(0, 50)
          .map((row) => fixtureRow({ ...row, turns: step, tokens: `${round}.${step}k` })),
      );
      await page.waitForTimeout(30);
    }
    await expect
      .poll(() => page.locator('.transcript').getAttribute('data-seq'), { timeout: 60_000 })
      .toBe(String(log.events.length - 1));
    heaps.push(await measureHeap(session));
  }
  console.log(
    `the heap after each third of ${log.events.length} events: ${heaps.map((bytes) => `${(bytes / 1e6).toFixed(1)} MB`).join(', ')}`,
  );
  const [, second = 0, third = 0] = heaps;
  // The transcript keeps a bounded number of entries, which the second third has filled.
  expect(third).toBeLessThan(second * 1.1);
  expect(problems).toEqual([]);
  await context.close();
});
