import { expect, it } from 'vitest';
import { flagSpec, isFlagName } from '../../src/front/cli/flags.ts';
import { LIMITS, type LimitRow } from '../../src/protocol/limits.ts';
import { ALL_KEYS } from '../../src/config/key-entry.ts';

const rows: readonly (readonly [string, LimitRow])[] = Object.entries(LIMITS);

it.each(rows)('%s is set by the configuration key of its name', (name, row) => {
  const entry = ALL_KEYS.find(({ key }) => key === `${row.section}.${name}`);
  const [minimum, maximum] = row.range;
  expect(entry?.spec).toMatchObject({
    default: row.default,
    meaning: row.meaning,
    project: 'narrow',
    schema: { minimum, maximum },
  });
});

it.each(rows)('%s is set by the flag of its row, if it has one', (name, { section, flag }) => {
  if (flag === undefined) return;
  expect(isFlagName(flag.name) && flagSpec(flag.name)).toMatchObject({
    group: 'Limits',
    configKey: `${section}.${name}`,
    help: flag.help,
  });
});
