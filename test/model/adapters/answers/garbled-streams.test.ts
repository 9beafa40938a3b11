import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAdapter } from '../../../../src/model/adapters/adapter.ts';
import { toolCalls, userMessage } from '../../../../src/protocol/message.ts';
import type { ModelPart } from '../../../../src/protocol/model.ts';
import { adapterDeps, collect, request, sse, withoutPings } from '../support.ts';
import { WIRES, type Wire } from '../wires.ts';
import type { HttpResponse } from '../../../../src/sys/http/http-types.ts';
import { HeaderMap } from '../../../../src/sys/http/header-map.ts';

/** What comes of an answer whose body comes in these pieces. */
function read(wire: Wire, pieces: readonly Uint8Array[]): Promise<ModelPart[]> {
  const endpoint = { name: 'test', baseUrl: 'http://127.0.0.1:1', apiKey: null };
  const deps = { ...adapterDeps(), fetch: async () => streamed(pieces) };
  const model = { provider: 'test', id: wire.model, chain: [] };
  return collect(
    createAdapter(wire.dialect, endpoint, deps),
    request([userMessage('Hi')], { model }),
  );
}

function streamed(pieces: readonly Uint8Array[]): HttpResponse {
  const left = [...pieces];
  return {
    status: 200,
    statusText: 'OK',
    ok: true,
    headers: new HeaderMap({ 'content-type': 'text/event-stream' }),
    body: { read: async () => left.shift() ?? null, cancel: async () => {} },
    text: async () => '',
    json: async () => null,
  };
}

/** What a broken server or proxy does to the events of an answer: some are lost, some come twice. */
const edits = fc.array(fc.record({ isLost: fc.boolean(), at: fc.nat() }), {
  minLength: 1,
  maxLength: 4,
});
type Edits = readonly { readonly isLost: boolean; readonly at: number }[];

/** Where all pieces of a call's arguments are lost, it looks like one without any: those stay. */
const ARGUMENTS = /partial_json|function_call_arguments|"arguments":"[^"]|functionCall/;

function edited(events: readonly unknown[], changes: Edits): readonly unknown[] {
  const left = [...events];
  for (const { isLost, at } of changes) {
    const index = at % left.length;
    const event = left[index];
    if (ARGUMENTS.test(JSON.stringify(event))) continue;
    left.splice(index, 1, ...(isLost ? [] : [event, event]));
  }
  return left;
}

function inPieces(text: string, cuts: readonly number[]): Uint8Array[] {
  const bytes = Buffer.from(text);
  const at = [0, ...cuts.map((cut) => cut % bytes.length).toSorted((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end));
}

describe.each(WIRES)('over $name', (wire) => {
  const whole = toolCalls(wire.message).map(({ input }) => JSON.stringify(input));

  it('no call is built from a part of its arguments, whatever else is lost or repeated', async () => {
    await fc.assert(
      fc.asyncProperty(edits, async (changes) => {
        const body = sse(edited(wire.answer, changes));
        const last = (await read(wire, [Buffer.from(body)])).at(-1);
        expect(last?.type).toMatch(/^(finished|failed)$/);
        if (last?.type !== 'finished') return;
        for (const call of toolCalls(last.message)) {
          if (call.malformed === undefined) expect(whole).toContain(JSON.stringify(call.input));
        }
      }),
      { numRuns: 400 },
    );
  });

  it('an answer is the same for any division into pieces and any line ends', async () => {
    const body = sse(wire.answer);
    const expected = withoutPings(await read(wire, [Buffer.from(body)]));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.array(fc.nat(), { maxLength: 12 }),
        fc.boolean(),
        async (end, cuts, hasMark) => {
          const text = (hasMark ? '\uFEFF' : '') + body.replaceAll('\n', end) + ': the end\n';
          expect(withoutPings(await read(wire, inPieces(text, cuts)))).toEqual(expected);
        },
      ),
      { numRuns: 150 },
    );
  });
});
