import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EventBody } from '../../../src/protocol/events/event.ts';
import { openBrowser, openWatchedPage, readViolations } from './browser.ts';
import { fixtureData, FixtureLog, fixtureQuestion, fixtureRow } from './fixture-run.ts';
import { FixtureServer, type FixtureData } from './fixture-server.ts';

/** Texts that do something in a page that does not treat them as text. Each would set `hacked` or send a request. */
const ATTACKS = [
  '<script>globalThis.hacked = 1</script>',
  '<img src=x onerror="globalThis.hacked = 1">',
  '<svg onload="globalThis.hacked = 1"><image href="http://evil.example/a.png"/></svg>',
  '"><iframe srcdoc="<script>top.hacked = 1</script>"></iframe>',
  '[a link](javascript:globalThis.hacked=1)',
  '![a picture](http://evil.example/b.png)',
  '<style>@import "http://evil.example/c.css"; * { display: none }</style>',
  '<link rel="stylesheet" href="http://evil.example/d.css">',
  '<base href="http://evil.example/">',
  '<meta http-equiv="refresh" content="0;url=http://evil.example/">',
  '<form action="http://evil.example/"><button>Yes, once</button></form>',
  '${globalThis.hacked = 1}{{constructor.constructor("globalThis.hacked = 1")()}}',
  "'-globalThis.hacked=1-'",
  '</pre></div></main><h1 id="search">fake</h1>',
  '\u001b]8;;http://evil.example/\u0007click\u001b]8;;\u0007\u001b[2J\u001b[31m',
  'safe \u202egnp.exe\u202c \u2066x\u2069 \u200fy',
] as const;

const ALL = ATTACKS.join(' ');
/** A line that the server would cut, and a line as long as it lets through. */
const LONG_LINE = `long ${'x'.repeat(16_300)}`;

function hostileData(): FixtureData {
  const data = fixtureData();
  const log = new FixtureLog('wheel1')
    .begin(ALL)
    .answer(`${ALL}\n\n\`\`\`html\n${ALL}\n\`\`\``, [], ALL)
    .call('Bash', { command: ALL }, ALL)
    .call('Edit', { file_path: ALL, old_string: ATTACKS[0], new_string: ALL }, ALL)
    .call(ALL, { [ALL]: ALL }, LONG_LINE)
    .add({ type: 'warning', message: ALL } as EventBody)
    .end(ALL).events;
  const asked = fixtureQuestion('seed05q1', 'seed05');
  const [root, ...others] = data.overview.tasks;
  return {
    ...data,
    overview: {
      ...data.overview,
      tasks: [
        {
          ...root!,
          title: ALL,
          agent: ALL,
          model: ALL,
          cwd: ALL,
          doing: { kind: 'tool', detail: ALL },
        },
        ...others.map((row, index) =>
          fixtureRow({ ...row, title: ATTACKS[index % ATTACKS.length] ?? '' }),
        ),
      ],
      questions: [
        {
          ...asked,
          question: {
            ...asked.question,
            kind: 'permission',
            commands: ATTACKS,
            chain: [ALL],
            reason: ALL,
            description: ALL,
            rule: ALL,
            edits: [{ path: ALL, before: ALL, after: '', everywhere: false }],
          } as typeof asked.question,
        },
      ],
    },
    events: new Map([...data.events, ['wheel1', [...log]]]),
    diff: {
      hasLanded: false,
      note: ALL,
      files: [
        {
          ...data.diff.files[0]!,
          path: ALL,
          from: ALL,
          note: ALL,
          hunks: [{ oldStart: 1, newStart: 1, lines: ATTACKS.map((text) => `+${text}`) }],
        },
      ],
    },
    timeline: {
      ...data.timeline,
      rows: data.timeline.rows.map((row) => ({ ...row, title: ALL, agent: ALL })),
    },
    usage: {
      ...data.usage,
      points: data.usage.points.map((point) => ({ ...point, model: ALL })),
    },
    compare: {
      ...data.compare,
      left: {
        ...data.compare.left,
        result: ALL,
        files: ATTACKS,
        rows: data.compare.left.rows.map((row) => ({ ...row, title: ALL, agent: ALL })),
      },
    },
    search: () => ({
      hits: [{ id: 'seed03', where: 'prompt', before: ALL, match: ALL, after: ALL }],
      note: ALL,
    }),
    startForm: { ...data.startForm, cwd: ALL, agents: [{ name: ALL, description: ALL }] },
  };
}

/** The elements that only an attack could have put into the page. */
async function listForeignElements(page: Page): Promise<readonly string[]> {
  return await page.evaluate(() =>
    Array.from(
      document.querySelectorAll(
        'img, iframe, script:not([src]), style, base, meta[http-equiv], a, form[action], image, object, embed, #page h1#search, [onload], [onerror]',
      ),
      (element) => element.outerHTML.slice(0, 120),
    ),
  );
}

