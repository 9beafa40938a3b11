import { describe, expect, it } from 'vitest';
import {
  firstUserText,
  toolResultRounds,
  WIRE_PROTOCOLS,
  type Answer,
  type Fault,
  type RecordedRequest,
  type WireProtocol,
} from '../../src/testing/index.ts';
import { envelopeOf, eventsOf } from './muster.ts';
import { openWorld, type World } from './world.ts';

/** A model of each protocol's provider, by its whole name. */
const MODELS: Readonly<Record<WireProtocol, string>> = {
  anthropic: 'anthropic/claude-one',
  responses: 'openai/gpt-two',
  chat: 'llm/chat-three',
  google: 'google/gemini-four',
};

const READ_A = { name: 'Read', input: { file_path: 'a.txt' } };

function environment({ model }: World): Record<string, string> {
  const all = WIRE_PROTOCOLS.map((protocol) => model.env(protocol));
  // What has a key of its own has rate limits of its own.
  const keys = { OPENAI_API_KEY: 'another-key' };
  return { ...Object.assign({}, ...all), ...keys, MUSTER_PROVIDER_RETRIES: '1' };
}

function flags(first: string, ...fallbacks: readonly string[]): readonly string[] {
  const named = fallbacks.length === 0 ? [] : ['--fallback-model', fallbacks.join(',')];
  return ['-p', 'go', '--model', first, ...named, '--output-format', 'stream-json'];
}

function idOf(name: string): string {
  return name.slice(name.indexOf('/') + 1);
}

/** The first answer is good, what this model is asked after it goes wrong; all others answer. */
function failingAfterFirst(id: string, fault: Fault): (request: RecordedRequest) => Answer {
  return (request) => {
    if (request.model !== id) return { text: 'done' };
    if (toolResultRounds(request) > 0) return { fault };
    return { thinking: 'a secret thought', toolCalls: [READ_A] };
  };
}

function modelsAsked({ model }: World): readonly (string | null)[] {
  return model.requests.map((request) => request.model);
}

