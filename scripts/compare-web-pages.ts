/**
 * Compares the conversion of web pages with other programs on the pages in test/web/pages: the bytes of the result, the
 * share of the content that is present, and the share of navigation and advertisements that is absent.
 * `--failures` also lists each text that is missing or left in our result; `--show FILE` prints our result for a page.
 */
import { parseArgs } from 'node:util';
import { Readability } from '@mozilla/readability';
import { Defuddle } from 'defuddle/node';
import { parseHTML } from 'linkedom';
import TurndownService from 'turndown';
import { decodePage } from '../src/web/convert/charset.ts';
import { convertBytes } from '../src/web/convert/convert-bytes.ts';
import { judge, PAGES, readPage } from '../test/web/pages/pages.ts';

const { values: options } = parseArgs({
  options: { failures: { type: 'boolean', default: false }, show: { type: 'string' } },
});

type Convert = (bytes: Buffer, url: URL) => Promise<string>;

/** Adds the title, which the other programs return separately, and which our result contains. */
function withTitle(title: string | null | undefined, text: string): string {
  return `# ${title ?? ''}\n\n${text}`;
}

const CONVERTERS: Readonly<Record<string, Convert>> = {
  muster: async (bytes, url) => {
    const page = await convertBytes({ bytes, contentType: null, url });
    return 'text' in page ? page.text : '';
  },
  'readability + turndown': async (bytes) => {
    const { document } = parseHTML(decodePage(bytes, null));
    const article = new Readability(document).parse();
    const { document: content } = parseHTML(`<html><body>${article?.content ?? ''}</body></html>`);
    return withTitle(article?.title, new TurndownService().turndown(content.body));
  },
  defuddle: async (bytes, url) => {
    const { document } = parseHTML(decodePage(bytes, null));
    const { title, content } = await Defuddle(document, url.href, {
      markdown: true,
      useAsync: false,
    });
    return withTitle(title, content);
  },
};

if (options.show !== undefined) {
  const page = PAGES.find(({ file }) => file.startsWith(options.show ?? ''));
  if (page === undefined) throw new Error(`No page in test/web/pages is named ${options.show}.`);
  console.log(await CONVERTERS['muster']?.(readPage(page), new URL(page.url)));
  process.exit();
}

const totals = new Map<string, { bytes: number; present: number; absent: number; ms: number }>();
const row = (name: string, cells: readonly string[]) =>
  console.log(`${name.padEnd(34)}${cells.map((cell) => cell.padStart(28)).join('')}`);
row('page', Object.keys(CONVERTERS));
// The other programs write about what they do not know.
console.error = console.warn = () => {};
let counts = { present: 0, absent: 0 };
for (const page of PAGES) {
  const bytes = readPage(page);
  counts = {
    present: counts.present + page.present.length,
    absent: counts.absent + page.absent.length,
  };
  const cells: string[] = [];
  const failures: string[] = [];
  for (const [name, convert] of Object.entries(CONVERTERS)) {
    const started = performance.now();
    let text: string;
    try {
      text = await convert(bytes, new URL(page.url));
    } catch (thrown) {
      cells.push(`failed: ${String(thrown).slice(0, 18)}`);
      continue;
    }
    const ms = performance.now() - started;
    const { missing, left } = judge(page, text);
    const total = totals.get(name) ?? { bytes: 0, present: 0, absent: 0, ms: 0 };
    totals.set(name, {
      bytes: total.bytes + Buffer.byteLength(text),
      present: total.present + page.present.length - missing.length,
      absent: total.absent + page.absent.length - left.length,
      ms: total.ms + ms,
    });
    const present = `${page.present.length - missing.length}/${page.present.length}`;
    cells.push(
      `${Buffer.byteLength(text)} B ${present} ${page.absent.length - left.length}/${page.absent.length}`,
    );
    if (name === 'muster')
      failures.push(
        ...missing.map((each) => `  missing: ${each}`),
        ...left.map((each) => `  left: ${each}`),
      );
  }
  row(page.file, cells);
  if (options.failures) for (const failure of failures) console.log(failure);
}
row(
  'all',
  [...totals.values()].map(
    ({ bytes, present, absent, ms }) =>
      `${Math.round(bytes / 1000)} kB ${((100 * present) / counts.present).toFixed(1)}% ${((100 * absent) / counts.absent).toFixed(1)}% ${Math.round(ms)} ms`,
  ),
);
