import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { LANGUAGES, loadTasks } from '../../eval/tasks.ts';
import { readPage } from './page.ts';

const page = readPage('docs/eval.md');
const [, section = ''] = /^## The tasks\n([\s\S]*?)^## /m.exec(page) ?? [];
const tasks = loadTasks(resolve(import.meta.dirname, '../../eval/tasks'));

test('docs/eval.md lists the kinds of all tasks by language', () => {
  const rows = [...section.matchAll(/^\| ([a-z]+) \| (\d+) \| (.+) \|$/gm)].map(
    ([, language, number, kinds]) => ({ language, number: Number(number), kinds }),
  );
  const expected = LANGUAGES.toSorted().map((language) => {
    const own = tasks.filter((task) => task.language === language);
    const kinds = [...new Set(own.map(({ kind }) => kind))].toSorted();
    return { language, number: own.length, kinds: kinds.join(', ') };
  });
  expect(rows).toEqual(expected);
});

test('docs/eval.md and the changelog state the number of tasks', () => {
  expect(section).toContain(`There are ${tasks.length} tasks.`);
  expect(readPage('CHANGELOG.md')).toContain(`with ${tasks.length} tasks in nine languages`);
  expect(LANGUAGES).toHaveLength(9);
});

test('docs/eval.md names tasks that exist', () => {
  const named = [...section.matchAll(/`([a-z]+-[a-z-]+)`/g)].map(([, name]) => name);
  expect(named.length).toBeGreaterThan(0);
  expect(tasks.map(({ name }) => name)).toEqual(expect.arrayContaining(named));
});
