import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { EventLines } from '../../../src/front/html/event-lines.ts';
import { html } from '../../../src/base/html.ts';
import { treePage } from '../../../src/front/html/page.ts';
import { bigTree } from '../../report/logs.ts';

function pageOf(size: { tasks: number; events: number }, words: string): string {
  const lines = new EventLines();
  const tree = bigTree(size, words, lines.add);
  const diffs = new Map(tree.rows.map(({ id }) => [id, { text: words, hasLanded: false }]));
  return [...treePage(tree, { events: lines, diffs })].join('');
}

/** All start tags, as a browser would find them: the page's text holds no `<` of its own. */
function tags(page: string): readonly string[] {
  return page.match(/<[a-z!][^>]*>/gi) ?? [];
}

/** Tags by name: what of a page does not depend on what its logs say. */
function shape(page: string): readonly string[] {
  return tags(page).map((tag) => tag.slice(1).split(/[\s>]/)[0] ?? '');
}

const SIZE = { tasks: 2, events: 8 };

it('text of logs never becomes markup, and control characters are removed', () => {
  const plain = shape(pageOf(SIZE, 'x'));
  const nasty = fc.constantFrom(
    '</script>',
    '</style><script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '"><svg onload=alert(1)>',
    "' onmouseover='x",
    '<!--',
    ']]>',
    '&lt;b&gt;',
    '\u0000\u001b[2J\u202e\r\n',
    '</title><meta http-equiv=refresh content=0>',
    '\ud800',
  );
  const words = fc.array(fc.oneof(nasty, fc.string({ unit: 'binary' })), { minLength: 1 });
  fc.assert(
    fc.property(words, (parts) => {
      // With a word around it no part of the page is left out for being empty.
      const page = pageOf(SIZE, `a${parts.join('')}z`);
      expect(shape(page)).toEqual(plain);
      expect(page).not.toMatch(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/u);
      expect(page.isWellFormed()).toBe(true);
    }),
    { numRuns: 25 },
  );
});

it('the text of logs keeps its content', () => {
  expect(html(`<a href="x">'&amp;`)).toBe('&lt;a href=&quot;x&quot;&gt;&#39;&amp;amp;');
});

it('the page is self-contained: no script, no external link, one style that the policy allows', () => {
  const page = pageOf(SIZE, 'see https://example.com/');
  const names = new Set(shape(page));
  for (const name of ['script', 'link', 'img', 'iframe', 'object', 'form', 'base', 'video']) {
    expect(names.has(name)).toBe(false);
  }
  for (const tag of tags(page)) {
    expect(tag).not.toMatch(/\s(?:src|srcset|action|style|on\w+)=/i);
    expect(/\shref="([^"]*)"/.exec(tag)?.[1] ?? '#').toMatch(/^#/);
  }
  const style = /<style>([\s\S]*?)<\/style>/.exec(page)?.[1] ?? '';
  expect(style).not.toMatch(/url\(|@import/);
  const hash = createHash('sha256').update(style).digest('base64');
  expect(page).toContain(
    `content="default-src &#39;none&#39;; style-src &#39;sha256-${hash}&#39;; base-uri &#39;none&#39;; form-action &#39;none&#39;"`,
  );
});

it('every link has exactly one target', () => {
  const page = pageOf({ tasks: 30, events: 120 }, 'x');
  const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id ?? '');
  expect(new Set(ids).size).toBe(ids.length);
  for (const [, target = ''] of page.matchAll(/ href="#([^"]+)"/g)) expect(ids).toContain(target);
});

it('the size of the page grows with the tasks and not with their events', () => {
  const few = tags(pageOf({ tasks: 10, events: 400 }, 'x')).length;
  const many = tags(pageOf({ tasks: 10, events: 20_000 }, 'x')).length;
  expect(many).toBe(few);
});

it('the page says what it leaves out', () => {
  const page = pageOf({ tasks: 1, events: 24_000 }, 'x');
  expect(page).toMatch(/… \d+ events left out here: muster tasks log child0000000 …/);
  expect(page).toContain('more turns');
  const wide = pageOf({ tasks: 2_010, events: 2_010 }, 'x');
  expect(wide).toContain('11 more tasks left out: this page shows 2000.');
  expect(pageOf(SIZE, 'x'.repeat(10_100))).toContain('… cut here: 100 more characters');
});
