import { describe, expect, test } from 'vitest';
import { createAdapter, type WireModelPort } from '../../../../src/model/adapters/adapter.ts';
import { userMessage } from '../../../../src/protocol/message.ts';
import {
  type ModelPart,
  type ModelRequest,
  type Effort,
  EFFORTS,
} from '../../../../src/protocol/model.ts';
import {
  adapterDeps,
  answerWith,
  collect,
  failed,
  finished,
  refuseWith,
  request,
  serve,
  type SeenRequest,
  type TestServer,
} from '../support.ts';
import { WIRES, type Wire } from '../wires.ts';

function port(wire: Wire, server: TestServer): WireModelPort {
  const endpoint = { name: 'test', baseUrl: server.url, apiKey: 'k' };
  return createAdapter(wire.dialect, endpoint, adapterDeps());
}

function ask(wire: Wire, effort: Effort, id = wire.model): ModelRequest {
  return request([userMessage('Hi')], { model: { provider: 'test', id, chain: [] }, effort });
}

/** What a body says of effort, in the words of its protocol; undefined: nothing. */
function effortIn({ body }: SeenRequest): unknown {
  const said = JSON.parse(body);
  const { thinking, output_config, reasoning, reasoning_effort, generationConfig } = said;
  return (
    output_config?.effort ??
    thinking?.budget_tokens ??
    thinking?.type ??
    reasoning?.effort ??
    reasoning_effort ??
    generationConfig?.thinkingConfig?.thinkingLevel ??
    generationConfig?.thinkingConfig?.thinkingBudget
  );
}

function wireNamed(name: string): Wire {
  const wire = WIRES.find((each) => each.name === name);
  if (wire === undefined) throw new Error(`no wire ${name}`);
  return wire;
}

/** As the engine reads an answer: no further than its end. */
async function readToEnd(model: WireModelPort, asked: ModelRequest): Promise<ModelPart> {
  for await (const part of model.stream(asked, new AbortController().signal)) {
    if (part.type === 'finished' || part.type === 'failed') return part;
  }
  throw new Error('an answer without an end');
}

describe('each level is sent as the nearest one that the model knows', () => {
  const [none, minimal, low, medium, high, xhigh, max] = EFFORTS;
  test.each([
    ['anthropic', 'claude-sonnet-5', ['disabled', low, low, medium, high, xhigh, max]],
    ['anthropic', 'claude-sonnet-5-5', ['between_tools', low, low, medium, high, xhigh, max]],
    ['anthropic', 'claude-haiku-4-5', ['disabled', 1280, 6400, 19_200, 38_400, 57_600, 60_800]],
    ['openai-responses', 'gpt-6-sol', [none, low, low, medium, high, xhigh, max]],
    ['openai-responses', 'gpt-5', [minimal, minimal, low, medium, high, high, high]],
    // It does not think: nothing of it is said.
    ['openai-responses', 'gpt-4.1', EFFORTS.map(() => undefined)],
    ['google', 'gemini-3.8-flash', [low, low, low, medium, high, high, high]],
    ['google', 'gemini-2.5-pro', [128, 1311, 6554, 19_661, 32_768, 32_768, 32_768]],
    // What a server of anybody's models knows, it says itself.
    ['openai-chat', 'qwen3:8b', EFFORTS],
  ] as const)('%s: %s', async (name, model, expected) => {
    const wire = wireNamed(name);
    await using server = await serve(answerWith(wire.answer));
    for (const effort of EFFORTS) {
      // oxlint-disable-next-line no-await-in-loop -- in this order
      finished(await collect(port(wire, server), ask(wire, effort, model)));
    }
    expect(server.requests.map(effortIn)).toEqual(expected);
  });
});

describe.each(WIRES)('$name: a server that refuses', (wire) => {
  const refusal = { error: { message: 'thinking is not supported by this model' } };

  test.each(EFFORTS)(
    'every level, of %s too, is asked without one, and at once from then on',
    async (effort) => {
      await using server = await serve((response, seen, index) => {
        const respond =
          effortIn(seen) === undefined ? answerWith(wire.answer) : refuseWith(400, refusal);
        return respond(response, seen, index);
      });
      const model = port(wire, server);
      const { message } = finished([await readToEnd(model, ask(wire, effort))]);
      expect(message).toEqual(wire.message);
      const first = server.requests.length;
      expect(first).toBeLessThanOrEqual(3);
      finished([await readToEnd(model, ask(wire, effort))]);
      expect(server.requests.length).toBe(first + 1);
      expect(server.requests.slice(-2).map(effortIn)).toEqual([undefined, undefined]);
    },
  );

  test('the request itself reports its refusal, and stops asking', async () => {
    await using server = await serve(refuseWith(400, { error: { message: 'no such field' } }));
    const failure = failed(await collect(port(wire, server), ask(wire, 'max')));
    expect(failure).toMatchObject({ kind: 'bad_request', status: 400 });
    expect(server.requests.map(effortIn).at(-1)).toBeUndefined();
    expect(server.requests.length).toBe(3);
  });

  test('for another reason gets one request', async () => {
    await using server = await serve(refuseWith(401, { error: { message: 'no key' } }));
    failed(await collect(port(wire, server), ask(wire, 'max')));
    expect(server.requests.length).toBe(1);
  });
});

test.each([
  ['none', ['none', 'low']],
  ['minimal', ['minimal', 'low']],
  ['xhigh', ['xhigh', 'high']],
  ['max', ['max', 'high']],
] as const)('a server that knows low, medium and high gets for %s: %j', async (effort, levels) => {
  const wire = wireNamed('openai-chat');
  await using server = await serve((response, seen, index) => {
    const isKnown = ['low', 'medium', 'high'].includes(String(effortIn(seen)));
    const respond = isKnown ? answerWith(wire.answer) : refuseWith(422, { error: 'enum' });
    return respond(response, seen, index);
  });
  const model = port(wire, server);
  finished(await collect(model, ask(wire, effort)));
  finished(await collect(model, ask(wire, effort)));
  expect(server.requests.map(effortIn)).toEqual([...levels, levels[1]]);
});