describe.concurrent('a model that fails', () => {
  it.each(WIRE_PROTOCOLS.flatMap((from) => WIRE_PROTOCOLS.map((to) => [from, to] as const)))(
    'over %s is replaced by another over %s, which gets nothing that only the first one understands',
    async (from, to) => {
      const first = MODELS[from];
      const second = from === to ? `${MODELS[to]}-b` : MODELS[to];
      await using world = await openWorld({
        files: { 'a.txt': 'alpha' },
        script: failingAfterFirst(idOf(first), { kind: 'status', status: 529 }),
      });
      const run = await world.run(flags(first, second), { env: environment(world) });
      expect([run.code, run.stderr]).toEqual([
        0,
        expect.stringMatching(`^! [^\\n]*${first} failed and ${second} goes on in its place:`),
      ]);
      const [one, two] = [idOf(first), idOf(second)];
      expect(modelsAsked(world)).toEqual([one, one, one, two]);
      expect(world.model.requests[3]?.rawBody).toContain('alpha');
      expect(world.model.requests[3]?.rawBody).not.toContain('a secret thought');
      const { data, text } = envelopeOf(run);
      expect(data).toMatchObject({
        result: 'done',
        model_used: second,
        receipt: { models: [first, second] },
      });
      expect(text).toContain(`[Note: ${first} failed and ${second} goes on in its place:`);
      expect(eventsOf(run).filter(({ type }) => type === 'terms.changed')).toMatchObject([
        { fallback: { from: first, failure: 'overloaded' } },
      ]);
    },
  );

  it.each<readonly [string, Fault, number]>([
    ['that does not exist, at once', { kind: 'status', status: 404 }, 1],
    ['that breaks off, after its retries', { kind: 'truncate' }, 2],
    [
      'that asks to wait for an hour, at once',
      { kind: 'status', status: 429, retryAfterSeconds: 3600 },
      1,
    ],
    [
      'that is limited again and again',
      { kind: 'status', status: 429, retryAfterSeconds: 0.01 },
      2,
    ],
  ])('is gone on for: %s', async (_, fault, requests) => {
    await using world = await openWorld({
      script: ({ model }) => (model === 'gpt-two' ? { text: 'done' } : { fault }),
    });
    const run = await world.run(flags(MODELS.anthropic, MODELS.responses), {
      env: environment(world),
    });
    expect(run.code).toBe(0);
    expect(modelsAsked(world)).toEqual([
      ...Array.from({ length: requests }, () => 'claude-one'),
      'gpt-two',
    ]);
  });

  it('is replaced by a sibling that would have to wait for the same rate limit', async () => {
    await using world = await openWorld({
      script: (request) => {
        if (request.model === 'gpt-two') return { text: 'done' };
        const told = request.messages.some(({ toolResults }) => toolResults.length > 0);
        const isMain = firstUserText(request).includes('go');
        if (isMain && told) return { text: 'all done' };
        const task = (prompt: string) => ({
          name: 'Task',
          input: { prompt, subagent_type: 'Explore', model: 'claude-one' },
        });
        if (isMain) return { toolCalls: [task('part 1'), task('part 2')] };
        return { fault: { kind: 'status', status: 429, retryAfterSeconds: 3600 } };
      },
    });
    const run = await world.run(
      ['-p', 'go', '--model', MODELS.google, '--fallback-model', 'gpt-two'],
      { env: { ...environment(world), MUSTER_PROVIDER_MAX_CONCURRENT: '1' } },
    );
    expect([run.code, run.stdout]).toEqual([0, 'all done\n']);
    // One of the two was refused; the other waited behind it and was never sent.
    expect(modelsAsked(world).filter((model) => model === 'claude-one').length).toBe(1);
    expect(run.stderr).toContain('it would wait for the rate limit of anthropic');
  });

  it.each([400, 401, 403])('is not replaced when the status is %d', async (status) => {
    await using world = await openWorld({ script: () => ({ fault: { kind: 'status', status } }) });
    const run = await world.run(flags(MODELS.anthropic, MODELS.responses), {
      env: environment(world),
    });
    expect([run.code, modelsAsked(world)]).toEqual([1, ['claude-one']]);
  });

  it('is replaced by each model of the list in turn, and by the fallbacks of its tier first', async () => {
    await using world = await openWorld({
      script: ({ model }) =>
        model === 'gpt-b' ? { text: 'done' } : { fault: { kind: 'status', status: 404 } },
    });
    const run = await world.run(['-p', 'go', '--model', 'fast'], {
      env: {
        ...environment(world),
        MUSTER_MODELS_FAST: 'claude-one',
        MUSTER_MODELS_FALLBACK_FAST: 'gpt-a',
        MUSTER_MODELS_FALLBACK_POWERFUL: 'gpt-x',
        MUSTER_MODELS_FALLBACK: '["claude-one", "gpt-a", "gpt-b"]',
      },
    });
    expect([run.code, modelsAsked(world)]).toEqual([0, ['claude-one', 'gpt-a', 'gpt-b']]);
  });

  it('is used again for the next message', async () => {
    let isDown = true;
    await using world = await openWorld({
      script: ({ model }) =>
        isDown && model === 'claude-one'
          ? { fault: { kind: 'status', status: 404 } }
          : { text: 'done' },
    });
    const env = environment(world);
    await world.run(flags(MODELS.anthropic, MODELS.responses), { env });
    isDown = false;
    const again = await world.run(['--continue', '-p', 'more', '--output-format', 'json'], { env });
    expect(modelsAsked(world)).toEqual(['claude-one', 'gpt-two', 'claude-one']);
    expect(envelopeOf(again).data.model_used).toBe(MODELS.anthropic);
  });

  it('stays replaced after kill -9 in the middle of the answer', async () => {
    let hangs = true;
    await using world = await openWorld({
      script: ({ model }) => {
        if (model === 'claude-one') return { fault: { kind: 'status', status: 404 } };
        return hangs ? { fault: { kind: 'hang' } } : { text: 'done' };
      },
    });
    const env = environment(world);
    const first = world.start(flags(MODELS.anthropic, MODELS.responses), { env });
    await world.model.received(2);
    first.process.kill('SIGKILL');
    await first.finished;
    hangs = false;
    const again = await world.run(['--continue', '--output-format', 'json'], { env });
    expect([again.code, modelsAsked(world)]).toEqual([0, ['claude-one', 'gpt-two', 'gpt-two']]);
    expect(world.model.requests[2]?.rawBody).toBe(world.model.requests[1]?.rawBody);
  });
});

describe('before anything fails', () => {
  it('agents explain and models name the fallback models', async () => {
    await using world = await openWorld();
    const env = environment(world);
    const named = ['--model', MODELS.anthropic, '--fallback-model', 'gpt-a,gpt-b'];
    const explained = await world.run(['agents', 'explain', 'Explore', ...named], { env });
    expect(explained.stdout).toMatch(/^if it fails +openai\/gpt-a, then openai\/gpt-b$/m);
    const models = await world.run(['models', ...named], { env });
    expect(models.stdout).toMatch(/^fallback +openai\/gpt-a +--fallback-model: gpt-a → /m);
    const wrong = await world.run(['models', '--fallback-model', 'no-such'], { env });
    expect(wrong.stdout).toMatch(/^fallback +none +--fallback-model: no configured provider/m);
    const doctor = await world.run(['doctor', '--fallback-model', 'no-such'], { env });
    expect(doctor.stdout).toContain('--fallback-model: no configured provider');
  });
});

it('a fallback that cannot be used is reported before the first request', async () => {
  await using world = await openWorld();
  const run = await world.run(['-p', 'go', '--fallback-model', 'gemini-9'], {});
  expect([run.code, run.stderr, world.model.requests.length]).toEqual([
    2,
    expect.stringMatching(/^muster: --fallback-model: "gemini-9" needs a key: set GEMINI_API_KEY/),
    0,
  ]);
});
