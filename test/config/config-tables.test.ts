import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, expectTypeOf, it } from 'vitest';
import { formatConfigTables } from '../../scripts/config-tables.ts';
import type { ConfigTables } from '../../src/config/config-tables.ts';
import type { KeySpec } from '../../src/config/key-kinds.ts';
import type { SECTIONS } from '../../src/config/keys.ts';

type ValueOf<Spec> = Spec extends KeySpec<infer Value> ? NonNullable<Value> : never;

/** The type that the table of keys gives. */
type Derived = {
  readonly [S in keyof typeof SECTIONS]?: {
    readonly [K in keyof (typeof SECTIONS)[S] & string]?: ValueOf<(typeof SECTIONS)[S][K]>;
  };
};

it('the type of the configuration is the one that `npm run docs:api` writes', async () => {
  const file = resolve(import.meta.dirname, '../../src/config/config-tables.ts');
  expect(readFileSync(file, 'utf8')).toBe(await formatConfigTables());
});

it('the type of the configuration has the sections and keys of the table, and no values that they refuse', () => {
  expectTypeOf<keyof ConfigTables>().toEqualTypeOf<keyof Derived>();
  expectTypeOf<ConfigTables>().toExtend<Derived>();
});
