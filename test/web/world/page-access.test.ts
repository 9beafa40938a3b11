import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser, openWatchedPage, type WatchedPage } from './browser.ts';
import { fixtureData, fixtureQuestion } from './fixture-run.ts';
import { FixtureServer } from './fixture-server.ts';

/** Looks for problems of accessibility. The checker runs in a world of its own, which the page's policy does not reach. */
async function findProblems(page: Page): Promise<readonly string[]> {
  const session = await page.context().newCDPSession(page);
  const { frameTree } = await session.send('Page.getFrameTree');
  const { executionContextId } = await session.send('Page.createIsolatedWorld', {
    frameId: frameTree.frame.id,
  });
  const run = async (expression: string): Promise<unknown> => {
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
      expression,
      contextId: executionContextId,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    return result.value;
  };
  await run(`${axe.source}; 0`);
  const found = await run(
    `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
      .then(({ violations }) => violations.flatMap(({ id, nodes }) =>
        nodes.map(({ target, failureSummary }) => id + ': ' + target.join(' ') + ': ' + failureSummary)))`,
  );
  return found as readonly string[];
}

const VIEWS = [
  ['the tasks', '#/tasks', 'Paint the cage'],
  ['a transcript', '#/tasks/wheel1', 'Ended: completed'],
  ['a question', '#/tasks/seed05', 'Yes, once'],
  ['a timeline', '#/tasks/wheel1/timeline', 'waits for a person'],
  ['the usage', '#/tasks/wheel1/usage', 'By model'],
  ['the changes', '#/tasks/wheel1/changes', '2 files changed'],
  ['a receipt', '#/tasks/wheel1/receipt', 'Files changed'],
  ['the questions', '#/questions', 'Yes, once'],
  ['a comparison', '#/compare/wheel1/cage01', 'Totals'],
] as const;

const DIALOGS = [
  ['the start of a task', 'n', 'It works in'],
  ['the keys', '?', 'In the tree'],
  ['a stop', 's', 'Stop the task?'],
] as const;

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
});

async function open(
  server: FixtureServer,
  hash: string,
  more: {
    readonly scheme?: 'light' | 'dark';
    readonly size?: { width: number; height: number };
  } = {},
): Promise<WatchedPage> {
  const url = server.url;
  const watched = await openWatchedPage(browser, {
    url: `${url}${hash}`,
    login: server.loginUrl,
    ...more,
  });
  await watched.page.waitForSelector('[data-connection=open]');
  return watched;
}

async function listen(): Promise<FixtureServer> {
  const server = new FixtureServer(fixtureData());
  await server.listen();
  return server;
}

const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };

it.each(['light', 'dark'] as const)('axe finds nothing in %s colors', async (scheme) => {
  await using server = await listen();
  const { page, context } = await open(server, '', { scheme });
  const found: Record<string, readonly string[]> = {};
  for (const [name, hash, shows] of VIEWS) {
    await page.goto(`${server.url}${hash}`);
    for (const size of [DESKTOP, PHONE]) {
      await page.setViewportSize(size);
      await page.getByText(shows).filter({ visible: true }).first().waitFor();
      found[`${name}, ${size.width} pixels wide`] = await findProblems(page);
    }
  }
  await page.setViewportSize(DESKTOP);
  await page.goto(`${server.url}#/tasks/wheel1`);
  for (const [name, key, shows] of DIALOGS) {
    await page.keyboard.press(key);
    await page.getByText(shows).first().waitFor();
    found[`the dialog of ${name}`] = await findProblems(page);
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('dialog').count()).toBe(0);
  }
  const names = Object.keys(found);
  expect(names).toHaveLength(VIEWS.length * 2 + DIALOGS.length);
  expect(found).toEqual(Object.fromEntries(names.map((name) => [name, []])));
  await context.close();
});

/** Returns the text of the element that has the focus. */
async function focused(page: Page): Promise<string> {
  return await page.evaluate(() => {
    const element = document.activeElement;
    const task = element?.getAttribute('data-task');
    return task ?? (element?.id || element?.textContent) ?? '';
  });
}

