import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  findUndocumented,
  findUnexported,
  findWithoutDefault,
  findWithoutExample,
} from '../../scripts/api-reference/find-gaps.ts';
import { formatPages } from '../../scripts/api-reference/format-pages.ts';
import { readPackageTypes } from '../../scripts/api-reference/read-types.ts';
import { readPage } from './page.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PAGES = join(ROOT, 'docs/api');
const types = readPackageTypes(join(ROOT, 'dist/types'));

/** The types of the list of tasks, which src/store describes. */
const OF_STORE = /^(?:TaskSummary|OpenQuestionSummary)\./;

describe('the public types', () => {
  it('all have doc comments, and so do their fields', () => {
    expect(findUndocumented(types).filter((path) => !OF_STORE.test(path))).toEqual([]);
  });

  it('name the default of each option', () => {
    expect(findWithoutDefault(types)).toEqual([]);
  });

  it('include an example for each function and class', () => {
    expect(findWithoutExample(types)).toEqual([]);
  });

  it('mention only types that an entry point exports', () => {
    expect(findUnexported(types)).toEqual([]);
  });
});

describe('docs/api', () => {
  it('has the pages that `npm run docs:api` writes', async () => {
    const pages = await formatPages(types);
    expect(readdirSync(PAGES).toSorted()).toEqual([...pages.keys()].toSorted());
    for (const [name, text] of pages) expect(readPage(`docs/api/${name}`)).toBe(text);
  });

  it('has no link that leads nowhere', () => {
    for (const name of readdirSync(PAGES)) {
      const page = readPage(`docs/api/${name}`);
      const links = [...page.matchAll(/\]\(([^)#\s]*)(?:#([^)\s]*))?\)/g)];
      const broken = links.filter(([, file = '', anchor]) => {
        const target = file === '' ? name : file;
        if (!existsSync(join(PAGES, target))) return true;
        return (
          anchor !== undefined && !findAnchors(readPage(join('docs/api', target))).includes(anchor)
        );
      });
      expect(broken.map(([link]) => link)).toEqual([]);
    }
  });
});

/** Returns the anchors of the headings of a page, as GitHub names them: equal ones get a number. */
function findAnchors(page: string): readonly string[] {
  const titles = [...page.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
  return titles.map((title, index) => {
    const count = titles.slice(0, index).filter((each) => each === title).length;
    return count === 0 ? title : `${title}-${count}`;
  });
}
