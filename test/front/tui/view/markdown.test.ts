import { stripVTControlCharacters } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sanitizeForTerminal } from '../../../../src/base/terminal-text.ts';
import { visibleWidth } from '../../../../src/front/tui/view/fit.ts';
import { decodeEntities, linkTarget } from '../../../../src/front/tui/view/markdown-inline.ts';
import { markdownLines } from '../../../../src/front/tui/view/markdown.ts';
import { Pen, plainLines } from '../../../../src/front/tui/view/pen.ts';
import { PLAIN, THEMES } from '../../../../src/front/tui/view/theme.ts';

const PEN = new Pen(PLAIN);
const COLORED = new Pen(THEMES.dark, null, { hasHyperlinks: true });

function drawn(text: string, width = 40): string {
  return markdownLines(text, { width, isOpen: false }, PEN).join('\n');
}

describe('markdown', () => {
  it('underlines the first two levels of headings, and shows no marks', () => {
    expect(drawn('# One\n\n## Two\ntext\n\n### Three\n\n#### Four')).toMatchInlineSnapshot(`
      "One
      ═══

      Two
      ───
      text

      Three

      Four"
    `);
  });

  it('aligns the columns of a table and has one rule', () => {
    const table =
      '| name | count | note |\n|---|--:|:-:|\n| a | 1 | x |\n| long one | 200 | `ab` |';
    expect(drawn(table)).toMatchInlineSnapshot(`
      "name     │ count │ note
      ─────────┼───────┼─────
      a        │     1 │  x
      long one │   200 │  ab"
    `);
  });

  it('wraps the cells of a table that is too wide', () => {
    const table =
      '| option | meaning |\n|---|---|\n| `--watch` | runs again whenever a file has changed |\n| `-q` | says less |';
    expect(drawn(table, 32)).toMatchInlineSnapshot(`
      "option  │ meaning
      ────────┼───────────────────────
      --watch │ runs again whenever a
              │ file has changed
      -q      │ says less"
    `);
  });

  it('lists the rows of a table that has no room', () => {
    const row = '| 1 | 2 | 3 | 4 | 5 |';
    const table = `| one | two | three | four | five |\n|-|-|-|-|-|\n${row}\n${row}`;
    expect(drawn(table, 20)).toMatchInlineSnapshot(`
      "one: 1
      two: 2
      three: 3
      four: 4
      five: 5

      one: 1
      two: 2
      three: 3
      four: 4
      five: 5"
    `);
  });

  it('indents nested lists, their code and their further lines', () => {
    const list =
      '1. First, which is long enough to be wrapped somewhere\n   - inner\n     ```sh\n     npm test\n     ```\n   - [x] done\n10. Tenth\n\n* loose\n\n* list';
    expect(drawn(list, 30)).toMatchInlineSnapshot(`
      "1. First, which is long enough
         to be wrapped somewhere
         - inner
           \`\`\`sh
             npm test
           \`\`\`
         - [x] done
      10. Tenth

      * loose

      * list"
    `);
  });

  it('keeps the indentation of code that is wrapped', () => {
    const code = 'if (a) {\n    return call(firstArgument, secondArgument, third);\n}';
    expect(drawn(`\`\`\`ts\n${code}\n\`\`\``, 36)).toMatchInlineSnapshot(`
      "\`\`\`ts
        if (a) {
            return
              call(firstArgument,
              secondArgument, third);
        }
      \`\`\`"
    `);
  });

  it('decodes entities in text, but not in code', () => {
    expect(drawn('a &lt; b &amp;&amp; c &#8594; d &unknown; `&amp;`\n\n```\n&amp;\n```'))
      .toMatchInlineSnapshot(`
      "a < b && c → d &unknown; &amp;

      \`\`\`
        &amp;
      \`\`\`"
    `);
  });

  it('shows quotes, rules, formulas and tildes as they are', () => {
    expect(
      drawn('> quoted\n> - item\n\n---\n\n\\(a_b\\) costs ~5 or ~~6~~ **bold** _em_\n\n<b>tag</b>'),
    ).toMatchInlineSnapshot(`
      "│ quoted
      │ - item

      ────────────────────────────────────────

      \\(a_b\\) costs ~5 or ~~6~~ bold em

      <b>tag</b>"
    `);
  });

  it('is drawn the same while it is written and when it is complete, line by line', () => {
    const text =
      '# One\n\ntext **bold**\n\n- a\n  - b\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```ts\nlet a;\n```\n\n    code\n\n    more\n\n1. one\n\n   two\n\n3. end\n\nlast *word*';
    for (let end = 1; end <= text.length; end += 1) {
      const part = text.slice(0, end);
      const style = { width: 40, isOpen: true };
      const growing = markdownLines(part, style, COLORED);
      expect(growing).toEqual(markdownLines(part, style, new Pen(THEMES.dark)));
      if (part.endsWith('\n'))
        expect(growing.map(stripVTControlCharacters).join('\n')).toBe(drawn(part));
    }
  });
});