const VIEWS = [
  '#/tasks/wheel1',
  '#/tasks/wheel1/timeline',
  '#/tasks/wheel1/usage',
  '#/tasks/wheel1/changes',
  '#/tasks/seed05',
  '#/questions',
  '#/compare/wheel1/cage01',
  `#/tasks/${encodeURIComponent(ATTACKS[0])}`,
] as const;

describe('hostile text in the page', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
  });

  it.each(VIEWS)('does nothing and loads nothing in %s', async (hash) => {
    await using server = new FixtureServer(hostileData());
    const url = await server.listen();
    const { page, context, problems, strayRequests } = await openWatchedPage(browser, {
      url: `${url}${hash}`,
    });
    await page.waitForSelector('[data-connection=open]');
    await page.waitForTimeout(300);
    await page.evaluate(() => {
      const closed = '.call-head[aria-expanded=false], details:not([open]) > summary';
      for (const each of document.querySelectorAll<HTMLElement>(closed)) each.click();
    });
    await page.keyboard.press('/');
    await page.keyboard.type('needle');
    await page.waitForSelector('.hit');
    const state = await page.evaluate(() => ({
      hacked: Reflect.get(globalThis, 'hacked') ?? null,
      title: document.title,
      text: document.body.innerText,
    }));
    expect({
      hacked: state.hacked,
      title: state.title,
      foreign: await listForeignElements(page),
      violations: await readViolations(page),
      problems,
      strayRequests,
    }).toEqual({
      hacked: null,
      title: '(1) Muster',
      foreign: [],
      violations: [],
      problems: [],
      strayRequests: [],
    });
    // oxlint-disable-next-line no-control-regex -- escape sequences must not be in the page
    expect(state.text).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200e\u200f\u001b\u0007]/);
    await context.close();
  });

  it('is shown as it is, so that a person can see the attack', async () => {
    await using server = new FixtureServer(hostileData());
    const url = await server.listen();
    const { page, context } = await openWatchedPage(browser, { url: `${url}#/questions` });
    const asked = page.locator('.asked');
    await asked.waitFor();
    const text = await asked.innerText();
    for (const attack of ATTACKS.slice(0, -2)) expect(text).toContain(attack);
    expect(text).toContain('safe ⟨U+202E⟩gnp.exe⟨U+202C⟩ ⟨U+2066⟩x⟨U+2069⟩ ⟨U+200F⟩y');
    expect(text).toContain('⟨U+001B⟩]8;;http://evil.example/');
    await context.close();
  });

  it('a text of 10 MB is loaded only piece by piece, and the page stays small', async () => {
    const data = fixtureData();
    const log = new FixtureLog('wheel1').begin('look').call('Bash', { command: 'yes' }, LONG_LINE);
    const last = log.events.at(-1)!;
    log.events[log.events.length - 1] = {
      ...last,
      cut: [{ pointer: '/text', length: 10_000_000 }],
    };
    data.events.set('wheel1', log.events);
    data.texts.set(
      `wheel1 ${last.event.seq} /text`,
      LONG_LINE + 'y'.repeat(10_000_000 - LONG_LINE.length),
    );
    await using server = new FixtureServer(data);
    const url = await server.listen();
    const { page, context } = await openWatchedPage(browser, { url: `${url}#/tasks/wheel1` });
    await page.click('.call-head');
    await page.click('text=more characters');
    await page.click('text=Load more (9,983,695 characters)');
    await page.getByText('Load more (9,967,311 characters)').waitFor();
    const length = await page
      .locator('.output')
      .evaluate((element) => element.textContent?.length ?? 0);
    expect(length).toBe(16_305 + 16_384);
    await context.close();
  });

  it('the policy of the page blocks code that gets into it all the same', async () => {
    await using server = new FixtureServer(fixtureData());
    const url = await server.listen();
    const { page, context, strayRequests } = await openWatchedPage(browser, { url });
    await page.waitForSelector('[data-connection=open]');
    expect(await readViolations(page)).toEqual([]);
    const outcome = await page.evaluate(async () => {
      const script = document.createElement('script');
      let refusal = '';
      try {
        script.textContent = 'globalThis.hacked = 1';
        document.body.append(script);
      } catch (thrown) {
        refusal = String(thrown);
      }
      const image = new Image();
      image.src = 'http://evil.example/e.png';
      document.body.append(image);
      let inserted = '';
      try {
        document.body.insertAdjacentHTML('beforeend', '<b>hello</b>');
      } catch (thrown) {
        inserted = String(thrown);
      }
      await new Promise((resolve) => {
        setTimeout(resolve, 300);
      });
      return { hacked: Reflect.get(globalThis, 'hacked') ?? null, refusal, inserted };
    });
    expect(outcome.hacked).toBeNull();
    expect(outcome.inserted).toContain('TrustedHTML');
    const violations = await readViolations(page);
    expect(violations.filter((each) => each.startsWith('img-src'))).toHaveLength(1);
    expect(violations.some((each) => /^(?:script-src|require-trusted-types-for)/.test(each))).toBe(
      true,
    );
    expect(strayRequests).toEqual(['http://evil.example/e.png']);
    await context.close();
  });
});
