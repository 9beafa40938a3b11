import { createServer } from 'node:net';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import type { UsageTotal } from '../../src/protocol/state/ledger.ts';
import {
  lastUserText,
  toolResultRounds,
  type Answer,
  type RecordedRequest,
} from '../../src/testing/index.ts';
import { traceparentOfCall } from '../../src/telemetry/trace-ids.ts';
import { decodeSpans, Receiver, type Manner } from '../telemetry/receiver.ts';
import { findOrphans, toSpanTrees } from '../telemetry/span-tree.ts';
import { envelopeOf, runMuster } from './muster.ts';
import { waitUntilPasses } from '../wait-until-passes.ts';
import { bash, openWorld, type World } from './world.ts';

const READ = { name: 'Read', input: { file_path: 'a.txt' } };
const FILES = { 'a.txt': 'alpha' };

function isChild(request: RecordedRequest): boolean {
  return lastUserText(request).startsWith('part');
}

function task(extra: JsonObject = {}) {
  return { name: 'Task', input: { prompt: 'part 1', subagent_type: 'Explore', ...extra } };
}

/** The main agent delegates once, and its child reads a file. */
function delegate(extra: JsonObject = {}) {
  return (request: RecordedRequest): Answer => {
    const rounds = toolResultRounds(request);
    if (isChild(request)) return rounds === 0 ? { toolCalls: [READ] } : { text: 'alpha' };
    return rounds === 0 ? { toolCalls: [task(extra)] } : { text: 'It is done.' };
  };
}

function configure(world: World, text: string): void {
  const directory = join(world.sandbox.home, '.config/muster');
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'config.toml'), text);
}

async function readTrace(world: World, id: string) {
  const { stdout } = await runMuster(world.sandbox, ['tasks', 'trace', id]);
  return decodeSpans(JSON.parse(stdout));
}

/** The tokens and the cost in the newest metrics, as `muster usage` counts them. */
function sumPoints({ points }: Receiver) {
  const sum = (metric: string, type?: string) =>
    points
      .filter((point) => point.metric === metric)
      .filter(({ attributes }) => type === undefined || attributes['gen_ai.token.type'] === type)
      .reduce((total, { value }) => total + value, 0);
  return {
    input: sum('gen_ai.client.token.usage', 'input'),
    output: sum('gen_ai.client.token.usage', 'output'),
    costUsd: sum('muster.cost'),
  };
}

/** The tokens and the cost of all chat spans. A span that was sent twice counts once. */
function sumSpans({ byId }: Receiver) {
  const chats = [...byId.values()].filter(({ name }) => name.startsWith('chat '));
  const sum = (key: string) =>
    chats.reduce((total, { attributes }) => total + Number(attributes[key]), 0);
  return {
    input: sum('gen_ai.usage.input_tokens'),
    output: sum('gen_ai.usage.output_tokens'),
    costUsd: sum('muster.cost.usd'),
  };
}

async function readUsage(world: World) {
  const { stdout } = await runMuster(world.sandbox, ['usage', '--json']);
  const { total } = JSON.parse(stdout);
  const all: readonly (UsageTotal & { readonly knownCostUsd: number })[] = [
    total.reported,
    total.estimated,
  ];
  const sum = (count: (each: (typeof all)[number]) => number) =>
    all.reduce((result, each) => result + count(each), 0);
  return {
    input: sum(({ usage }) => usage.input + usage.cacheRead + usage.cacheWrite),
    output: sum(({ usage }) => usage.output),
    costUsd: sum(({ knownCostUsd }) => knownCostUsd),
  };
}

function rounded({ costUsd, ...tokens }: { input: number; output: number; costUsd: number }) {
  return { ...tokens, costUsd: costUsd.toFixed(9) };
}

