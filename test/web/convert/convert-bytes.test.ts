import { describe, expect, it } from 'vitest';
import { convertBytes } from '../../../src/web/convert/convert-bytes.ts';
import type { ConvertedPage } from '../../../src/web/convert/page.ts';
import { buildPdf } from './pdf-file.ts';

const url = new URL('https://e.org/a/');
const convert = (bytes: Buffer, contentType: string | null): Promise<ConvertedPage> =>
  convertBytes({ bytes, contentType, url });
const text = (source: string): Buffer => Buffer.from(source);
const latin1 = (source: string): Buffer => Buffer.from(source, 'latin1');

describe('the kind of a page', () => {
  it.each<[bytes: string, contentType: string | null, expected: ConvertedPage]>([
    ['\x89PNG\r\n\x1a\n\0\0', 'text/html', { kind: 'image', mediaType: 'image/png' }],
    ['\xff\xd8\xff\xe0\0', null, { kind: 'image', mediaType: 'image/jpeg' }],
    ['GIF89a\0', 'image/png', { kind: 'image', mediaType: 'image/gif' }],
    ['RIFF\0\0\0\0WEBPVP8 ', 'image/webp', { kind: 'image', mediaType: 'image/webp' }],
    [
      '\x7fELF\x02\0\0',
      'text/html',
      { kind: 'unsupported', mediaType: 'application/x-executable' },
    ],
    [
      'PK\x03\x04\0\0',
      'application/vnd.oasis.opendocument.text',
      { kind: 'unsupported', mediaType: 'application/vnd.oasis.opendocument.text' },
    ],
    [
      'PK\x03\x04\0\0',
      'application/octet-stream',
      { kind: 'unsupported', mediaType: 'application/zip' },
    ],
    [
      '\x01\x02\x00\x03',
      'text/plain',
      { kind: 'unsupported', mediaType: 'application/octet-stream' },
    ],
    [
      '\x01\x02\x00\x03',
      'image/png',
      { kind: 'unsupported', mediaType: 'application/octet-stream' },
    ],
    ['%PDF-1.4 nothing', 'application/pdf', { kind: 'unsupported', mediaType: 'application/pdf' }],
    ['plain', 'application/octet-stream', { kind: 'text', title: null, text: 'plain' }],
    ['a <b> c', 'text/plain', { kind: 'text', title: null, text: 'a <b> c' }],
    ['# T\n\n*x*', 'text/markdown', { kind: 'text', title: null, text: '# T\n\n*x*' }],
    ['just\ntext', 'text/html', { kind: 'text', title: null, text: 'just\ntext' }],
    ['<a><b/></a>', 'application/xml', { kind: 'text', title: null, text: '<a><b/></a>' }],
    [
      '{"a":[1,{}]}',
      'application/json',
      { kind: 'json', title: null, text: '{\n  "a": [\n    1,\n    {}\n  ]\n}' },
    ],
    [
      '{"a":12345678901234567890}',
      'text/html',
      { kind: 'json', title: null, text: '{\n  "a": 12345678901234567890\n}' },
    ],
    ['{\n"a":1}', 'application/ld+json', { kind: 'json', title: null, text: '{\n"a":1}' }],
    ['{"a":', 'application/json', { kind: 'json', title: null, text: '{"a":' }],
    ['', 'text/plain', { kind: 'text', title: null, text: '' }],
    ['', 'text/html', { kind: 'text', title: null, text: '' }],
  ])('%j as %s', async (bytes, contentType, expected) => {
    expect(await convert(latin1(bytes), contentType)).toEqual(expected);
  });

  it('removes what a person does not see', async () => {
    const bytes = text('a\u200bb\u001b[31mc\u001b[0m\u0007d\u{e0041}\u202ee');
    expect(await convert(bytes, 'text/plain')).toEqual({
      kind: 'text',
      title: null,
      text: 'abcde',
    });
  });
});

