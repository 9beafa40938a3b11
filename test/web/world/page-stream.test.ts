import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EventBody } from '../../../src/protocol/events/event.ts';
import { openBrowser, openWatchedPage, type WatchedPage } from './browser.ts';
import { fixtureData, FixtureLog } from './fixture-run.ts';
import { FixtureServer } from './fixture-server.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
});

const NOTES = 300;

/** A log whose notes are numbered. */
function numberedLog(): FixtureLog {
  const log = new FixtureLog('wheel1').begin('count');
  for (let at = 0; at < NOTES; at += 1) {
    log.add({ type: 'notified', level: 'info', message: `note ${at}` } as EventBody, 1);
  }
  return log;
}

/** Reads the notes that the page shows, from the beginning to the end of the transcript. */
async function readNotes(page: Page): Promise<readonly string[]> {
  return await page.evaluate(async () => {
    const list = document.querySelector('.entries');
    const seen = new Map<number, string>();
    if (list === null) return [];
    for (let top = 0; ; top += 120) {
      list.scrollTop = top;
      // oxlint-disable-next-line no-loop-func -- one wait at a time
      await new Promise((resolve) => {
        setTimeout(resolve, 30);
      });
      for (const item of list.querySelectorAll('.item')) {
        const text = item.querySelector('.note-text')?.textContent;
        if (text !== undefined && text !== null)
          seen.set(Number(item.getAttribute('data-index')), text);
      }
      if (top > list.scrollHeight) break;
    }
    return [...seen].toSorted(([a], [b]) => a - b).map(([, text]) => text);
  });
}

const ALL_NOTES = Array.from({ length: NOTES }, (_, at) => `note ${at}`);

