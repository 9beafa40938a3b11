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

/** Files of the projects in examples. They are not files of this repository. */
const EXAMPLE_PATHS = /^src\/(?:a|retry)\.ts$|^src\/(?:cart|net|ui)\//;

test('every path below src/ that a page of docs/ names exists', () => {
  const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' });
  const paths = pages
    .filter((name) => name.endsWith('.md'))
    .flatMap((name) => {
      const text = readFileSync(join(root, 'docs', name), 'utf8');
      return [...text.matchAll(/`(src\/[^\s`:]+)[^`]*`/g)].map(([, path = '']) => ({ name, path }));
    })
    .filter(({ path }) => !EXAMPLE_PATHS.test(path));
  expect(paths.filter(({ path }) => !existsSync(join(root, path)))).toEqual([]);
  expect(paths.length).toBeGreaterThan(40);
});

test('docs/architecture.md describes every module and every part of the engine', () => {
  expect(namesInTable('Modules').toSorted()).toEqual(directories('src'));
  expect(namesInTable('Rooms of the engine').toSorted()).toEqual(directories('src/engine'));
});
