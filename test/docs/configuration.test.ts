import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { ALL_KEYS } from '../../src/config/key-entry.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/configuration.md'), 'utf8');

it('docs/configuration.md has a row for each key, with its default and its meaning', () => {
  const rows = ALL_KEYS.map(({ key, spec }) => {
    const value = spec.defaultText ?? JSON.stringify(spec.default);
    return `| \`${key}\` | ${value} | ${spec.meaning} |`;
  });
  for (const row of rows) expect(page).toContain(row);
});
