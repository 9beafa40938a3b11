import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { startFakeModel } from '../../src/testing/index.ts';
import { Sandbox } from '../e2e/muster.ts';
import { findBlocks, readPage } from './page.ts';

const DIST = resolve(import.meta.dirname, '../../dist');
const examples = findBlocks(readPage('docs/testing.md'), 'ts');
const isCassette = (example: string) => example.includes('startCassette');

/** Runs an example in the workspace of a sandbox, with the built package. Returns its exit code and what it printed. */
async function run(sandbox: Sandbox, example: string, env: Readonly<Record<string, string>> = {}) {
  const program = example
    .replaceAll("'muster-agent'", JSON.stringify(pathToFileURL(join(DIST, 'index.js'))))
    .replaceAll("'muster-agent/testing'", JSON.stringify(pathToFileURL(join(DIST, 'testing.js'))));
  const file = join(sandbox.root, 'example.mjs');
  writeFileSync(file, program);
  const child = spawn(process.execPath, [file], {
    cwd: sandbox.workspace,
    env: sandbox.environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return [code, `${stdout}${stderr}`];
}

it('the page has an example for each part', () => {
  const functions = [
    /recordLog/,
    /expectChildren/,
    /startFakeModel/,
    /startCassette/,
    /violations/,
  ];
  for (const used of functions) expect(examples.some((example) => used.test(example))).toBe(true);
  expect(examples.filter(isCassette)).toHaveLength(1);
});

it.each(examples.filter((example) => !isCassette(example)))('example %# runs', async (example) => {
  using sandbox = new Sandbox();
  expect(await run(sandbox, example)).toEqual([0, '']);
});

it('the example of a cassette records, and then runs without the provider', async () => {
  const example = examples.find(isCassette) ?? '';
  using sandbox = new Sandbox();
  const provider = await startFakeModel({ script: () => ({ text: 'Paris' }) });
  const env = { RECORD: '1', ANTHROPIC_API_KEY: 'sk-canary', ANTHROPIC_BASE_URL: provider.url };
  expect(await run(sandbox, example, env)).toEqual([0, '']);
  await provider.close();
  expect(await run(sandbox, example)).toEqual([0, '']);
});
