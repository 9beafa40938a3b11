import { loadBuiltinAgents } from '../../src/agents/builtin.ts';
import { muster } from '../../src/agents/formats/vendors.ts';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { isJsonObject } from '../../src/base/json.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const DIRECTORY = join(ROOT, 'examples/agents');

function load(file: string) {
  const path = join(DIRECTORY, file);
  return muster.agents.read({ path, scope: 'user', text: readFileSync(path, 'utf8') });
}

test('there are two examples', () => {
  expect(readdirSync(DIRECTORY).toSorted()).toEqual(['code.md', 'deepresearch.md']);
});

test.each([
  [
    'deepresearch.md',
    { name: 'deepresearch', permissionMode: 'plan', model: 'powerful', delegatesTo: ['Explore'] },
  ],
  ['code.md', { name: 'code', permissionMode: 'default', model: 'inherit' }],
])('%s loads without a problem', async (file, expected) => {
  const { items, problems } = await load(file);
  expect(problems).toEqual([]);
  expect(items).toEqual([expect.objectContaining({ ...expected, problems: [], extra: {} })]);
  expect(items[0]?.limits.maxTurns).toBe(100);
  expect(items[0]?.description.length).toBeLessThanOrEqual(160);
});

test('neither example is among the installed agents', async () => {
  const names = (await loadBuiltinAgents()).map(({ name }) => name);
  expect(names).not.toContain('deepresearch');
  expect(names).not.toContain('code');
});

test('the package contains the examples', () => {
  const manifest: unknown = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  expect(isJsonObject(manifest) && manifest['files']).toContain('examples');
});
