import { expect, it } from 'vitest';
import { flagSpec, isFlagName } from '../../src/front/cli/flags.ts';
import { LIMITS, type LimitRow } from '../../src/protocol/limits.ts';
import { ALL_KEYS } from '../../src/config/key-entry.ts';

const rows: readonly (readonly [string, LimitRow])[] = Object.entries(LIMITS);

it.each(rows)('%s is set by the configuration key of its row', (name, { key }) => {
  expect(ALL_KEYS.map((each) => each.key)).toContain(key);
  expect(key.split('.')[1]).toBe(name);
});

it.each(rows)('%s is set by the flag of its row, if it has one', (_, { key, flag }) => {
  if (flag === undefined) return;
  expect(isFlagName(flag) && flagSpec(flag).configKey).toBe(key);
});
