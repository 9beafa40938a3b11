import { describe, expect, it } from 'vitest';
import { convertHtml, fillPage } from '../web/convert/large-page.ts';

// test/web/convert converts more of them.
describe('a page of 5 MB', () => {
  it.each<[name: string, html: string]>([
    ['of inline elements without ends', fillPage('<b>a')],
    ['of nested lists', fillPage('<ul><li>a')],
    ['of nested quotes', fillPage('<blockquote>a')],
    [
      'of links with a long base',
      `<base href="https://e.org/${'x'.repeat(1900)}/">${fillPage('<a href=y>z</a> ')}`,
    ],
    ['of links around blocks', fillPage('<a href=x><div>a')],
    ['of tabs', fillPage('<p role=tab aria-controls=x>a</p><p id=x role=tabpanel>b')],
  ])('%s is converted within the limits', async (_, html) => {
    expect(await convertHtml(html)).toMatchObject({ text: expect.any(String) });
  });
});
