import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const src = join(import.meta.dirname, '../../src');

const DEFINITION =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm;

test('every exported name is defined once', () => {
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' });
  const definitions = files
    .filter((file) => /\.tsx?$/.test(file))
    .flatMap((file) => {
      const names = [...readFileSync(join(src, file), 'utf8').matchAll(DEFINITION)];
      return [...new Set(names.map(([, name = '']) => name))].map((name) => ({ name, file }));
    });
  const byName = Map.groupBy(definitions, ({ name }) => name);
  const twice = [...byName].filter(([, places]) => places.length > 1).map(([name]) => name);
  expect(twice.toSorted()).toEqual([]);
});
