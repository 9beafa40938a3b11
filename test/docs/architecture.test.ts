import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');

/** The names in the first column of the table under a heading. */
function namesInTable(heading: string): readonly string[] {
  const section = page.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return [...section.matchAll(/^\| `([\w-]+)\/` \|/gm)].map(([, name = '']) => name);
}

function directories(path: string): readonly string[] {
  return readdirSync(join(root, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted();
}

test('every path in docs/architecture.md exists', () => {
  const paths = [...page.matchAll(/`([\w-]+(?:\/[\w-]*)*(?:\/|\.ts))`/g)].map(
    ([, path = '']) => path,
  );
  const rooms = new Set(namesInTable('Rooms of the engine').map((name) => `${name}/`));
  const missing = paths.filter(
    (path) => !rooms.has(path) && !['', 'src'].some((base) => existsSync(join(root, base, path))),
  );
  expect(missing).toEqual([]);
  expect(paths.length).toBeGreaterThan(60);
});

test('docs/architecture.md describes every module and every part of the engine', () => {
  expect(namesInTable('Modules').toSorted()).toEqual(directories('src'));
  expect(namesInTable('Rooms of the engine').toSorted()).toEqual(directories('src/engine'));
});