describe.concurrent('traces and metrics', () => {
  it.each([
    ['in the foreground', {}],
    ['in the background', { run_in_background: true }],
    ['in a process of its own', { isolation: 'process' }],
  ])('agree with the tree, its log and muster usage for a child %s', async (_, extra) => {
    await using receiver = await Receiver.open();
    await using world = await openWorld({ files: FILES, script: delegate(extra) });
    const done = await world.run(['-p', 'go', '--output-format', 'json'], { env: receiver.env });
    expect([done.code, done.stderr]).toEqual([0, '']);
    const { task_id: id } = envelopeOf(done).data;
    expect(findOrphans(receiver.spans)).toEqual([]);
    expect(new Set(receiver.spans.map(({ traceId }) => traceId)).size).toBe(1);
    const [tree, ...others] = toSpanTrees(receiver.spans);
    expect([tree?.name, others]).toEqual(['invoke_agent main', []]);
    const call = tree?.children.find(({ name }) => name === 'execute_tool Task');
    expect(call?.children.map(({ name }) => name)).toEqual(['invoke_agent Explore']);
    expect(new Map((await readTrace(world, id)).map((span) => [span.spanId, span]))).toEqual(
      receiver.byId,
    );
    const usage = rounded(await readUsage(world));
    expect(rounded(sumPoints(receiver))).toEqual(usage);
    expect(rounded(sumSpans(receiver))).toEqual(usage);
    expect(receiver.faults).toEqual([]);
  });

  it('have a span for each item of a template below the span of its run', async () => {
    await using receiver = await Receiver.open();
    const template = '---\nname: count\ndescription: Counts.\n---\nItem {{item}}';
    await using world = await openWorld({
      files: { '.muster/templates/count.md': template, 'items.txt': 'a\nb\nc\n' },
      script: () => ({ text: 'done' }),
    });
    const args = ['run', 'count', '--items', 'items.txt', '--trust-project'];
    const done = await world.run(args, { env: receiver.env });
    expect(done.code).toBe(0);
    const [tree, ...others] = toSpanTrees(receiver.spans);
    expect([tree?.name, others]).toEqual(['invoke_agent count', []]);
    expect(tree?.children.map(({ name }) => name.split(' ')[0])).toEqual(
      Array.from({ length: 3 }, () => 'invoke_agent'),
    );
    expect(rounded(sumPoints(receiver))).toEqual(rounded(await readUsage(world)));
    expect(receiver.faults).toEqual([]);
  });

  it.each([
    ['before anything was sent', 0],
    ['after the first spans were sent', 1],
  ])('have no orphans after kill -9 %s and a resume', async (_, sent) => {
    await using receiver = await Receiver.open();
    let hang = true;
    await using world = await openWorld({
      files: FILES,
      script: (request) => {
        const rounds = toolResultRounds(request);
        const isSecond = lastUserText(request).startsWith('part 2');
        if (isSecond && hang) return { fault: { kind: 'hang' } };
        if (isChild(request)) return rounds === 0 ? { toolCalls: [READ] } : { text: 'alpha' };
        if (rounds === 0) return { toolCalls: [task()] };
        const background = { prompt: 'part 2', run_in_background: true };
        return rounds === 1 ? { toolCalls: [task(background)] } : { text: 'It is done.' };
      },
    });
    const first = world.start(['-p', 'go'], { env: receiver.env });
    // The answer to the second call is there, and its child waits for an answer.
    await world.model.received(6);
    await waitUntilPasses(() => expect(receiver.spans.length).toBeGreaterThanOrEqual(sent));
    first.process.kill('SIGKILL');
    await first.finished;
    hang = false;
    const second = await world.run(['--continue', '--output-format', 'json'], {
      env: receiver.env,
    });
    expect([second.code, second.stderr]).toEqual([0, '']);
    const { task_id: id } = envelopeOf(second).data;
    const spans = [...receiver.byId.values()];
    expect(findOrphans(spans)).toEqual([]);
    expect(toSpanTrees(spans).map(({ name }) => name)).toEqual(['invoke_agent main']);
    for (const span of receiver.spans) expect(span).toEqual(receiver.byId.get(span.spanId));
    expect(new Map((await readTrace(world, id)).map((span) => [span.spanId, span]))).toEqual(
      receiver.byId,
    );
    expect(rounded(sumSpans(receiver))).toEqual(rounded(await readUsage(world)));
  });

  it('link each message of a conversation to the one before it, in one trace', async () => {
    await using receiver = await Receiver.open();
    await using world = await openWorld({ script: () => ({ text: 'yes' }) });
    await world.run(['-p', 'one'], { env: receiver.env });
    await world.run(['--continue', '-p', 'two'], { env: receiver.env });
    const roots = receiver.spans.filter(({ name }) => name.startsWith('invoke_agent'));
    expect(roots.map(({ links, parentSpanId }) => [links, parentSpanId])).toEqual([
      [[], null],
      [[roots[0]?.spanId], null],
    ]);
    expect(roots[1]?.traceId).toBe(roots[0]?.traceId);
    expect(findOrphans(receiver.spans)).toEqual([]);
  });

  it('continue the trace of the caller, also after a resume, and pass it on to commands', async () => {
    await using receiver = await Receiver.open();
    const outer = '00-0123456789abcdef0123456789abcdef-0123456789abcdef-01';
    await using world = await openWorld({
      bare: true,
      script: (request) =>
        toolResultRounds(request) === 0
          ? { toolCalls: [bash('printf "%s" "$TRACEPARENT" > seen.txt')] }
          : { text: 'done' },
    });
    const done = await world.run(['-p', 'go', '--output-format', 'json'], {
      env: { ...receiver.env, TRACEPARENT: outer },
    });
    const { task_id: id } = envelopeOf(done).data;
    const call = receiver.spans.find(({ name }) => name === 'execute_tool Bash');
    const callId = String(call?.attributes['gen_ai.tool.call.id']);
    const seen = readFileSync(join(world.sandbox.workspace, 'seen.txt'), 'utf8');
    expect(seen).toBe(traceparentOfCall({ id, root: id, traceparent: outer }, callId));
    expect(seen).toBe(`00-0123456789abcdef0123456789abcdef-${call?.spanId}-01`);
    // A resume in another environment keeps the trace.
    await world.run(['--continue', '-p', 'again'], { env: receiver.env });
    const roots = receiver.spans.filter(({ name }) => name.startsWith('invoke_agent'));
    expect(roots.map(({ traceId, parentSpanId }) => [traceId, parentSpanId])).toEqual(
      Array.from({ length: 2 }, () => ['0123456789abcdef0123456789abcdef', '0123456789abcdef']),
    );
  });

  it('are not sent for a caller that does not want its trace to be recorded', async () => {
    await using receiver = await Receiver.open();
    await using world = await openWorld({ script: () => ({ text: 'done' }) });
    const outer = '00-0123456789abcdef0123456789abcdef-0123456789abcdef-00';
    await world.run(['-p', 'go'], { env: { ...receiver.env, TRACEPARENT: outer } });
    expect([receiver.spans, receiver.points.length > 0]).toEqual([[], true]);
  });

  it('contain prompts, answers, arguments and results only if the configuration says so', async () => {
    await using receiver = await Receiver.open();
    await using world = await openWorld({ files: FILES, script: delegate() });
    const secrets = ['SECRET-PROMPT', 'part 1', 'a.txt', 'alpha', 'It is done.'];
    await world.run(['-p', 'SECRET-PROMPT'], { env: receiver.env });
    const without = JSON.stringify(receiver.requests);
    expect(secrets.filter((secret) => without.includes(secret))).toEqual([]);
    receiver.requests.length = 0;
    configure(world, '[otel]\ncontent = true\n');
    await world.run(['-p', 'SECRET-PROMPT'], { env: receiver.env });
    const withContent = JSON.stringify(receiver.requests);
    expect(secrets.filter((secret) => !withContent.includes(secret))).toEqual([]);
    const read = receiver.spans.find(({ name }) => name === 'execute_tool Read');
    expect(read?.attributes).toMatchObject({
      'gen_ai.tool.call.arguments': '{"file_path":"a.txt"}',
      'gen_ai.tool.call.result': expect.stringContaining('alpha'),
    });
    expect(receiver.faults).toEqual([]);
  });

  it('are configured by the user and never by a project', async () => {
    await using receiver = await Receiver.open();
    await using world = await openWorld({
      files: { '.muster/config.toml': `[otel]\nendpoint = "${receiver.url}"\n` },
      script: () => ({ text: 'done' }),
    });
    const project = await world.run(['-p', 'go', '--trust-project']);
    expect(project.stderr).toContain('a project cannot set otel.endpoint');
    expect(receiver.requests).toEqual([]);
    configure(world, `[otel]\nendpoint = "${receiver.url}/base/"\nheaders_env = "MY_HEADERS"\n`);
    const env = {
      MY_HEADERS: 'authorization=Bearer%20top-secret-key,x-team=a',
      OTEL_SERVICE_NAME: 'robot',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    };
    await world.run(['-p', 'go'], { env });
    const [request] = receiver.requests;
    expect([request?.path, request?.headers['authorization'], request?.headers['x-team']]).toEqual([
      '/base/v1/traces',
      'Bearer top-secret-key',
      'a',
    ]);
    expect(JSON.stringify(request?.body)).toContain(
      '{"key":"service.name","value":{"stringValue":"robot"}}',
    );
    receiver.requests.length = 0;
    await world.run(['-p', 'go'], { env: { ...env, OTEL_SDK_DISABLED: 'true' } });
    expect(receiver.requests).toEqual([]);
  });
});

