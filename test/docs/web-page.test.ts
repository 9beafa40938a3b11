import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PAGE_KEYS } from '../../src/front/web/page/model/page-keys.ts';

it('docs/web-page.md lists the keys of the page as its help does', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/web-page.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `(.)` \| (.+) \|$/gm)].map(([, key, help]) => ({
    key,
    help,
  }));
  expect(rows).toEqual(PAGE_KEYS.map(({ key, help }) => ({ key, help })));
});
