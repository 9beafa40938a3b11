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

describe.each(PROTOCOLS)('8 children with 35,000 tokens of the tree left, over %s', (protocol) => {
  it('make 3 requests of 10,000 and never a fourth, and the run ends as partial', async () => {
    await using own = await world(
      (request) => {
        if (!isMain(request)) {
          return { delayMs: 50, text: 'ok', usage: { input: 2_000, output: OUTPUT_LIMIT } };
        }
        const toolCalls = Array.from({ length: 8 }, (_, n) => task(`part ${n}`));
        return { toolCalls, usage: { input: 4_000, output: 1_000 } };
      },
      { protocol },
    );
    const run = await own.run([...GO, '--max-tokens', '40000']);
    const children = own.model.requests.filter((request) => !isMain(request));
    expect(children.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([8_000, 8_000, 8_000]);
    expect(run.code).toBe(3);
    expect(envelopeOf(run)).toMatchObject({
      status: 'partial',
      error: {
        code: 'LIMIT_EXCEEDED',
        message: expect.stringMatching(/^the limit tree_tokens = 40000 .*\(35000 used/),
      },
    });
    const results = eventsOf(run).flatMap((event) =>
      event.type === 'call.ended' && event.tool === 'Task' ? [event.text] : [],
    );
    expect(results.length).toBe(8);
    const refused = results.filter((text) => /LIMIT_EXCEEDED.*tree_tokens = 40000/.test(text));
    expect(refused.length).toBe(5);
    const ends = eventsOf(run).flatMap((event) =>
      event.type === 'child.ended' ? [event.status] : [],
    );
    expect(ends.filter((status) => status === 'completed').length).toBe(3);
  });
});

it('a budget too small for the first prompt of a child is refused: no request, no task', async () => {
  await using own = await world(
    (request) => (toolResultRounds(request) > 0 ? { text: 'done' } : { toolCalls: [task('part')] }),
    { config: '[task_tool]\nmax_tokens = 9000' },
  );
  const run = await own.run(GO);
  expect(run.code).toBe(0);
  expect(own.model.requests.filter((request) => !isMain(request))).toEqual([]);
  expect(eventsOf(run).filter(({ type }) => type === 'child.created')).toEqual([]);
  expect(own.model.requests.at(-1)?.messages.at(-1)?.toolResults).toEqual([
    expect.objectContaining({
      isError: true,
      text: expect.stringMatching(
        /LIMIT_EXCEEDED: the limit max_tokens = 9000 leaves no room for the next request \(0 used, up to \d{5} needed, most of it for an answer of 8000 tokens, the output limit of own\/fake-model\)/,
      ),
    }),
  ]);
});

it('a run whose budget is too small for its first prompt ends at once, with exit code 3', async () => {
  await using own = await world(() => ({ text: 'never said' }));
  const run = await own.run([...GO, '--max-tokens', '8000']);
  expect(run.code).toBe(3);
  expect(own.model.requests).toEqual([]);
  expect(envelopeOf(run).error?.message).toMatch(
    /^the limit tree_tokens = 8000 leaves .* A lower output_limit in \[models\.catalogue\."own\/fake-model"\] of your configuration needs less$/,
  );
});

it('a run is told at 50 and at 80 % of its tokens, and has a last turn without tools', async () => {
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
    error: { code: 'LIMIT_EXCEEDED', message: expect.stringMatching(/tree_tokens = 108000/) },
  });
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

it('a broken answer that cost something does not let its retry overspend', async () => {
  await using own = await world(() => ({
    text: 'x'.repeat(80_000),
    chunks: 20,
    fault: { kind: 'truncate', afterEvents: 18 },
    usage: { input: 4_000, output: 8_000 },
  }));
  // Room for two tries as they are reserved, and for one of what they turn out to cost.
  const run = await own.run([...GO, '--max-tokens', '26000']);
  expect(run.code).toBe(3);
  expect(own.model.requests.length).toBe(1);
  expect(envelopeOf(run).error?.message).toMatch(/^the limit tree_tokens = 26000 leaves no room/);
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

  it('that cannot be kept, for a model without a price, is refused before any request', async () => {
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

it('--max-wall-seconds ends the run with what it has, and all below it', async () => {
  await using own = await world((request) =>
    isMain(request) ? { text: 'so far', toolCalls: [task('slow')] } : { delayMs: 30_000, text: '' },
  );
  const run = await own.run([...GO, '--max-wall-seconds', '1']);
  expect(run.code).toBe(3);
  expect(envelopeOf(run)).toMatchObject({
    data: { result: 'so far' },
    error: { code: 'LIMIT_EXCEEDED', message: 'the limit tree_wall_seconds = 1 is reached' },
  });
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

it('a notice stands once in the history, also after kill -9 of everything', async () => {
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
      expect.stringMatching(/the limit max_processes = 1 is reached.*all in the background/),
    ]);
  });
});
