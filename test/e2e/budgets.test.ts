import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  lastUserText,
  toolResultRounds,
  type AnswerToolCall,
  type FakeModelOptions,
  type RecordedRequest,
  type WireProtocol,
} from '../../src/testing/index.ts';
import { envelopeOf, eventsOf } from './muster.ts';
import { openWorld, type World } from './world.ts';

/** How each provider kind of the configuration is reached, below the fake server's address. */
const KINDS = {
  anthropic: ['anthropic', '/v1'],
  responses: ['openai-responses', '/v1'],
  chat: ['openai-compatible', '/v1'],
  google: ['google', '/v1beta'],
} as const satisfies Record<WireProtocol, readonly [string, string]>;
const PROTOCOLS = ['anthropic', 'responses', 'chat', 'google'] as const;

const OUTPUT_LIMIT = 8_000;

/** A world whose model may answer with so many tokens, and what else the configuration says. */
async function world(
  script: NonNullable<FakeModelOptions['script']>,
  { protocol = 'anthropic', model = `output_limit = ${OUTPUT_LIMIT}`, config = '' }: Setting = {},
): Promise<World> {
  const opened = await openWorld({ script, files: { 'a.txt': 'content' } });
  const [kind, path] = KINDS[protocol];
  const file = join(opened.sandbox.home, '.config/muster/config.toml');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(
    file,
    `[models.providers.own]
kind = "${kind}"
base_url = "${opened.model.url}${path}"
api_key_env = "ANTHROPIC_API_KEY"
[models.catalogue."own/fake-model"]
${model}
${config}`,
  );
  return opened;
}

interface Setting {
  readonly protocol?: WireProtocol;
  /** Of `[models.catalogue]`. */
  readonly model?: string;
  readonly config?: string;
}

const GO = ['-p', 'go', '--model', 'own/fake-model', '--output-format', 'stream-json'];

function isMain(request: RecordedRequest): boolean {
  return request.systemParts.join('\n').includes("in the user's terminal");
}

function task(prompt: string): AnswerToolCall {
  return { name: 'Task', input: { prompt, description: 'A part' } };
}

const LS: AnswerToolCall = { name: 'LS', input: { path: '.' } };

/** Each text of the user's side of a request, in order. */
function told(request: RecordedRequest | undefined): string {
  return (request?.messages ?? []).map(({ text }) => text).join('\n');
}

/** Uses all the output that the request allows. */
function full(request: RecordedRequest): number {
  return request.maxOutputTokens ?? OUTPUT_LIMIT;
}

function paid(run: { readonly stdout: string }): number {
  const { usage } = envelopeOf(run as Parameters<typeof envelopeOf>[0]).data;
  return usage.input + usage.cache_write + usage.output;
}

describe.each(PROTOCOLS)('8 children with 35,000 tokens of the tree left, over %s', (protocol) => {
  it('get smaller and smaller output caps, use no more than remains, and the run ends as partial', async () => {
    await using own = await world(
      (request) => {
        if (!isMain(request)) {
          return { delayMs: 50, text: 'ok', usage: { input: 2_000, output: full(request) } };
        }
        const toolCalls = Array.from({ length: 8 }, (_, n) => task(`part ${n}`));
        return { toolCalls, usage: { input: 4_000, output: 1_000 } };
      },
      { protocol },
    );
    const run = await own.run([...GO, '--max-tokens', '40000']);
    const children = own.model.requests.filter((request) => !isMain(request));
    const caps = children.map(({ maxOutputTokens }) => maxOutputTokens ?? 0);
    expect(caps.length).toBeGreaterThan(3);
    expect(caps).toEqual(caps.toSorted((a, b) => b - a));
    expect(Math.min(...caps)).toBeGreaterThanOrEqual(2_048);
    const spent = caps.reduce((sum, cap) => sum + 2_000 + cap, 5_000);
    expect(spent).toBeLessThanOrEqual(40_000);
    expect(run.code).toBe(3);
    expect(envelopeOf(run)).toMatchObject({
      status: 'partial',
      error: {
        code: 'LIMIT_EXCEEDED',
        message: expect.stringContaining(
          `the limit tree_tokens = 40000 leaves no room for the next request (${spent} used`,
        ),
      },
    });
    const results = eventsOf(run).flatMap((event) =>
      event.type === 'call.ended' && event.tool === 'Task' ? [event.text] : [],
    );
    expect(results.length).toBe(8);
    const refused = results.filter((text) => /LIMIT_EXCEEDED.*tree_tokens = 40000/.test(text));
    expect(refused.length).toBe(8 - caps.length);
    const ends = eventsOf(run).flatMap((event) =>
      event.type === 'child.ended' ? [event.status] : [],
    );
    expect(ends.filter((status) => status === 'completed').length).toBe(caps.length);
  });
});

