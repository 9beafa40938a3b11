import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { isJsonObject } from '../../src/base/json.ts';
import { repositoryWithIgnored } from '../tools/search/search-cases.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/search.md'), 'utf8');
const TRANSCRIPT = /^```\n(Grep|Glob) (\{[^\n]*\})\n(.*?)\n```$/gms;

/** Each call of docs/search.md, with the result that stands below it. */
const transcripts = [...page.matchAll(TRANSCRIPT)].map(
  ([, tool = '', input = '', result = '']) => [tool, input, result] as const,
);

test('docs/search.md has transcripts', () => {
  expect(transcripts.length).toBeGreaterThanOrEqual(8);
});

test.each(transcripts)('docs/search.md shows the result of %s %s', async (tool, json, result) => {
  const at = repositoryWithIgnored();
  at.write('long.txt', `${'lorem ipsum '.repeat(80)}NEEDLE${' dolor sit'.repeat(90)} NEEDLE\n`);
  const input: unknown = JSON.parse(json);
  if (!isJsonObject(input)) throw new Error(`${json} is no object`);
  expect((await at.call(tool, input)).text).toBe(result);
});
