import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { spawnFakeModel } from '../../src/testing/fake-model-process.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'muster-testing-'));
});
afterEach(() => rm(directory, { recursive: true }));

it('runs a script in its own process and logs every request', async () => {
  const script = join(directory, 'script.json');
  const log = join(directory, 'log.jsonl');
  const answer = { text: 'from the file', usage: { input: 3, output: 4 } };
  await writeFile(script, JSON.stringify({ script: [{ answer }], models: ['scripted'] }));
  const server = await spawnFakeModel({ script, log });
  const messages = [{ role: 'user', content: 'hi' }];
  const body = JSON.stringify({ model: 'm', max_tokens: 100, messages });
  const response = await fetch(`${server.baseUrls.anthropic}/messages`, { method: 'POST', body });
  expect(await response.json()).toMatchObject({ content: [{ text: 'from the file' }] });
  expect(await server.stats()).toEqual({ requests: 1, inFlight: 0, maxInFlight: 1 });
  expect(server.env('anthropic')['ANTHROPIC_BASE_URL']).toBe(server.url);
  await server.close();
  const lines = (await readFile(log, 'utf8')).trimEnd().split('\n');
  expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
    { event: 'received', id: 1, protocol: 'anthropic', path: '/v1/messages', body },
    { event: 'ended', id: 1, outcome: { status: 200, usage: { input: 3, output: 4 } } },
  ]);
  expect(() => process.kill(server.pid, 0)).toThrow('ESRCH');
});

it('says that it did not start', async () => {
  const script = join(directory, 'missing.json');
  await expect(spawnFakeModel({ script })).rejects.toThrow(
    /^the fake model did not start: cannot read .*missing\.json: ENOENT/,
  );
});
