import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toolResultRounds } from '../../../src/testing/index.ts';
import type { TaskSummary } from '../../../src/store/task-store.ts';
import { formatUsd } from '../../../src/report/cost-text.ts';
import { formatShortCount } from '../../../src/report/figures.ts';
import { startMuster, type Running } from '../../e2e/muster.ts';
import { clean, delegate, delegating, statuses, tasks } from '../../e2e/tasks.ts';
import { bash, openWorld, type World } from '../../e2e/world.ts';
import { openBrowser, openWatchedPage, readViolations } from './browser.ts';

const CHILDREN = 64;

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
});

/** Starts `muster web` in a world. Resolves to the address with the token. */
async function serve(
  world: World,
  flags: readonly string[] = [],
): Promise<{ readonly url: string; readonly running: Running }> {
  const running = startMuster(world.sandbox, ['web', '--port', '0', '--no-browser', ...flags], {
    env: world.model.env('anthropic'),
  });
  await expect.poll(() => running.output()).toMatch(/http:\/\/\S+token=\S+/);
  const url = /http:\/\/\S+token=\S+/.exec(running.output())?.[0] ?? '';
  return { url, running };
}

/** A line of the tree in the page. */
interface ShownLine {
  readonly id: string;
  readonly level: string;
  readonly text: string;
}

/** Reads all lines of the tree, of which the page holds only those in sight. */
async function readTree(page: Page): Promise<readonly ShownLine[]> {
  return await page.evaluate(async () => {
    const tree = document.querySelector('.tree') ?? document.body;
    const lines = new Map<number, { id: string; level: string; text: string }>();
    for (let top = 0; top <= tree.scrollHeight; top += 250) {
      tree.scrollTop = top;
      // oxlint-disable-next-line no-loop-func -- one wait at a time
      await new Promise((resolve) => {
        setTimeout(resolve, 40);
      });
      for (const item of tree.querySelectorAll<HTMLElement>('[role=treeitem]')) {
        const index = Number(item.parentElement?.dataset['index']);
        const cells = Array.from(
          item.querySelectorAll('.title, .agent, .state, .turns, .tokens, .cost'),
          (each) => (each.textContent ?? '').replace(/ tokens$/, '').trim(),
        );
        lines.set(index, {
          id: item.dataset['task'] ?? '',
          level: item.ariaLevel ?? '',
          text: cells.join(' | '),
        });
      }
    }
    return [...lines].toSorted(([a], [b]) => a - b).map(([, line]) => line);
  });
}