describe.each(PROTOCOLS)('a child with 50,000 tokens, over %s', (protocol) => {
  it('works with smaller and smaller output caps until it has used nearly all tokens', async () => {
    let rounds = 0;
    await using own = await world(
      (request) => {
        if (isMain(request)) {
          return toolResultRounds(request) > 0 ? { text: 'done' } : { toolCalls: [task('part')] };
        }
        if (request.toolChoice === 'none')
          return { text: 'as far as I got', usage: { input: 3_000, output: 200 } };
        rounds += 1;
        return {
          toolCalls: [{ name: 'LS', input: { path: `${rounds}` } }],
          usage: { input: 3_000, output: 500 },
        };
      },
      {
        protocol,
        model: 'output_limit = 32000',
        config: '[task_tool]\nmax_tokens = 50000\n[liveness]\nno_progress_calls = 50',
      },
    );
    const run = await own.run(GO);
    expect(run.code).toBe(0);
    const children = own.model.requests.filter((request) => !isMain(request));
    const caps = children.map(({ maxOutputTokens }) => maxOutputTokens ?? 0);
    const asked = caps.slice(0, -1);
    expect(asked).toEqual(asked.toSorted((a, b) => b - a));
    expect(asked[0]).toBeLessThan(32_000);
    expect(children.at(-1)?.toolChoice).toBe('none');
    // 3,500 a turn: one more round and an answer would not have fitted.
    expect(children.length).toBeGreaterThanOrEqual(12);
    const rerun = await own.run(['tasks', 'rerun', envelopeOf(run).data.task_id]);
    expect([rerun.code, rerun.stderr]).toEqual([0, '']);
    const [result] = own.model.requests.at(-1)?.messages.at(-1)?.toolResults ?? [];
    expect(result?.text).toContain('as far as I got');
    expect(result?.text).toMatch(/the limit max_tokens = 50000 leaves no room.*\(\d{5} used/);
  });
});

describe.each([
  ['anthropic', 'claude-sonnet-4-5'],
  ['google', 'gemini-2.5-pro'],
] as const)('a run with --max-tokens 30000 over %s, with %s', (protocol, model) => {
  const go = ['-p', 'go', '--model', `own/${model}`, '--output-format', 'stream-json'];

  it('gets its first request, and ends as partial if its answer is not the last one', async () => {
    await using own = await world(
      (request) =>
        request.toolChoice === 'none'
          ? { text: 'as far as I got', usage: { input: 9_000, output: 100 } }
          : { text: 'I look.', toolCalls: [LS], usage: { input: 9_000, output: 900 } },
      { protocol, model: '' },
    );
    const run = await own.run([...go, '--max-tokens', '30000']);
    const caps = own.model.requests.map(({ maxOutputTokens }) => maxOutputTokens ?? 0);
    expect(caps.length).toBeGreaterThan(1);
    for (const cap of caps) {
      expect(cap).toBeGreaterThanOrEqual(2_048);
      expect(cap).toBeLessThan(30_000);
    }
    expect(run.code).toBe(3);
    expect(paid(run)).toBeLessThanOrEqual(30_000);
    expect(envelopeOf(run)).toMatchObject({
      status: 'partial',
      data: { result: 'as far as I got' },
      error: {
        code: 'LIMIT_EXCEEDED',
        message: expect.stringMatching(/^the limit tree_tokens = 30000 .*\(\d+ used/),
      },
    });
  });

  it('is complete if one answer is enough', async () => {
    await using own = await world(() => ({ text: '4', usage: { input: 9_000, output: 10 } }), {
      protocol,
      model: '',
    });
    const run = await own.run([...go, '--max-tokens', '30000']);
    expect(run.code).toBe(0);
    expect(own.model.requests.length).toBe(1);
  });
});

describe('an answer that a lowered output cap cuts off', () => {
  it('is continued, and if the continuation is cut off too, the run is partial and says so', async () => {
    await using own = await world(
      (request) => ({
        text: 'part ',
        stop: 'length',
        usage: { input: 5_000, output: full(request) },
      }),
      { model: 'output_limit = 32000' },
    );
    const run = await own.run([...GO, '--max-tokens', '40000']);
    expect(run.code).toBe(3);
    const [first, second] = own.model.requests;
    expect(told(second)).toContain(
      `Your answer was cut off after ${first?.maxOutputTokens} tokens: the limit tree_tokens = 40000 (0 used) allows no longer answer. Go on with it exactly where it stopped`,
    );
    const { data, error } = envelopeOf(run);
    expect(data.result).toBe('part '.repeat(own.model.requests.length));
    expect(error?.code).toBe('LIMIT_EXCEEDED');
    expect(error?.message).toMatch(
      /^the limit tree_tokens = 40000 .*\(\d+ used.*the last answer was cut off after \d+ tokens$/,
    );
    expect(paid(run)).toBeLessThanOrEqual(40_000);
  });

  it('is a partial result, too, when four in a row are cut off', async () => {
    await using own = await world(
      () => ({ text: 'part ', stop: 'length', usage: { input: 500, output: 500 } }),
      { model: 'output_limit = 32000' },
    );
    const run = await own.run([...GO, '--max-tokens', '60000']);
    expect(run.code).toBe(3);
    expect(own.model.requests.length).toBe(4);
    expect(envelopeOf(run).error).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      message: expect.stringMatching(
        /^the limit tree_tokens = 60000 is reached \(3000 used\); the last answer was cut off after \d+ tokens$/,
      ),
    });
  });
});

it('a budget too small for the first prompt of a child is refused: no request, no task', async () => {
  await using own = await world(
    (request) => (toolResultRounds(request) > 0 ? { text: 'done' } : { toolCalls: [task('part')] }),
    { config: '[task_tool]\nmax_tokens = 2500' },
  );
  const run = await own.run(GO);
  expect(run.code).toBe(0);
  expect(own.model.requests.filter((request) => !isMain(request))).toEqual([]);
  expect(eventsOf(run).filter(({ type }) => type === 'child.created')).toEqual([]);
  expect(own.model.requests.at(-1)?.messages.at(-1)?.toolResults).toEqual([
    expect.objectContaining({
      isError: true,
      text: expect.stringMatching(
        /LIMIT_EXCEEDED: the limit max_tokens = 2500 leaves no room for the next request \(0 used, up to \d{4} needed\)/,
      ),
    }),
  ]);
});

it('a run whose budget is too small for its first prompt ends at once, with exit code 3', async () => {
  await using own = await world(() => ({ text: 'never said' }));
  const run = await own.run([...GO, '--max-tokens', '3000']);
  expect(run.code).toBe(3);
  expect(own.model.requests).toEqual([]);
  expect(envelopeOf(run).error?.message).toMatch(
    /^the limit tree_tokens = 3000 leaves no room for the next request \(0 used, up to \d+ needed\)$/,
  );
});

it('a run is notified at 50 % and at 80 % of its tokens, and has a last turn without tools', async () => {
  let rounds = 0;
  await using own = await world((request) => {
    if (request.toolChoice === 'none') return { text: 'as far as I got' };
    rounds += 1;
    const path = `${rounds}`;
    return {
      toolCalls: [{ name: 'LS', input: { path } }],
      usage: { input: 9_000, output: 1_000 },
    };
  });
  const run = await own.run([...GO, '--max-tokens', '108000']);
  expect(run.code).toBe(3);
  expect(envelopeOf(run)).toMatchObject({
    data: { result: 'as far as I got', turns: 10 },
    error: {
      code: 'LIMIT_EXCEEDED',
      message: expect.stringMatching(
        /tree_tokens = 108000 leaves no room for another turn and a last answer \(\d+ used/,
      ),
    },
  });
  const rerun = await own.run(['tasks', 'rerun', envelopeOf(run).data.task_id]);
  expect([rerun.code, rerun.stderr]).toEqual([0, '']);
  const { requests } = own.model;
  const firstTold = (what: string) => requests.findIndex((each) => told(each).includes(what));
  expect(firstTold('50 % of tree_tokens = 108000 is used (60000).')).toBe(6);
  expect(firstTold('80 % of tree_tokens = 108000 is used (90000).')).toBe(9);
  expect(firstTold('Stop here: the limit tree_tokens = 108000')).toBe(9);
  const last = told(requests.at(-1));
  expect(last.match(/% of tree_tokens/g)?.length).toBe(2);
  expect(requests.map(({ toolChoice }) => toolChoice === 'none')).toEqual([
    ...Array.from({ length: 9 }, () => false),
    true,
  ]);
});

it('retries after a broken answer that cost something neither overspend nor ask for budget that is used up', async () => {
  await using own = await world(() => ({
    text: 'word '.repeat(3_000),
    chunks: 20,
    fault: { kind: 'truncate', afterEvents: 18 },
  }));
  // Room for two tries of 4,096 tokens of output, and then for one more with fewer.
  const run = await own.run([...GO, '--max-tokens', '17300']);
  expect(run.code).toBe(3);
  const caps = own.model.requests.map(({ maxOutputTokens }) => maxOutputTokens ?? 0);
  expect(caps.slice(0, 2)).toEqual([4_096, 4_096]);
  expect(caps.length).toBe(3);
  expect(caps[2]).toBeGreaterThanOrEqual(2_048);
  expect(caps[2]).toBeLessThan(4_096);
  expect(paid(run)).toBeLessThanOrEqual(17_300);
  expect(envelopeOf(run).error?.message).toMatch(/^the limit tree_tokens = 17300 leaves no room/);
  const rerun = await own.run(['tasks', 'rerun', envelopeOf(run).data.task_id]);
  expect([rerun.code, rerun.stderr]).toEqual([0, '']);
});

describe('a cap on cost', () => {
  const priced = `output_limit = ${OUTPUT_LIMIT}\nprice_input = 1\nprice_output = 10`;

  it('ends a run before it is exceeded, from a flag', async () => {
    await using own = await world(
      () => ({ toolCalls: [LS], usage: { input: 10_000, output: 8_000 } }),
      { model: priced },
    );
    // 0.09 a turn.
    const run = await own.run([...GO, '--max-cost-usd', '0.2']);
    expect(run.code).toBe(3);
    expect(own.model.requests.length).toBe(2);
    expect(envelopeOf(run).error?.message).toMatch(/^the limit tree_cost_usd = 0\.2 /);
  });

  it('ends a child by the configuration, and by its definition', async () => {
    await using own = await world(
      (request) => {
        if (isMain(request)) {
          if (toolResultRounds(request) > 0) return { text: 'done' };
          return {
            toolCalls: [
              task('part'),
              { name: 'Task', input: { prompt: 'part', subagent_type: 'cheap' } },
            ],
          };
        }
        return { text: 'so far', toolCalls: [LS], usage: { input: 10_000, output: 8_000 } };
      },
      { model: priced, config: '[task_tool]\nmax_cost_usd = 0.3' },
    );
    own.sandbox.write(
      '.muster/agents/cheap.md',
      '---\nname: cheap\ndescription: x\ntools: LS\nmax-cost-usd: 0.1\n---\nYou.\n',
    );
    const run = await own.run([...GO, '--trust-project']);
    expect(run.code).toBe(0);
    const results = own.model.requests.at(-1)?.messages.at(-1)?.toolResults ?? [];
    expect(results.map(({ text }) => /the limit max_cost_usd = [\d.]+/.exec(text)?.[0])).toEqual([
      'the limit max_cost_usd = 0.3',
      'the limit max_cost_usd = 0.1',
    ]);
  });

  it('that cannot be enforced, because the model has no price, is refused before any request', async () => {
    await using own = await world(() => ({ text: 'never said' }));
    const run = await own.run([...GO, '--max-cost-usd', '5']);
    expect(run.code).toBe(3);
    expect(own.model.requests).toEqual([]);
    expect(envelopeOf(run).error?.message).toMatch(
      /^the limit tree_cost_usd = 5 can't be kept: no price is known for own\/fake-model\. .*price_input/,
    );
  });

  it('does not stop the offline engine, which costs nothing', async () => {
    await using own = await openWorld({ files: { 'a.txt': 'content' } });
    const args = ['-p', 'Which file has content?', '--model', 'offline', '--max-cost-usd', '1'];
    const run = await own.run(args);
    expect(run.code).toBe(0);
  });
});

it('--max-seconds cuts off a last answer that takes too long, also under its former name', async () => {
  await using own = await world((request) =>
    isMain(request)
      ? {
          text: 'so far',
          ...(request.toolChoice === 'none' ? { delayMs: 60_000 } : { toolCalls: [task('slow')] }),
        }
      : { delayMs: 60_000, text: '' },
  );
  const run = await own.run([...GO, '--max-wall-seconds', '6']);
  expect(run.code).toBe(3);
  const { data, error } = envelopeOf(run);
  expect(data.result).toBe('so far');
  expect(error?.message).toMatch(
    /^the limit tree_wall_seconds = 6 is reached \(\d+(?:\.\d+)? used\); the 0\.6 s for a last answer are over$/,
  );
});

it('--max-tasks bounds the subagents of a run', async () => {
  await using own = await world((request) => {
    if (!isMain(request)) return { text: 'ok' };
    if (toolResultRounds(request) > 0) return { text: 'done' };
    return { toolCalls: [task('one'), task('two'), task('three')] };
  });
  const run = await own.run([...GO, '--max-tasks', '2']);
  expect(run.code).toBe(0);
  const results = own.model.requests.at(-1)?.messages.at(-1)?.toolResults ?? [];
  expect(results.filter(({ text }) => text.includes('max_tasks = 2')).length).toBe(1);
  const prompts = own.model.requests.filter((each) => !isMain(each)).map(lastUserText);
  expect(prompts.length).toBe(2);
});

it('a trusted project narrows a budget and never widens it', async () => {
  await using own = await world(() => ({ text: 'never said' }), {
    config: '[budget]\ntree_turns = 4\ntree_tool_bytes = 100',
  });
  own.sandbox.write('.muster/config.toml', '[budget]\ntree_turns = 9\ntree_tool_bytes = 50\n');
  const run = await own.run(['config', 'show', '--trust-project']);
  expect(run.stdout).toMatch(/budget\.tree_turns\s*=?\s*4\b/);
  expect(run.stdout).toMatch(/budget\.tree_tool_bytes\s*=?\s*50\b/);
  expect(run.stderr).toContain('a project cannot widen budget.tree_turns from your 4 to 9');
});

it('a notice is in the history once, also after kill -9 of everything', async () => {
  let hang = true;
  await using own = await world((request) => {
    const rounds = toolResultRounds(request);
    if (request.toolChoice === 'none') return { text: 'as far as I got' };
    if (rounds === 3 && hang) return { fault: { kind: 'hang' } };
    return { toolCalls: [{ name: 'LS', input: { path: `${rounds}` } }] };
  });
  const first = own.start([...GO, '--max-turns', '5']);
  await own.model.received(4);
  first.process.kill('SIGKILL');
  await first.finished;
  hang = false;
  const second = await own.run(['--continue', '--output-format', 'json']);
  expect(second.code).toBe(3);
  const { requests } = own.model;
  expect(JSON.stringify(requests[4]?.body)).toBe(JSON.stringify(requests[3]?.body));
  expect(told(requests[3])).toMatch(/50 % of max_turns = 5 is used \(3\)/);
  const last = told(requests.at(-1));
  expect(last.match(/% of max_turns = 5/g)?.length).toBe(2);
  expect(last).toMatch(/80 % of max_turns = 5 is used \(4\)/);
});

it('a request with a lowered output cap is the same again after kill -9', async () => {
  let hang = true;
  await using own = await world(
    (request) => {
      if (toolResultRounds(request) === 0) return { toolCalls: [LS] };
      return hang ? { fault: { kind: 'hang' } } : { text: 'done' };
    },
    { model: 'output_limit = 32000', config: '[budget]\ntree_tokens = 50000' },
  );
  const first = own.start(GO);
  await own.model.received(2);
  first.process.kill('SIGKILL');
  await first.finished;
  hang = false;
  const second = await own.run(['--continue', '--output-format', 'json']);
  expect(second.code).toBe(0);
  const { requests } = own.model;
  expect(requests[1]?.maxOutputTokens).toBeLessThan(32_000);
  expect(JSON.stringify(requests[2]?.body)).toBe(JSON.stringify(requests[1]?.body));
});

describe('max_processes', () => {
  const config = '[budget]\nmax_processes = 1';
  const bash = (command: string, background: boolean): AnswerToolCall => ({
    name: 'Bash',
    input: { command, run_in_background: background },
  });
  const results = ({ model }: World) =>
    model.requests.flatMap(({ messages }) =>
      messages.flatMap(({ toolResults }) => toolResults.map(({ text }) => text)),
    );

  it('lets commands queue', async () => {
    const both =
      'mkdir lane && rmdir lane && sleep 0.1 && mkdir lane && sleep 0.2 && rmdir lane && echo fine';
    await using own = await world(
      (request) =>
        toolResultRounds(request) > 0
          ? { text: 'done' }
          : { toolCalls: [bash(both, false), bash(both, false), bash(both, false)] },
      { config },
    );
    await own.run([...GO, '--allow', 'Bash', '--permission-mode', 'autonomous']);
    expect(results(own).filter((text) => text.startsWith('fine')).length).toBe(3);
  });

  it('refuses a shell in the background, and a command behind such shells alone', async () => {
    await using own = await world(
      (request) => {
        const rounds = toolResultRounds(request);
        if (rounds === 0) return { toolCalls: [bash('sleep 30', true)] };
        if (rounds === 1) return { toolCalls: [bash('sleep 30', true)] };
        if (rounds === 2) return { toolCalls: [bash('echo never', false)] };
        return { text: 'done' };
      },
      { config },
    );
    await own.run([...GO, '--allow', 'Bash', '--permission-mode', 'autonomous']);
    const [started, ...refused] = results(own).slice(-3);
    expect(started).toMatch(/runs in the background/);
    expect(refused).toEqual([
      expect.stringMatching(/the limit max_processes = 1 is reached/),
      expect.stringMatching(
        /the limit max_processes = 1 is reached.*all of them in the background/,
      ),
    ]);
  });
});
