import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { openSession } from '../../../src/api/open-session.ts';

const opened: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

async function muster() {
  const cwd = mkdtempSync(join(tmpdir(), 'muster-test-'));
  opened.push(() => rmSync(cwd, { recursive: true, force: true }));
  const environment = { HOME: cwd, PATH: '/usr/bin:/bin' };
  const made = await openSession({ cwd, dataDir: join(cwd, 'data'), environment });
  opened.push(() => made.close());
  const enclose = (words: string) => made.enclose({ to: null, words, outputs: [], images: [] });
  return { cwd, enclose, made };
}

it('attaches a file once, however often it is named', async () => {
  const { cwd, enclose } = await muster();
  writeFileSync(join(cwd, 'a.txt'), 'hello');
  const { enclosures, problems } = await enclose('compare @a.txt, @"a.txt" and (@a.txt).');
  expect(enclosures.map(({ kind, name }) => `${kind} ${name}`)).toEqual(['file a.txt']);
  expect(problems).toEqual([]);
});

it('leaves out files that need a permission, and reports the reason', async () => {
  const { cwd, enclose } = await muster();
  const secret = join(cwd, '.env');
  writeFileSync(secret, 'KEY=1');
  const { enclosures, problems } = await enclose('look at @.env and @/etc/passwd');
  expect(enclosures).toEqual([]);
  expect(problems).toEqual([
    `@.env is not quoted: ${JSON.stringify(secret)} usually holds secrets: only a person can allow it, for one call; no rule or mode does.`,
    '@/etc/passwd is not quoted: "/etc/passwd" is outside the workspace roots. No rule or mode allows that; only a person can, for one call.',
  ]);
});

it('sends the quoted items only to the task that they were gathered for', async () => {
  const { cwd, enclose, made } = await muster();
  writeFileSync(join(cwd, 'a.txt'), 'hello');
  const first = await enclose('@a.txt');
  const run = made.start({ prompt: 'Where is it said? @a.txt', enclosed: first });
  expect(run.id).toBe(first.task);
  const other = await enclose('@a.txt');
  const refusal = new RegExp(`gathered for task ${other.task}, not for task ${run.id}`);
  expect(() => made.send(run.id, 'and here? @a.txt', other)).toThrow(refusal);
  await run.result;
  await expect(made.resume({ id: run.id, prompt: 'again', enclosed: other })).rejects.toThrow(
    refusal,
  );
});

it('can be stopped', async () => {
  const { cwd, made } = await muster();
  writeFileSync(join(cwd, 'a.txt'), 'hello');
  const stop = new AbortController();
  const wish = { to: null, words: '@a.txt', outputs: [], images: [] };
  const gathering = made.enclose({ ...wish, signal: stop.signal });
  stop.abort(new Error('the person thought better of it'));
  await expect(gathering).rejects.toThrow('the person thought better of it');
});