const MANNERS: readonly (readonly [string, Manner, string])[] = [
  ['hangs', { kind: 'hang' }, 'it did not answer in time'],
  ['is overloaded', { kind: 'status', status: 503 }, 'it answered with status 503'],
  ['fails', { kind: 'status', status: 500 }, 'it answered with status 500'],
];

describe.concurrent('a receiver that', () => {
  it.each(MANNERS)('%s neither breaks a run nor delays its answer', async (_, manner, reason) => {
    await using receiver = await Receiver.open(manner);
    await using world = await openWorld({ files: FILES, script: delegate() });
    const { code, stdout, stderr } = await world.run(['-p', 'go'], { env: receiver.env });
    const notice = `muster: telemetry: 8 spans and the metrics could not be delivered to ${receiver.url}/v1/traces: ${reason}\n`;
    expect([code, stdout, stderr]).toEqual([0, 'It is done.\n', notice]);
  });

  it('redirects gets nothing sent to the other address', async () => {
    await using other = await Receiver.open();
    await using receiver = await Receiver.open({ kind: 'redirect', to: `${other.url}/v1/traces` });
    await using world = await openWorld({ script: () => ({ text: 'done' }) });
    const { code, stderr } = await world.run(['-p', 'go'], { env: receiver.env });
    expect([code, stderr]).toEqual([0, expect.stringContaining('it answered with status 307')]);
    expect(other.requests).toEqual([]);
  });

  it('is not there is named once', async () => {
    const server = createServer();
    const port = await new Promise<number>((done) => {
      server.listen(0, '127.0.0.1', () => {
        const address = server.address();
        done(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
    await new Promise((done) => {
      server.close(done);
    });
    await using world = await openWorld({ script: () => ({ text: 'done' }) });
    const url = `http://127.0.0.1:${port}`;
    const { code, stderr } = await world.run(['-p', 'go'], {
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: url },
    });
    const notice = `muster: telemetry: 2 spans and the metrics could not be delivered to ${url}/v1/traces: connect ECONNREFUSED 127.0.0.1:${port}\n`;
    expect([code, stderr]).toEqual([0, notice]);
  });

  it('has no usable address is named, and the run goes on', async () => {
    await using world = await openWorld({ script: () => ({ text: 'done' }) });
    const { code, stderr } = await world.run(['-p', 'go'], {
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'localhost:4317' },
    });
    expect([code, stderr]).toEqual([
      0,
      'muster: telemetry: nothing is exported: OTEL_EXPORTER_OTLP_ENDPOINT must be an address like http://localhost:4318\n',
    ]);
  });
});

describe.concurrent('muster tasks trace', () => {
  it('sends the spans of a finished tree, the same as a live export', async () => {
    await using receiver = await Receiver.open();
    await using world = await openWorld({ files: FILES, script: delegate() });
    const done = await world.run(['-p', 'go', '--output-format', 'json']);
    const { task_id: id } = envelopeOf(done).data;
    const unknown = await runMuster(world.sandbox, ['tasks', 'trace', id, '--send']);
    expect([unknown.code, unknown.stderr]).toEqual([
      2,
      expect.stringContaining('no receiver of traces is known'),
    ]);
    const sent = await runMuster(world.sandbox, ['tasks', 'trace', id, '--send'], {
      env: receiver.env,
    });
    expect([sent.code, sent.stdout]).toEqual([0, `8 spans sent to ${receiver.url}/v1/traces\n`]);
    expect(receiver.spans).toEqual(await readTrace(world, id));
    receiver.manner = { kind: 'status', status: 400 };
    const refused = await runMuster(world.sandbox, ['tasks', 'trace', id, '--send'], {
      env: receiver.env,
    });
    expect([refused.code, refused.stderr]).toEqual([
      1,
      `muster: PROVIDER_ERROR: ${receiver.url}/v1/traces: it answered with status 400; 0 of 8 spans were sent\n`,
    ]);
  });

  it('marks the spans of a task that has not ended', async () => {
    await using world = await openWorld({ script: () => ({ fault: { kind: 'hang' } }) });
    const running = world.start(['-p', 'go']);
    await world.model.received(1);
    running.process.kill('SIGKILL');
    await running.finished;
    const [id = ''] = readdirSync(join(world.sandbox.data, 'tasks'));
    const spans = await readTrace(world, id.slice(0, 12));
    expect(spans.map(({ name, attributes }) => [name, attributes['muster.unfinished']])).toEqual([
      ['chat claude-sonnet-5', true],
      ['invoke_agent main', true],
    ]);
  });
});
