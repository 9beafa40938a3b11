import { createServer } from 'node:http';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  lastUserText,
  startCassette,
  toolResultRounds,
  WIRE_PROTOCOLS,
  type Cassette,
  type RecordedRequest,
  type WireProtocol,
} from '../../src/testing/index.ts';
import { makeDirectory, open } from '../library/support.ts';
import { fakeModel } from './support.ts';

const MODELS: Readonly<Record<WireProtocol, string>> = {
  anthropic: 'anthropic/claude-sonnet-4-5',
  responses: 'openai/gpt-5',
  chat: 'fake-model',
  google: 'google/gemini-2.5-flash',
};

/** Looks into a file, and answers with what the tool has returned. */
function answer(request: RecordedRequest) {
  if (toolResultRounds(request) === 0)
    return { toolCalls: [{ name: 'Read', input: { file_path: 'notes.md' } }], chunks: 3 };
  const results = request.messages.flatMap(({ toolResults }) => toolResults);
  return { text: `It says: ${results.map(({ text }) => text).join()}`, chunks: 3 };
}

async function ask(cassette: Cassette, protocol: WireProtocol, prompt: string) {
  const cwd = makeDirectory();
  writeFileSync(join(cwd, 'notes.md'), 'Buy milk.\n');
  const muster = await open({ cwd, model: MODELS[protocol], environment: cassette.env(protocol) });
  const { output, data } = await muster.run(prompt);
  await muster.close();
  return { output, status: data.status };
}

describe('a cassette', () => {
  it.each(WIRE_PROTOCOLS)(
    'records a run over %s and plays it without the provider',
    async (protocol) => {
      const file = join(makeDirectory(), 'cassette.json');
      const provider = await fakeModel({ script: answer });
      const apiKey = 'sk-canary-0123456789abcdef';
      const recording = await startCassette({ file, target: { url: provider.url, apiKey } });
      const recorded = await ask(recording, protocol, 'What do the notes say?');
      await recording.close();
      await provider.close();
      expect(recorded).toEqual({
        output: expect.stringContaining('Buy milk.'),
        status: 'completed',
      });
      expect(readFileSync(file, 'utf8')).not.toContain('canary');

      const playing = await startCassette({ file });
      expect(await ask(playing, protocol, 'What do the notes say?')).toEqual(recorded);
      expect([playing.problems, playing.unused]).toEqual([[], []]);
      await playing.close();
    },
  );

  it('plays parallel requests in any order, and refuses what was not recorded, with the difference', async () => {
    const file = join(makeDirectory(), 'cassette.json');
    const provider = await fakeModel({ script: (asked) => ({ text: lastUserText(asked) }) });
    const recording = await startCassette({ file, target: { url: provider.url } });
    for (const prompt of ['one', 'two', 'two']) await ask(recording, 'anthropic', prompt);
    await recording.close();

    const playing = await startCassette({ file });
    const [two, one] = [
      await ask(playing, 'anthropic', 'two'),
      await ask(playing, 'anthropic', 'one'),
    ];
    expect([two.output, one.output]).toEqual([
      expect.stringContaining('two'),
      expect.stringContaining('one'),
    ]);
    const missed = await ask(playing, 'anthropic', 'three');
    expect(missed.status).toBe('failed');
    expect(playing.problems).toEqual([
      expect.stringMatching(/POST \/v1\/messages was never recorded[^]*\+ .*three[^]*- .*two/),
    ]);
    expect(playing.unused).toHaveLength(1);
    await ask(playing, 'anthropic', 'two');
    await ask(playing, 'anthropic', 'two');
    expect(playing.problems.at(-1)).toContain('was recorded only 2 times');
    await playing.close();
  });

  it('says what is wrong with a file', async () => {
    const file = join(makeDirectory(), 'cassette.json');
    await expect(startCassette({ file })).rejects.toThrow('record it with the option target');
    writeFileSync(file, '{}');
    await expect(startCassette({ file })).rejects.toThrow('no cassette of this version');
    writeFileSync(file, '{"format":1,"exchanges":[{}]}');
    await expect(startCassette({ file })).rejects.toThrow('exchange 0 has no request');
  });

  it('never writes a key from headers or the query, even if the provider repeats it', async () => {
    const provider = createServer((incoming, response) => {
      const everything = JSON.stringify([
        incoming.headers,
        incoming.url,
        decodeURIComponent(incoming.url ?? ''),
      ]);
      response.writeHead(401, { 'set-cookie': everything, 'x-request': everything });
      response.end(everything);
    });
    provider.listen(0, '127.0.0.1');
    await once(provider, 'listening');
    const address = provider.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    const file = join(makeDirectory(), 'cassette.json');
    const header = fc.constantFrom(
      'authorization',
      'x-api-key',
      'api-key',
      'x-goog-api-key',
      'cookie',
      'x-own',
    );
    const parameter = fc.constantFrom('key', 'api_key', 'access_token', 'own');
    const key = fc.stringMatching(/^[\w!#$%&'*+.^`|~"\\/-]{12,40}$/);
    const property = fc.asyncProperty(
      header,
      parameter,
      key,
      key,
      async (name, query, first, second) => {
        const recording = await startCassette({
          file,
          target: { url: `http://127.0.0.1:${port}` },
        });
        const url = `${recording.url}/v1/messages?${query}=${encodeURIComponent(second)}`;
        const body = JSON.stringify({ model: 'm', messages: [], max_tokens: 1 });
        const headers = { [name]: name === 'authorization' ? `Bearer ${first}` : first };
        const reply = await fetch(url, { method: 'POST', headers, body });
        await reply.text();
        await recording.close();
        const written = readFileSync(file, 'utf8');
        for (const secret of [first, second]) {
          for (const form of [
            secret,
            JSON.stringify(secret).slice(1, -1),
            encodeURIComponent(secret),
          ])
            expect(written).not.toContain(form);
        }
        expect(JSON.parse(written).exchanges).toHaveLength(1);
      },
    );
    await fc.assert(property, { numRuns: 60 });
    provider.close();
  });
});