describe('a connection that is cut', () => {
  it('continues a log after its last event, without a gap and without repetition', async () => {
    const { events } = numberedLog();
    const data = fixtureData();
    data.events.set('wheel1', events.slice(0, 100));
    await using server = new FixtureServer(data);
    // Each connection ends after a few events, in the middle of what is sent.
    let untilCut = 17;
    server.onLogEvent = () => {
      untilCut -= 1;
      if (untilCut > 0) return true;
      untilCut = 23;
      return false;
    };
    const url = await server.listen();
    const { page, context, problems } = await openWatchedPage(browser, {
      url: `${url}#/tasks/wheel1`,
    });
    const transcript = page.locator('.transcript');
    await expect.poll(() => transcript.getAttribute('data-seq'), { timeout: 60_000 }).toBe('99');
    for (let at = 100; at < events.length; at += 40) {
      server.append('wheel1', events.slice(at, at + 40));
      if (at === 180) server.cut();
    }
    await expect.poll(() => transcript.getAttribute('data-seq'), { timeout: 60_000 }).toBe('300');
    server.onLogEvent = () => true;
    expect(await readNotes(page)).toEqual(ALL_NOTES);
    expect(problems).toEqual([]);
    await context.close();
  });

  it('is not opened again for events that the server cannot read, which are counted', async () => {
    const { events } = numberedLog();
    const data = fixtureData();
    const readable = events.filter(({ event }) => ![5, 20, 21].includes(event.seq));
    data.events.set('wheel1', readable.slice(0, 10));
    await using server = new FixtureServer(data);
    const url = await server.listen();
    const { page, context } = await openWatchedPage(browser, { url: `${url}#/tasks/wheel1` });
    const transcript = page.locator('.transcript');
    await page.waitForSelector('.transcript[data-state=live]');
    server.append('wheel1', readable.slice(10));
    await expect.poll(() => transcript.getAttribute('data-seq')).toBe('300');
    const isReadable = (_: string, at: number) => ![4, 19, 20].includes(at);
    const missing = (await readNotes(page)).filter((note) => note.includes('cannot be read'));
    expect(missing).toEqual([
      '1 event of the log cannot be read',
      '2 events of the log cannot be read',
    ]);
    expect((await readNotes(page)).filter((note) => note.startsWith('note'))).toEqual(
      ALL_NOTES.filter(isReadable),
    );
    expect(server.paths.filter((path) => path === '/api/tasks/wheel1/events')).toHaveLength(1);
    await context.close();
  });

  it('of a log is given up while the page is hidden, and continues afterwards', async () => {
    const { events } = numberedLog();
    const data = fixtureData();
    data.events.set('wheel1', events.slice(0, 20));
    await using server = new FixtureServer(data);
    const url = await server.listen();
    const { page, context } = await openWatchedPage(browser, { url: `${url}#/tasks/wheel1` });
    const hide = async (hidden: boolean): Promise<void> => {
      await page.evaluate((value) => {
        Object.defineProperty(document, 'hidden', { value, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }, hidden);
    };
    const transcript = page.locator('.transcript');
    await expect.poll(() => transcript.getAttribute('data-seq')).toBe('19');
    await hide(true);
    await expect.poll(() => server.followers).toBe(0);
    server.append('wheel1', events.slice(20));
    await hide(false);
    await expect.poll(() => transcript.getAttribute('data-seq')).toBe('300');
    expect(await readNotes(page)).toEqual(ALL_NOTES);
    await context.close();
  });

  it('shows that it is cut, and catches up on the changes when the server is back', async () => {
    await using server = new FixtureServer(fixtureData());
    const url = await server.listen();
    const { page, context } = await openWatchedPage(browser, { url });
    await page.waitForSelector('[data-connection=open]');
    server.isDown = true;
    server.cut();
    await page.waitForSelector('[data-connection=broken]');
    const [row] = server.data.overview.tasks;
    server.change('rows', [{ ...row!, title: 'Renamed while nobody listened' }]);
    server.isDown = false;
    await page.getByText('Renamed while nobody listened').waitFor();
    await page.waitForSelector('[data-connection=open]');
    await context.close();
  });

  it('loads everything again when the server is another one', async () => {
    await using server = new FixtureServer(fixtureData());
    const url = await server.listen();
    const { page, context } = await openWatchedPage(browser, { url });
    await page.waitForSelector('[data-connection=open]');
    const [row] = server.data.overview.tasks;
    server.data.overview = { ...server.data.overview, tasks: [{ ...row!, title: 'The only one' }] };
    server.change('reset', { reason: 'another run' });
    await page.getByText('The only one').waitFor();
    await expect.poll(() => page.locator('[role=treeitem]').count()).toBe(1);
    await context.close();
  });
});

describe('a server that cannot be reached when everything must be loaded again', () => {
  /** Opens a page, and makes it load everything again from a server that is down. */
  async function openAndLose(server: FixtureServer): Promise<WatchedPage> {
    const url = await server.listen();
    const watched = await openWatchedPage(browser, { url });
    await watched.page.waitForSelector('[data-connection=open]');
    server.isDown = true;
    server.change('reset', { reason: 'too old' });
    await watched.page.waitForSelector('[data-connection=broken]');
    return watched;
  }

  it('is asked again until it is back', async () => {
    await using server = new FixtureServer(fixtureData());
    const { page, context } = await openAndLose(server);
    const asked = () => server.paths.filter((path) => path === '/api/overview').length;
    await expect.poll(asked).toBeGreaterThan(3);
    const [row] = server.data.overview.tasks;
    server.data.overview = { ...server.data.overview, tasks: [{ ...row!, title: 'The only one' }] };
    server.isDown = false;
    await page.getByText('The only one').waitFor();
    await page.waitForSelector('[data-connection=open]');
    await context.close();
  });

  it.each([401, 403] as const)('says why it does not let the page in, with %i', async (status) => {
    await using server = new FixtureServer(fixtureData());
    const { page, context } = await openAndLose(server);
    server.lockedOut = { status, message: 'open the address that muster web has printed' };
    server.isDown = false;
    await page.waitForSelector('[data-connection=refused]');
    const shown = page.locator('[data-connection=refused]');
    expect(await shown.textContent()).toBe('open the address that muster web has printed');
    await context.close();
  });
});

describe('a question that several pages show', () => {
  it('is answered by the first one, and the other one is told', async () => {
    await using server = new FixtureServer(fixtureData());
    const url = await server.listen();
    const [one, two] = await Promise.all([
      openWatchedPage(browser, { url: `${url}#/questions`, login: server.loginUrl }),
      openWatchedPage(browser, { url: `${url}#/questions`, login: server.loginUrl }),
    ]);
    for (const { page } of [one, two]) await page.getByText('Yes, once').waitFor();
    await one.page.getByText('Yes, once').click();
    await one.page.getByText('done: answer').waitFor();
    const body = server.sent[0]?.body as { readonly client: string };
    server.nextRefusal = { status: 409, message: 'question seed05q1 is answered already: yes' };
    await two.page.getByRole('button', { name: 'No', exact: true }).click();
    await two.page.getByText('question seed05q1 is answered already: yes').waitFor();
    server.change('closed', {
      id: 'seed05q1',
      task: 'seed05',
      outcome: 'answered: yes',
      client: body.client,
    });
    for (const [{ page }, where] of [
      [one, 'answered: yes, here'],
      [two, 'answered: yes, elsewhere'],
    ] as const) {
      await page.getByText(where).waitFor();
      await page.getByText('No question waits for you.').waitFor();
    }
    await one.context.close();
    await two.context.close();
  });

  it('is put off by "not now", and stays answerable', async () => {
    await using server = new FixtureServer(fixtureData());
    const url = await server.listen();
    const { page, context } = await openWatchedPage(browser, {
      url: `${url}#/questions`,
      login: server.loginUrl,
    });
    await page.getByRole('button', { name: 'Not now' }).click();
    await page.getByText('done: answer').waitFor();
    const [asked] = server.data.overview.questions;
    server.change('question', { ...asked!, isPutOff: true });
    await page.getByText('not now').waitFor();
    await expect.poll(() => page.title()).toBe('Muster');
    await page.getByLabel('Where always').selectOption('project');
    await page.getByRole('button', { name: 'Always' }).click();
    await expect
      .poll(() => server.sent.map(({ body }) => body))
      .toMatchObject([{ answer: 'later' }, { answer: 'always', scope: 'project' }]);
    await context.close();
  });

  it('is told by a notification when the page is hidden, only after the button was pressed', async () => {
    await using server = new FixtureServer(fixtureData());
    const url = await server.listen();
    const { page, context } = await openWatchedPage(browser, { url });
    await page.waitForSelector('[data-connection=open]');
    await page.evaluate(() => {
      const shown: string[] = [];
      class FakeNotification extends EventTarget {
        static permission = 'default';
        static requestPermission(): Promise<string> {
          FakeNotification.permission = 'granted';
          return Promise.resolve('granted');
        }
        constructor(title: string, options: NotificationOptions) {
          super();
          shown.push(`${title}: ${options.body}`);
        }
      }
      Object.assign(globalThis, { Notification: FakeNotification, shown });
      Object.defineProperty(document, 'hidden', { value: true, configurable: true });
    });
    const [asked] = server.data.overview.questions;
    const ask = (id: string): void => {
      server.change('question', { ...asked!, question: { ...asked!.question, id } });
    };
    const shown = () => page.evaluate(() => Reflect.get(globalThis, 'shown') as string[]);
    ask('seed05q2');
    await expect.poll(() => page.title()).toBe('(2) Muster');
    expect(await shown()).toEqual([]);
    await page.getByRole('button', { name: 'Notify me' }).click();
    ask('seed05q3');
    await expect
      .poll(shown)
      .toEqual(['Muster: Bash has a question: npm install --save-dev hamster-seeds']);
    await context.close();
  });
});
