import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  assertAppendOnly,
  canonicalPrefix,
  WIRE_PROTOCOLS,
  type Answer,
  type RecordedRequest,
  type WireProtocol,
} from '../../src/testing/index.ts';
import { envelopeOf } from './muster.ts';
import { clean, tasks } from './tasks.ts';
import { openWorld, type World } from './world.ts';

const GOAL = 'Read all parts, and say how many there are. Rule: change no file.';
const SUMMARY = 'Goal: count the parts. Constraints: change no file. Done: parts are being read.';
const PARTS = 60;

function withWindow(world: World, tokens: number, model = 'anthropic/fake-model'): void {
  const directory = join(world.sandbox.home, '.config/muster');
  mkdirSync(directory, { recursive: true });
  writeFileSync(
    join(directory, 'config.toml'),
    `[models]\ndefault = "${model}"\n[models.catalogue."${model}"]\ncontext_window = ${tokens}\noutput_limit = 2000\n`,
  );
}

function isSummary({ messages }: RecordedRequest): boolean {
  return messages.at(-1)?.text.includes('which you write now') === true;
}

function told({ messages }: RecordedRequest): string {
  return messages.map(({ text }) => text).join('\n');
}

/** Reads one part a turn. */
function readAll(): (request: RecordedRequest) => Answer {
  let part = 0;
  return (request) => {
    if (isSummary(request)) return { text: SUMMARY };
    if (part >= PARTS) return { text: `There are ${PARTS}.` };
    part += 1;
    return {
      text: `Part ${part} says what is to be known of it. `.repeat(12),
      toolCalls: [{ name: 'Read', input: { file_path: `part${part}.txt` } }],
    };
  };
}

function files(): Record<string, string> {
  const parts = Array.from({ length: PARTS }, (_, index) => index + 1);
  return Object.fromEntries(
    parts.map((part) => [`part${part}.txt`, `This is line ${part}.\n`.repeat(80)]),
  );
}

/** How OpenAI's own models are named to the fake one; for the others the model is looked up. */
const MODELS: Readonly<Record<WireProtocol, string>> = {
  anthropic: 'anthropic/fake-model',
  responses: 'openai/gpt-test',
  chat: 'llm/fake-model',
  google: 'google/fake-model',
};

it.each(WIRE_PROTOCOLS)(
  'a run of 60 turns stays within its window, and each request extends the one before except at compactions: %s',
  async (protocol) => {
    await using world = await openWorld({ files: files(), script: readAll(), protocol });
    withWindow(world, 20_000, MODELS[protocol]);
    const { stdout, stderr, code } = await world.run(['-p', GOAL, '--verbose']);
    expect([code, stdout.trim()]).toEqual([0, `There are ${PARTS}.`]);
    expect(stderr).toContain('~ main: ');

    const { requests } = world.model;
    const turns = requests.filter((request) => !isSummary(request));
    expect(turns).toHaveLength(PARTS + 1);
    let broken = 0;
    for (const [index, request] of turns.entries()) {
      expect(told(request)).toContain(GOAL);
      expect(request.system).toBe(turns[0]?.system);
      expect(request.tools).toEqual(turns[0]?.tools);
      const before = turns[index - 1];
      if (before === undefined) continue;
      try {
        assertAppendOnly(before, request);
      } catch {
        broken += 1;
      }
    }
    const id = await newest(world);
    const log = clean(await tasks(world, 'log', id));
    const compactions = log.match(/ context\.(cleared|summarised|dropped) /g) ?? [];
    expect(log).toMatch(/ context\.cleared /);
    expect(log).toMatch(/ context\.summarised /);
    expect(log).not.toMatch(/ context\.dropped /);
    expect(broken).toBe(compactions.length);

    for (const request of requests) {
      const marks = JSON.stringify(request.body).split('"cache_control":').length - 1;
      expect(marks).toBe(protocol === 'anthropic' ? 3 : 0);
    }
    // The summary is asked for with what was sent before it.
    for (const summary of requests.filter(isSummary)) {
      const sent = requests[requests.indexOf(summary) - 1];
      if (sent === undefined) throw new Error('a summary of nothing');
      const [asked, before] = [canonicalPrefix(summary), canonicalPrefix(sent)];
      expect([asked.tools, asked.system]).toEqual([before.tools, before.system]);
      const head = asked.messages.slice(0, -1);
      expect(head).toEqual(before.messages.slice(0, head.length));
      expect(summary.toolChoice).toBe(sent.toolChoice);
    }
    const show = clean(await tasks(world, 'show', id));
    expect(show).toContain('summary of its context');
    const context = clean(await tasks(world, 'context', id));
    expect(context).toMatch(/^messages: pinned words +1 /m);
    expect(context).toMatch(/^messages: summary +1 /m);
    expect(context).not.toContain('messages: other');
    expect(clean(await tasks(world, 'rerun', id))).toContain('identical');
  },
);

