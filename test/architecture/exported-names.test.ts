import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const src = join(import.meta.dirname, '../../src');

/** Names that two files define and export. The list may only become shorter: one name has one meaning. */
const DEFINED_TWICE: readonly string[] = ['Answer'];

/** A constant that loads a function at its first call (`api/index.ts`) is that function, so it is not counted. */
const DEFINITION =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) (\w+)(?! = loadAtFirstCall)\b/gm;

test('every exported name is defined once', () => {
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' });
  const definitions = files
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => {
      const names = [...readFileSync(join(src, file), 'utf8').matchAll(DEFINITION)];
      return [...new Set(names.map(([, name = '']) => name))].map((name) => ({ name, file }));
    });
  const byName = Map.groupBy(definitions, ({ name }) => name);
  const twice = [...byName].filter(([, places]) => places.length > 1).map(([name]) => name);
  expect(twice.toSorted()).toEqual(DEFINED_TWICE);
});
