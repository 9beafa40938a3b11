import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ALL_KEYS, type KeyEntry } from '../../src/config/key-entry.ts';
import { OWN_LIMITS } from '../../src/agents/fields/limits.ts';
import { FLAG_NAMES, flagSpec } from '../../src/front/cli/flags.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/limits.md'), 'utf8');

/** A number that a user can set is a limit of something. */
function isLimit({ spec }: KeyEntry): boolean {
  return /^a (whole )?number /.test(spec.expects);
}

describe('docs/limits.md', () => {
  it('has a row for each key of the configuration that is a limit, with its default', () => {
    const limits = ALL_KEYS.filter(isLimit);
    expect(limits.length).toBeGreaterThan(20);
    for (const { key, spec } of limits) {
      expect(page).toContain(
        `| \`${key}\` | ${spec.defaultText ?? JSON.stringify(spec.default)} |`,
      );
    }
  });

  it('names each flag that sets a limit, in the row of that limit', () => {
    for (const name of FLAG_NAMES) {
      const { group, configKey } = flagSpec(name);
      if (group !== 'Limits') continue;
      const row = page
        .split('\n')
        .find((line) => line.includes(`\`--${name}\``) && line.startsWith('|'));
      expect(row).toContain(configKey ?? `--${name}`);
    }
  });

  it('names each field of an agent that sets a limit', () => {
    for (const field of OWN_LIMITS) expect(page).toContain(`\`${field}\` in an agent's file`);
  });

  it('names no key that does not exist', () => {
    const sections = [...new Set(ALL_KEYS.map(({ section }) => section))].join('|');
    const named = page.matchAll(new RegExp(`^\\| \`((?:${sections})\\.[a-z_]+)\``, 'gm'));
    const keys = new Set(ALL_KEYS.map(({ key }) => key));
    expect([...named].map(([, key]) => key).filter((key) => !keys.has(key ?? ''))).toEqual([]);
  });
});
