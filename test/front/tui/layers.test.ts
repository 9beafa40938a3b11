import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../../src/front/tui');

/** The folders that each folder may import, beside itself. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  model: [],
  view: ['model'],
  update: ['model', 'view'],
  terminal: ['model', 'view', 'update'],
};

/** Imports of a file inside the terminal UI, as the first part of their path. */
function importsOf(file: string): readonly string[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  return [...text.matchAll(/(?:from |import\()'(\.[^']+)'/g)].flatMap(([, path = '']) => {
    const target = relative(ROOT, join(ROOT, dirname(file), path));
    return target.startsWith('..') ? [] : [target.split('/')[0] ?? ''];
  });
}

it.each(Object.entries(ALLOWED))('%s/ imports only %j', (folder, allowed) => {
  const files = globSync(`${folder}/**/*.ts`, { cwd: ROOT });
  expect(files.length).toBeGreaterThan(0);
  const wrong = files.flatMap((file) =>
    importsOf(file)
      .filter((target) => target !== folder && !allowed.includes(target))
      .map((target) => `${file} imports ${target}`),
  );
  expect(wrong).toEqual([]);
});

it.each(['model', 'view', 'update'])('%s/ does nothing to the world', (folder) => {
  const effects =
    /from '(?:node:(?:fs|child_process|net|process)|[^']*sys\/(?!env)[^']*)'|set(?:Timeout|Interval)\(/;
  const files = globSync(`${folder}/**/*.ts`, { cwd: ROOT });
  expect(files.filter((file) => effects.test(readFileSync(join(ROOT, file), 'utf8')))).toEqual([]);
});