describe('the page of a real run', () => {
  it('shows the same as the terminal for 64 children', async () => {
    const calls = Array.from({ length: CHILDREN }, (_, at) => delegate(`part ${at}`));
    await using world = await openWorld({
      script: delegating(calls, (request) =>
        toolResultRounds(request) === 0
          ? { toolCalls: [{ name: 'LS', input: { path: '.' } }] }
          : { text: 'the child is done' },
      ),
    });
    await world.run(['-p', 'go', '--permission-mode', 'autonomous']);
    const { url, running } = await serve(world);
    const { page, context, problems, strayRequests } = await openWatchedPage(browser, { url });
    await page.waitForSelector('[data-connection=open]');
    const shown = await readTree(page);
    const summaries: readonly TaskSummary[] = JSON.parse(
      clean(await tasks(world, 'list', '--json')),
    );
    const root = summaries.find(({ parent }) => parent === null);
    expect(shown.map(({ id }) => id)).toEqual([
      root?.id,
      ...summaries
        .filter(({ parent }) => parent === root?.id)
        .toSorted((a, b) => a.created - b.created || (a.id < b.id ? -1 : 1))
        .map(({ id }) => id),
    ]);
    expect(shown).toHaveLength(CHILDREN + 1);
    for (const { id, text, level } of shown) {
      const summary = summaries.find((each) => each.id === id);
      const [title, agent, state, turns, tokens = '', cost = ''] = text.split(' | ');
      expect({ title, agent, state, turns, level }).toEqual({
        title: summary?.description,
        agent: summary?.agent,
        state: summary?.status,
        turns: `${summary?.turns} turns`,
        level: String((summary?.depth ?? 0) + 1),
      });
      expect([tokens, cost]).toEqual([
        formatShortCount(summary?.paidTokens ?? Number.NaN),
        formatUsd(summary?.costUsd ?? Number.NaN),
      ]);
    }
    const [, first] = shown;
    const report = clean(await tasks(world, 'show', first?.id ?? ''));
    for (const figure of first?.text.split(' | ').slice(-1) ?? []) expect(report).toContain(figure);
    await page.goto(`${new URL('/', url).href}#/tasks/${first?.id}`);
    await page.getByText('the child is done').waitFor();
    expect(await page.locator('.call-head').first().innerText()).toContain('LS');
    expect(problems).toEqual([]);
    expect(strayRequests).toEqual([]);
    expect(await readViolations(page)).toEqual([]);
    await context.close();
    running.process.kill('SIGTERM');
    await running.finished;
  });

  it('lets two pages and a terminal answer a question: the first one counts, and the others are told', async () => {
    await using world = await openWorld({
      script: (request) =>
        toolResultRounds(request) === 0
          ? { toolCalls: [bash('touch answered')] }
          : { text: 'done' },
    });
    const parked = await world.run([
      '-p',
      'go',
      '--on-ask',
      'park',
      '--permission-mode',
      'default',
    ]);
    expect(parked.code).toBe(5);
    const { url, running } = await serve(world);
    const home = new URL('/', url).href;
    const pages = await Promise.all([0, 1].map(() => openWatchedPage(browser, { url })));
    for (const { page } of pages) {
      await page.goto(`${home}#/questions`);
      await page.getByText('touch answered').first().waitFor();
    }
    const [asked] = JSON.parse(clean(await tasks(world, 'answer', '--json')));
    const [{ page: one }, { page: two }] = pages as [(typeof pages)[0], (typeof pages)[0]];
    await one.getByRole('button', { name: 'Yes, once' }).click();
    await expect.poll(() => statuses(world)).toEqual(['completed']);
    expect(existsSync(join(world.sandbox.workspace, 'answered'))).toBe(true);
    for (const page of [one, two]) await page.getByText('No question waits for you.').waitFor();
    expect(await one.locator('[data-closed]').innerText()).toContain(', here');
    expect(await two.locator('[data-closed]').innerText()).toContain(', elsewhere');
    const late = await tasks(world, 'answer', asked.id, 'no');
    expect(late.code).not.toBe(0);
    for (const { context } of pages) await context.close();
    running.process.kill('SIGTERM');
    await running.finished;
  });

  it('starts a task, continues it with a message, and stops it', async () => {
    await using world = await openWorld({
      script: (request) => {
        const text = JSON.stringify(request.messages.at(-1));
        if (text.includes('take your time')) {
          return { toolCalls: [bash('until [ -e go ]; do sleep 0.05; done')] };
        }
        return { text: text.includes('and again') ? 'once more' : 'the first answer' };
      },
      bare: true,
    });
    const { url, running } = await serve(world, ['--permission-mode', 'autonomous']);
    const { page, context, problems } = await openWatchedPage(browser, { url });
    await page.waitForSelector('[data-connection=open]');
    await page.keyboard.press('n');
    await page.getByText('It works in').waitFor();
    await page.keyboard.type('Count the seeds');
    await page.getByLabel('Mode').selectOption('autonomous');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByText('the first answer').first().waitFor();
    await page.getByText('Ended: completed').waitFor();
    const message = page.getByLabel('Message to the task');
    await message.fill('and again');
    await message.press('Enter');
    await page.getByText('once more').first().waitFor();
    await expect.poll(() => statuses(world)).toEqual(['completed']);
    await message.fill('take your time');
    await message.press('Enter');
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByLabel('Reason (optional)').fill('it takes too long');
    await page.keyboard.press('Enter');
    await page.getByText('it takes too long').first().waitFor();
    await expect.poll(() => statuses(world)).toEqual(['stopped']);
    expect(problems).toEqual([]);
    await context.close();
    running.process.kill('SIGTERM');
    await running.finished;
  });

  it('is exported as files, which show the run without any server', async () => {
    await using world = await openWorld({
      script: delegating([delegate('part 1')], () => ({ text: 'the child is done' })),
    });
    await world.run(['-p', 'go', '--permission-mode', 'autonomous']);
    const summaries: readonly TaskSummary[] = JSON.parse(
      clean(await tasks(world, 'list', '--json')),
    );
    const root = summaries.find(({ parent }) => parent === null);
    const directory = join(world.sandbox.workspace, 'page');
    await startMuster(world.sandbox, ['web', '--export', 'page', root?.id ?? '']).finished;
    expect(readdirSync(directory)).toContain('index.html');
    expect(readFileSync(join(directory, 'index.html'), 'utf8')).toContain('run.js');
    const { page, context, problems } = await openWatchedPage(browser, {
      url: pathToFileURL(join(directory, 'index.html')).href,
    });
    await page.getByText('read only').waitFor();
    await page.keyboard.press('e');
    await page.keyboard.press('Enter');
    await page.getByText('the root is done').first().waitFor();
    for (const tab of ['Timeline', 'Usage', 'Changes', 'Receipt']) {
      await page.getByRole('tab', { name: tab }).click();
      await expect.poll(() => page.locator('#task-panel').innerText()).not.toContain('Loading');
    }
    expect(await page.getByRole('button', { name: 'New task' }).count()).toBe(0);
    await page.keyboard.press('s');
    await page.getByText('An exported run only shows what happened.').waitFor();
    expect(problems).toEqual([]);
    expect(await readViolations(page)).toEqual([]);
    await context.close();
  });
});
