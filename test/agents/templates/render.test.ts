import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeTags } from '../../../src/base/control-tags.ts';
import {
  itemDigest,
  findMissingFields,
  parseBody,
  renderPrompt,
} from '../../../src/agents/templates/render.ts';
import type { TemplateItem } from '../../../src/protocol/template.ts';

function render(body: string, item: TemplateItem): string {
  return renderPrompt(parseBody(body).parts, { item, index: 1, count: 3 });
}

describe('a template', () => {
  it.each<[body: string, item: TemplateItem, prompt: string]>([
    ['do {{item}}', 'a', 'do a'],
    ['{{ item }} {{index}}/{{count}}', 'a', 'a 2/3'],
    ['{{item.path}}: {{item.lines}}', { path: 'x', lines: [1, 2] }, 'x: [1,2]'],
    ['{{item}}', { path: 'x' }, '{"path":"x"}'],
    ['{{item}}', '{{index}} \\{{ $& {{item}}', '{{index}} \\{{ $& {{item}}'],
    ['\\{{item}} {{item}}', 'a', '{{item}} a'],
    ['{ {item} } {{item}}', '', '{ {item} } '],
    ['{{item}}', 'two\nlines', 'two\nlines'],
    ['{{item}}', 'a <b> </outside 1>', 'a <b> <¦/outside 1>'],
  ])('%j over %j is %j', (body, item, prompt) => {
    expect(render(body, item)).toBe(prompt);
  });

  it.each([
    ['{{items}}', ['{{items}}']],
    ['{{item.}} {{item}}', ['{{item.}}']],
    ['{{}} {{ITEM}} {{index.x}}', ['{{}}', '{{ITEM}}', '{{index.x}}']],
    ['{{item}} \\{{other}}', []],
  ])('%j contains placeholders without a meaning: %j', (body, unknown) => {
    expect(parseBody(body).unknown).toEqual(unknown);
  });

  it('returns the fields that an item does not have itself', () => {
    const { parts } = parseBody('{{item.a}} {{item.b}} {{item.a}} {{item.constructor}}');
    expect([
      findMissingFields(parts, { b: null }),
      findMissingFields(parts, 'text'),
      findMissingFields(parseBody('{{item}}').parts, 'text'),
    ]).toEqual([['a', 'constructor'], ['a', 'b', 'constructor'], []]);
  });

  it('inserts every text of an item unchanged', () => {
    fc.assert(
      fc.property(fc.string(), (item) => {
        const text = escapeTags(item);
        expect(render('[{{item}}|{{item}}]', item)).toBe(`[${text}|${text}]`);
        expect(render('{{item.a}}', { a: item })).toBe(text);
      }),
    );
  });

  it('distinguishes items by their content', () => {
    expect(itemDigest('a')).toBe(itemDigest('a'));
    expect(itemDigest('{"a":1}')).not.toBe(itemDigest({ a: 1 }));
  });
});