describe('the charset', () => {
  it.each<[name: string, bytes: Buffer, contentType: string, expected: string]>([
    ['of the header', latin1('\xc4\xe3'), 'text/plain; charset=GBK', '你'],
    [
      'of the mark, whatever the header says',
      Buffer.from('\ufeff你', 'utf16le'),
      'text/plain; charset=utf-8',
      '你',
    ],
    ['UTF-16 of the header', Buffer.from('你a', 'utf16le'), 'text/plain; charset=utf-16le', '你a'],
    ['of meta', latin1('<meta charset="euc-kr"><p>\xb0\xa1'), 'text/html', '가'],
    [
      'of meta with content',
      latin1('<meta http-equiv=content-type content="text/html; charset=Shift_JIS"><p>\x95\x5c'),
      'text/html',
      '表',
    ],
    [
      'of the XML declaration',
      latin1('<?xml version="1.0" encoding="windows-1251"?><html><p>\xc4\xe0'),
      'application/xhtml+xml',
      'Да',
    ],
    ['UTF-8 if none is stated', text('<p>é'), 'text/html', 'é'],
    ['windows-1252 if it is not UTF-8', latin1('<p>\x80 \xe9'), 'text/html', '€ é'],
    ['of the language if none is stated', latin1('<html lang=ja><p>\x95\x5c'), 'text/html', '表'],
    [
      'known, if the stated one is not',
      text('<meta charset=klingon><p>é'),
      'text/html; charset=x-unknown',
      'é',
    ],
    [
      'ISO-2022-JP, which uses escapes',
      latin1('<p>\x1b$B4A;z\x1b(B'),
      'text/html; charset=iso-2022-jp',
      '漢字',
    ],
  ])('%s', async (_, bytes, contentType, expected) => {
    expect(await convert(bytes, contentType)).toMatchObject({ text: expected });
  });
});

describe('feeds', () => {
  it('in RSS become lists of entries', async () => {
    const rss = `<?xml version="1.0"?><rss version="2.0"><channel><title>News &amp; more</title><description>About</description>
      <item><title><![CDATA[First <b>one</b>]]></title><link>/1</link><pubDate>Tue, 02 Jan 2024 00:00:00 GMT</pubDate>
      <description>&lt;p&gt;Text with a &lt;a href="x"&gt;link&lt;/a&gt;&lt;p style="display:none"&gt;hidden</description></item>
      <item><guid isPermaLink="true">https://e.org/2</guid></item></channel></rss>`;
    expect(await convert(text(rss), 'application/rss+xml')).toEqual({
      kind: 'feed',
      title: 'News & more',
      text: '# News & more\n\nAbout\n\n## [First one](https://e.org/1)\n2024-01-02\n\nText with a [link](https://e.org/a/x)\n\n## https://e.org/2',
    });
  });

  it('in Atom become lists of entries', async () => {
    const atom = `<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title><entry><title>E</title>
      <link rel="self" href="/s"/><link rel="alternate" href="/e"/><updated>2024-03-01T10:00:00Z</updated><summary>S</summary></entry></feed>`;
    expect(await convert(text(atom), 'text/html')).toEqual({
      kind: 'feed',
      title: 'T',
      text: '# T\n\n## [E](https://e.org/e)\n2024-03-01T10:00Z\n\nS',
    });
  });

  it('in JSON become lists of entries', async () => {
    const feed = {
      version: 'https://jsonfeed.org/version/1.1',
      title: 'J',
      items: [{ url: 'https://e.org/1', title: 'One', content_html: '<p>c</p>' }, 7],
    };
    expect(await convert(text(JSON.stringify(feed)), 'application/feed+json')).toEqual({
      kind: 'feed',
      title: 'J',
      text: '# J\n\n## [One](https://e.org/1)\n\nc',
    });
  });
});

describe('PDF documents', () => {
  it('become text with a line for each page', async () => {
    expect(await convert(buildPdf(['Hello world', 'Second page'], 'A title'), 'text/html')).toEqual(
      {
        kind: 'pdf',
        title: 'A title',
        text: '[Page 1 of 2]\n\nHello world\n\n[Page 2 of 2]\n\nSecond page',
      },
    );
  });

  it('without text say so', async () => {
    expect(await convert(buildPdf([''], 'Scan'), 'application/pdf')).toEqual({
      kind: 'pdf',
      title: 'Scan',
      text: '(The document has no text. Its pages may be images: 1.)',
    });
  });
});
