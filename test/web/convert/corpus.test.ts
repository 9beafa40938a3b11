import { describe, expect, it } from 'vitest';
import { convertBytes } from '../../../src/web/convert/convert-bytes.ts';
import { judge, PAGES, readPage, reduceToLetters, type CorpusPage } from '../pages/pages.ts';

async function convert(page: CorpusPage): Promise<string> {
  const converted = await convertBytes({
    bytes: readPage(page),
    contentType: 'text/html',
    url: new URL(page.url),
  });
  return 'text' in converted ? converted.text : '';
}

describe('the corpus of pages', () => {
  it('has at least twenty pages', () => {
    expect(PAGES.length).toBeGreaterThanOrEqual(20);
  });

  it.each(PAGES)('$file keeps all of its content', async (page) => {
    const { missing } = judge(page, await convert(page));
    expect(missing).toEqual([]);
  });

  it.each(PAGES)('$file loses nine tenths of its boilerplate', async (page) => {
    const { left } = judge(page, await convert(page));
    expect(left.slice(Math.floor(page.absent.length / 10))).toEqual([]);
  });

  it.each(PAGES)('$file names boilerplate that is in the page', (page) => {
    // The texts of one page are in elements, attributes or other charsets, so only pages in UTF-8 are checked.
    const source = readPage(page).toString('utf8');
    if (source.includes('\ufffd')) return;
    const letters = reduceToLetters(source.replaceAll(/<[^>]*>|&\w+;/g, ''));
    const foreign = page.absent.filter((text) => !letters.includes(reduceToLetters(text)));
    // A text can contain signs that the page writes as entities.
    expect(foreign.length).toBeLessThanOrEqual(page.absent.length / 2);
  });
});