describe('with the keyboard alone', () => {
  it('the tree is walked, and a task is opened and left again', async () => {
    await using server = await listen();
    const { page, context, problems } = await open(server, '');
    await page.keyboard.press('e');
    await expect.poll(() => focused(page)).toBe('wheel1');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => focused(page)).toBe('seed03');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => page.locator('[data-task=seed08]').count()).toBe(0);
    await page.keyboard.press('ArrowRight');
    await page.locator('[data-task=seed08]').waitFor();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => focused(page)).toBe('seed08');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Find the tests of the cage' }).waitFor();
    await expect.poll(() => focused(page)).toBe('task-title');
    await page.keyboard.press('Escape');
    await expect.poll(() => focused(page)).toBe('seed08');
    expect(
      await page.locator('[data-task=seed08]').evaluate((element) => ({
        level: element.ariaLevel,
        size: element.ariaSetSize,
        position: element.ariaPosInSet,
        selected: element.ariaSelected,
      })),
    ).toEqual({ level: '3', size: '1', position: '1', selected: 'true' });
    expect(problems).toEqual([]);
    await context.close();
  });

  it('a task is stopped, sent a message, resumed and sent to the background', async () => {
    await using server = await listen();
    const { page, context } = await open(server, '#/tasks/seed04');
    await page.keyboard.press('s');
    await page.getByText('Stop the task?').waitFor();
    await page.keyboard.type('it is wrong');
    await page.keyboard.press('Enter');
    await page.getByText('done: stop').waitFor();
    await page.keyboard.press('m');
    await expect.poll(() => focused(page)).toBe('message-text');
    await page.keyboard.type('be quick');
    await page.keyboard.press('Enter');
    await page.getByText('done: send').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('b');
    await page.getByText('done: background').waitFor();
    await page.keyboard.press('r');
    await page.getByText('done: resume').waitFor();
    expect(server.sent).toEqual([
      { path: '/api/tasks/seed04/stop', body: { text: 'it is wrong' } },
      { path: '/api/tasks/seed04/send', body: { text: 'be quick' } },
      { path: '/api/tasks/seed04/background', body: {} },
      { path: '/api/tasks/seed04/resume', body: {} },
    ]);
    await context.close();
  });

  it('a task is started', async () => {
    await using server = await listen();
    const { page, context } = await open(server, '');
    await page.keyboard.press('n');
    await page.getByText('It works in').waitFor();
    await page.keyboard.type('Paint the wheel');
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Control+Enter');
    await expect
      .poll(() => server.sent)
      .toEqual([{ path: '/api/start', body: { prompt: 'Paint the wheel', agent: 'Explore' } }]);
    await page.getByRole('heading', { name: 'Let the wheel turn' }).waitFor();
    await context.close();
  });

  it('a question is answered', async () => {
    await using server = await listen();
    const { page, context } = await open(server, '');
    await page.keyboard.press('a');
    await expect.poll(() => focused(page)).toBe('Yes, once');
    await page.keyboard.press('Enter');
    await page.getByText('done: answer').waitFor();
    expect(server.sent).toEqual([
      {
        path: '/api/questions/seed05/seed05q1/answer',
        body: { answer: 'yes', client: expect.stringMatching(/^[0-9a-f-]{36}$/) },
      },
    ]);
    await context.close();
  });

  it('tasks are searched in titles and, by the server, in their texts', async () => {
    await using server = await listen();
    const { page, context } = await open(server, '');
    await page.keyboard.press('/');
    await expect.poll(() => focused(page)).toBe('search');
    await page.keyboard.type('pushed');
    await page.getByText('who has pushed it last').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.type('paint');
    await expect
      .poll(() =>
        page.evaluate(() =>
          Array.from(document.querySelectorAll('.title'), (each) => each.textContent),
        ),
      )
      .toContain('Paint the cage');
    await context.close();
  });

  it('two runs are compared', async () => {
    await using server = await listen();
    const { page, context } = await open(server, '');
    await page.keyboard.press('e');
    await expect.poll(() => focused(page)).toBe('wheel1');
    await page.keyboard.press('x');
    await page.keyboard.press('End');
    await expect.poll(() => focused(page)).toBe('cage02');
    await page.keyboard.press('x');
    await page.getByText('Totals').waitFor();
    expect(new URL(page.url()).hash).toBe('#/compare/wheel1/cage02');
    await context.close();
  });

  it('single keys can be turned off, and then do nothing', async () => {
    await using server = await listen();
    const { page, context } = await open(server, '');
    await page.keyboard.press('?');
    await page.getByLabel('Single keys call actions').uncheck();
    await page.keyboard.press('Escape');
    await page.keyboard.press('n');
    await page.keyboard.press('?');
    await page.waitForTimeout(200);
    expect(await page.locator('dialog').count()).toBe(0);
    await context.close();
  });
});

describe('the key of the page', () => {
  it('is taken from the address, is kept for later visits, and is needed to change something', async () => {
    await using server = await listen();
    const { page, context } = await openWatchedPage(browser, {
      url: `${server.url}#/tasks/seed04`,
    });
    await page.getByRole('button', { name: 'To background' }).click();
    await page
      .getByText('the key of the page is missing: open the printed address again')
      .waitFor();
    expect(server.sent).toEqual([]);
    await page.goto(server.loginUrl);
    await page.waitForSelector('[data-connection=open]');
    expect(page.url()).toBe(server.url);
    for (const other of [page, await context.newPage()]) {
      await other.goto(`${server.url}#/tasks/seed04`);
      await other.getByRole('button', { name: 'To background' }).click();
      await other.getByText('done: background').waitFor();
    }
    expect(server.sent).toHaveLength(2);
    await context.close();
  });
});

describe('the screen reader', () => {
  it('hears of a new question and of the end of a task, politely and together', async () => {
    await using server = await listen();
    const { page, context } = await open(server, '');
    const region = page.locator('[aria-live=polite][role=log]');
    const row = server.data.overview.tasks.find(({ id }) => id === 'seed04')!;
    server.change('rows', [{ ...row, status: 'completed', ended: row.created + 5, doing: null }]);
    server.change('question', fixtureQuestion('seed04q1', 'seed04'));
    await expect
      .poll(() => region.textContent())
      .toBe(
        'general-purpose: Change the wheel and the cage: completed. A question waits: Bash, Bash.',
      );
    expect(await page.title()).toBe('(2) Muster');
    await context.close();
  });
});
