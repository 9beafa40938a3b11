import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { typedMention } from '../../../../src/front/tui/terminal/autocomplete.ts';
import {
  formatMention,
  isPlainText,
  matchFiles,
} from '../../../../src/front/tui/terminal/mention-text.ts';
import { droppedImage } from '../../../../src/front/tui/terminal/pasted-images.ts';
import { OutputBuffer } from '../../../../src/front/tui/terminal/shell-commands.ts';
import { findFileMentions } from '../../../../src/engine/quote/quote.ts';

it.each([
  ['app', ['src/app.ts', 'test/app.test.ts', 'apple/x.ts', 'src/my-app.ts', 'src/a/p/p.ts']],
  ['/APP.TS', ['src/app.ts', 'test/app.test.ts', 'src/a/p/p.ts', 'src/my-app.ts']],
  ['src/a', ['src/app.ts', 'src/a/p/p.ts', 'src/my-app.ts']],
  ['zz', []],
])('%s finds %j', (typed, found) => {
  const paths = ['apple/x.ts', 'src/a/p/p.ts', 'src/app.ts', 'src/my-app.ts', 'test/app.test.ts'];
  expect(matchFiles(paths, typed)).toEqual(found);
});

it('without a query the files of the top directories are offered', () => {
  expect(matchFiles(['a/b/c.ts', 'd.ts', 'a/e.ts'], '')).toEqual(['d.ts', 'a/e.ts', 'a/b/c.ts']);
});

it.each([
  ['@', { prefix: '@', typed: '' }],
  ['see @src/a', { prefix: '@src/a', typed: 'src/a' }],
  ['see @"my no', { prefix: '@"my no', typed: 'my no' }],
  ['me@example', null],
  ['@a b', null],
])('before the cursor in %j', (before, mention) => {
  expect(typedMention(before)).toEqual(mention);
});

it('every file name can be mentioned', () => {
  const paths = fc.string({ minLength: 1, maxLength: 40, unit: 'binary' }).filter(isPlainText);
  fc.assert(
    fc.property(paths, (path) => {
      fc.pre(!path.includes('`') && !path.includes('<stdin>') && path.isWellFormed());
      const [names = []] = findFileMentions(`see ${formatMention(path)} there`, []);
      expect(names).toContain(path);
    }),
  );
});

it.each([
  ['/tmp/a.png', '/tmp/a.png'],
  ["'/tmp/a b.png'", '/tmp/a b.png'],
  ['"/tmp/a b.png"', '/tmp/a b.png'],
  ['/tmp/a\\ b.JPG ', '/tmp/a b.JPG'],
  ['file:///tmp/a%20b.webp', '/tmp/a b.webp'],
  ['shot.gif', '/work/shot.gif'],
  ['file://elsewhere/a.png', null],
  ['look at a.txt', null],
  ['/tmp/a.png\n/tmp/b.png', null],
  ['', null],
])('%j, dropped, is the image %j', (text, path) => {
  expect(droppedImage(text, '/work')).toBe(path);
});

describe('the output of a command', () => {
  it('is complete up to the limit, in any pieces', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array()), (pieces) => {
        const keeper = new OutputBuffer();
        for (const piece of pieces) keeper.add(Buffer.from(piece));
        keeper.end();
        const whole = Buffer.concat(pieces).toString('utf8');
        expect(keeper.text).toBe(whole);
        expect(keeper.lines).toBe(whole === '' ? 0 : whole.replace(/\n$/, '').split('\n').length);
      }),
    );
  });

  it('keeps its beginning and its end beyond the limit', () => {
    const keeper = new OutputBuffer();
    keeper.add(Buffer.from('begin\n'));
    for (let at = 0; at < 100; at += 1) keeper.add(Buffer.alloc(100_000, 'x'));
    keeper.add(Buffer.from('\nend\n'));
    keeper.end();
    expect(keeper.text.length).toBeLessThan(5_100_000);
    expect(keeper.text).toMatch(/^begin\nx+\n\[… \d+ characters left out: the limit kept_/);
    expect(keeper.text.endsWith('x\nend\n')).toBe(true);
    expect(keeper.readEnd(4)).toBe('end\n');
  });
});
