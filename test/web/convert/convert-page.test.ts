import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { convertPage } from '../../../src/web/convert/convert-page.ts';
import { convertHtml, fillPage } from './large-page.ts';

const module = join(import.meta.dirname, '../../../src/web/convert/convert-page.ts');

// test/hostile converts more of them.
describe('a page of 5 MB', () => {
  it.each<[name: string, html: string]>([
    ['of 100,000 nested elements', `${'<div>'.repeat(100_000)}x${'</div>'.repeat(100_000)}`],
    ['of nested tables', fillPage('<table><tr><td>a')],
    [
      'of a million attributes',
      `<p ${Array.from({ length: 1_000_000 }, (_, index) => `a${index}`).join(' ')}>x`,
    ],
    ['of one attribute', `<p style="${fillPage('color:')}">x`],
    ['of wide spans', `<table>${fillPage('<tr><td rowspan=9999 colspan=9999>a')}`],
    ['of backticks', `<pre>${fillPage('`')}`],
    ['of white space', `<p>${fillPage(' ')}x`],
    ['of open comments', fillPage('<!--')],
    ['of tags without ends', fillPage('<p')],
    ['of formulas', fillPage('<math><mfrac>')],
  ])('%s is converted within the limits', async (_, html) => {
    expect(await convertHtml(html)).toMatchObject({ text: expect.any(String) });
  });
});

describe('the worker', () => {
  it('converts many pages at the same time', async () => {
    const pages = Array.from({ length: 20 }, (_, index) =>
      convertHtml(`<h1>Page ${index}</h1><p>text`),
    );
    const texts = (await Promise.all(pages)).map((page) => ('text' in page ? page.text : ''));
    expect(texts).toEqual(Array.from({ length: 20 }, (_, index) => `# Page ${index}\n\ntext`));
  });

  it('is ended when the signal aborts, and the next page gets another', async () => {
    const controller = new AbortController();
    const page = convertHtml(fillPage('<table><tr><td>a'), controller.signal);
    const reason = new Error('stopped by the test');
    setTimeout(() => controller.abort(reason), 50);
    await expect(page).rejects.toBe(reason);
    expect(await convertHtml('<p>next')).toMatchObject({ kind: 'html', text: 'next' });
  });

  it('starts nothing for a signal that has already aborted', async () => {
    const reason = new Error('too late');
    await expect(convertHtml('<p>a', AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  it('is ended when a page takes too long', async () => {
    const page = {
      bytes: Buffer.from(fillPage('<a href=x>a')),
      contentType: 'text/html',
      url: new URL('https://e.org/x'),
    };
    await expect(
      convertPage(page, { signal: new AbortController().signal, timeMs: 20 }),
    ).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
      message:
        'The page https://e.org/x takes too much time to convert. Fetch a smaller page instead.',
    });
    expect(await convertHtml('<p>next')).toMatchObject({ text: 'next' });
  });

  it('lets the process end, and loads no parser in it', () => {
    const code = `
      import { createRequire, registerHooks } from 'node:module';
      const loaded = [];
      registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
      const { convertPage } = await import(${JSON.stringify(module)});
      const page = { bytes: Buffer.from('<p>text'), contentType: 'text/html', url: new URL('https://e.org/') };
      const { text } = await convertPage(page, { signal: new AbortController().signal });
      setTimeout(() => console.log('something keeps the process alive'), 5_000).unref();
      console.log(text, loaded.filter((url) => /node_modules|convert-bytes|html\\//.test(url)).length);`;
    const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    expect({ stdout, status }).toEqual({ stdout: 'text 0\n', status: 0 });
  });
});