describe('a link', () => {
  const open = (text: string) =>
    markdownLines(text, { width: 80, isOpen: false, hidesTargets: true }, COLORED).join('\n');

  it.each([
    ['[docs](https://example.com/a)', '\u001b]8;;https://example.com/a\u001b\\', 'docs'],
    ['<https://example.com/a>', '\u001b]8;;https://example.com/a\u001b\\', 'https://example.com/a'],
    ['[me](mailto:a@b.c)', '\u001b]8;;mailto:a@b.c\u001b\\', 'me'],
    // A text that looks like another address does not hide the target.
    [
      '[good.com](https://evil.com)',
      '\u001b]8;;https://evil.com/\u001b\\',
      'good.com (https://evil.com)',
    ],
  ])('%s is opened by the terminal', (text, sequence, shown) => {
    expect(open(text)).toContain(sequence);
    expect(stripVTControlCharacters(open(text))).toBe(shown);
  });

  it.each([
    ['[x](javascript:alert)', 'x (javascript:alert)'],
    ['[x](src/a.ts)', 'x (src/a.ts)'],
    ['[x](vscode://file/a)', 'x (vscode://file/a)'],
  ])('%s is text with its target', (text, shown) => {
    expect(open(text)).not.toContain(']8;');
    expect(stripVTControlCharacters(open(text))).toBe(shown);
  });

  it('shows its target where the terminal opens none, and where the user must see it', () => {
    const text = '[docs](https://example.com/a)';
    const style = { width: 80, isOpen: false };
    const shown = 'docs (https://example.com/a)';
    expect(markdownLines(text, { ...style, hidesTargets: true }, PEN)).toEqual([shown]);
    expect(markdownLines(text, style, COLORED).map(stripVTControlCharacters)).toEqual([shown]);
  });

  it('has only visible ASCII characters in its target', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const target = linkTarget(`https://example.com/${text}`);
        expect(target ?? '!').toMatch(/^[!-~]+$/);
      }),
    );
  });
});

it('entities produce no character that controls the terminal', () => {
  expect(decodeEntities('&#27;[31m &#x202e; &#10; &#x110000; &#0;')).toBe(
    '&#27;[31m &#x202e; &#10; &#x110000; &#0;',
  );
  fc.assert(
    fc.property(fc.nat(0x11_ff_ff), (code) => {
      const decoded = decodeEntities(`&#${code};`);
      expect(sanitizeForTerminal(decoded, 'prose')).toBe(decoded);
    }),
  );
});

it('no text is wider than the screen or has other sequences than those of the pen', () => {
  const pieces = [
    '# ',
    '- ',
    '1. ',
    '> ',
    '|',
    '|--|',
    '```',
    '`',
    '**',
    '[a](https://b.c)',
    '&#27;',
    '\n',
    '\n\n',
    '    ',
    'word ',
    '日本',
    '\u001b[31m',
    '<b>',
  ];
  const text = fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((all) => all.join(''));
  fc.assert(
    fc.property(text, fc.integer({ min: 20, max: 60 }), fc.boolean(), (source, width, isOpen) => {
      const style = { width, isOpen, hidesTargets: true };
      for (const line of markdownLines(plainLines(source), style, COLORED)) {
        expect(visibleWidth(line)).toBeLessThanOrEqual(width);
        // oxlint-disable-next-line no-control-regex -- the sequences of the pen
        const rest = line.replaceAll(/\u001b\[[\d;]*m|\u001b\]8;;[!-~]*\u001b\\/g, '');
        expect(sanitizeForTerminal(rest, 'prose')).toBe(rest);
      }
    }),
  );
});