it('/compact summarizes an ended conversation, and the next message continues from the summary', async () => {
  await using world = await openWorld({ files: files(), script: readAll() });
  expect((await world.run(['-p', GOAL])).code).toBe(0);
  const asked = await world.run(['--continue', '-p', '/compact the colour mauve']);
  expect([asked.code, asked.stdout]).toEqual([
    0,
    expect.stringMatching(/^context summarized: about \d+ tokens → \d+/),
  ]);
  expect(world.model.requests.at(-1)?.messages.at(-1)?.text).toContain('the colour mauve');
  const next = await world.run(['--continue', '-p', 'And how many again?']);
  expect(next.stdout.trim()).toBe(`There are ${PARTS}.`);
  const last = world.model.requests.at(-1);
  expect(last && told(last)).toMatch(/Rule: change no file[\s\S]*<summary>[\s\S]*how many again/);
  expect(clean(await tasks(world, 'rerun', await newest(world)))).toContain('identical');
});

async function newest(world: World): Promise<string> {
  const [first] = JSON.parse(clean(await tasks(world, 'list', '--all', '--json')));
  return String(first.id);
}

it('/compact is refused for a task at work, and its model reads nothing of it', async () => {
  let release = (): void => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  let began = (): void => {};
  const asked = new Promise<void>((resolve) => (began = resolve));
  await using world = await openWorld({
    script: async () => {
      began();
      await held;
      return { text: 'done' };
    },
  });
  const running = world.start(['-p', GOAL]);
  await asked;
  const id = await newest(world);
  const refused = await tasks(world, 'resume', id, '/compact');
  expect([refused.code, refused.stdout]).toEqual([1, '']);
  expect(refused.stderr).toContain(`task ${id} is running and compacts its context by itself`);
  release();
  expect((await running.finished).stdout.trim()).toBe('done');
  expect(world.model.requests).toHaveLength(1);
});

it('a task whose window is filled by each result ends before it uses up the budget', async () => {
  let part = 0;
  await using world = await openWorld({
    files: { 'big.txt': 'x y z\n'.repeat(3_000) },
    // Always another part, so that it is no endless loop of one call.
    script: () => {
      part += 1;
      const input = { file_path: 'big.txt', offset: part };
      return { text: 'again', toolCalls: [{ name: 'Read', input }] };
    },
  });
  withWindow(world, 6_000);
  const run = await world.run(['-p', 'Read it all', '--output-format', 'json']);
  expect(run.code).toBe(3);
  const { data, error } = envelopeOf(run);
  expect(error?.message).toBe('the limit compactions = 50 is reached (50 used)');
  expect(world.model.requests.length).toBeLessThan(100);
  expect(clean(await tasks(world, 'rerun', data.task_id))).toContain('identical');
});

it('a repeated call ends the task as early as without a compaction', async () => {
  await using world = await openWorld({
    files: { 'big.txt': 'x y z\n'.repeat(3_000) },
    script: () => ({
      text: 'again',
      toolCalls: [{ name: 'Read', input: { file_path: 'big.txt' } }],
    }),
  });
  withWindow(world, 6_400);
  const run = await world.run(['-p', 'Read it all', '--output-format', 'json']);
  expect(run.code).toBe(3);
  const { data, error } = envelopeOf(run);
  expect(error?.message).toBe('the limit no_progress_calls = 8 is reached (8 used)');
  expect(data.tool_summary).toEqual([{ tool: 'Read', count: 10 }]);
});
