import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { isJsonObject } from '../../src/base/json.ts';
import { shop } from '../tools/code-search/shop.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/code-search.md'), 'utf8');
const TRANSCRIPT = /^( *)```\n *FindPlaces (\{[^\n]*\})\n(.*?)\n *```$/gms;

/** Each call on the page, with the result below it. */
const transcripts = [...page.matchAll(TRANSCRIPT)].map(
  ([, indent = '', input = '', result = '']) =>
    [input, result.replaceAll(`\n${indent}`, '\n').slice(indent.length)] as const,
);

test('docs/code-search.md has transcripts', () => {
  expect(transcripts.length).toBeGreaterThanOrEqual(4);
});

test.each(transcripts)('docs/code-search.md shows the result of %s', async (json, result) => {
  const input: unknown = JSON.parse(json);
  if (!isJsonObject(input)) throw new Error(`${json} is no object`);
  expect((await shop().call('FindPlaces', input)).text).toBe(result);
});
