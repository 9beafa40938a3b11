import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { toolResultRounds, type Answer, type RecordedRequest } from '../../../src/testing/index.ts';
import { eventsOf } from '../../e2e/muster.ts';
import { describe as describeProcesses, findMarked, waitForMarked } from '../../e2e/processes.ts';
import { openWorld, type World } from '../../e2e/world.ts';
import { needs } from '../../needs.ts';
import type { JsonObject } from '../../../src/base/json.ts';
import { installPackages } from './install.ts';

const HAS_CHROMIUM = needs('chromium', 'chromium');
const PAGE =
  '<title>Buttons</title><h1>Press it</h1><button onclick="this.textContent = 1 + 1">Add</button>';
const FLAGS = ['--allow', 'mcp__browser', '--output-format', 'stream-json'];
let server = '';

beforeAll(async () => {
  if (!HAS_CHROMIUM) return;
  const directory = await installPackages({ '@playwright/mcp': '0.0.83' });
  server = join(directory, 'node_modules/.bin/playwright-mcp');
});

/** Configures the browser for a world. Returns the address of a page. */
async function configure({ sandbox }: World): Promise<string> {
  const page = createServer((_, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(PAGE);
  });
  await once(page.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    page.closeAllConnections();
    page.close();
  });
  const file = join(sandbox.home, '.config/muster/mcp.json');
  mkdirSync(dirname(file), { recursive: true });
  // Chromium refuses to run as root with its own sandbox.
  const args = [
    '--headless',
    '--isolated',
    '--no-sandbox',
    '--executable-path',
    '/usr/bin/chromium',
  ];
  const browser = { command: process.execPath, args: [server, ...args] };
  writeFileSync(file, JSON.stringify({ mcpServers: { browser } }));
  return `http://127.0.0.1:${(page.address() as AddressInfo).port}/`;
}

const call = (tool: string, input: JsonObject = {}) => ({
  name: `mcp__browser__browser_${tool}`,
  input,
});
const isMain = ({ tools }: RecordedRequest) => tools.some(({ name }) => name === 'AskUser');

test.runIf(HAS_CHROMIUM)('a browser opens a page, clicks, and shows a picture of it', async () => {
  let url = '';
  await using world = await openWorld({
    script: (request): Answer => {
      const texts = request.messages.flatMap(({ toolResults }) => toolResults);
      const [, ref] = /button "Add" \[ref=(\w+)\]/.exec(texts.map(({ text }) => text).join()) ?? [];
      const steps = [
        call('navigate', { url }),
        call('snapshot'),
        call('click', { target: ref ?? '', element: 'the button' }),
        call('snapshot'),
        call('take_screenshot', { type: 'png' }),
      ];
      const step = steps[toolResultRounds(request)];
      return step === undefined ? { text: 'done' } : { toolCalls: [step] };
    },
  });
  url = await configure(world);
  const run = await world.run(['-p', 'go', ...FLAGS]);
  const ended = eventsOf(run).flatMap((event) => (event.type === 'call.ended' ? [event] : []));
  const texts = ended.map(({ text }) => text);
  expect([run.code, ended.map(({ error }) => error)]).toEqual([0, [null, null, null, null, null]]);
  expect(texts[0]).toContain('Page Title: Buttons');
  expect(texts[1]).toContain('heading "Press it"');
  expect(texts[3]).toContain('button "2"');
  expect(ended[4]?.attachments).toMatchObject([{ type: 'image/png', width: 1280 }]);
  expect(describeProcesses(findMarked(world.mark))).toBe('');
});

test.runIf(HAS_CHROMIUM)(
  'twelve children share one browser, of which kill -9 leaves nothing',
  async () => {
    let url = '';
    const task = (number: number) => ({
      name: 'Task',
      input: { prompt: `look ${number}`, description: 'look' },
    });
    let running = 0;
    const pids = new Set<string>();
    await using world = await openWorld({
      script: async (request): Promise<Answer> => {
        const rounds = toolResultRounds(request);
        if (isMain(request)) {
          if (rounds === 0) return { toolCalls: [call('navigate', { url })] };
          if (rounds === 1) return { toolCalls: Array.from({ length: 12 }, (_, n) => task(n)) };
          return { fault: { kind: 'hang' } };
        }
        if (rounds === 0) return { toolCalls: [call('snapshot')] };
        running += 1;
        const servers = describeProcesses(findMarked(world.mark)).split(', ');
        for (const each of servers) if (each.includes(server)) pids.add(each);
        return { text: 'done' };
      },
    });
    url = await configure(world);
    const run = world.start(['-p', 'go', ...FLAGS]);
    // The request after those of the main agent before and of its children, two of each.
    await world.model.received(2 + 24 + 1);
    expect([running, pids.size]).toEqual([12, 1]);
    expect(findMarked(world.mark).length).toBeGreaterThan(2);
    process.kill(run.pid, 'SIGKILL');
    const events = eventsOf(await run.finished);
    const snapshots = events.filter(
      (event) => event.type === 'call.ended' && event.tool === 'mcp__browser__browser_snapshot',
    );
    expect(snapshots.length).toBe(12);
    await waitForMarked(world.mark, (left) => left.length === 0);
  },
);
