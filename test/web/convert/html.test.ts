import * as fc from 'fast-check';
import { describe, expect, inject, it } from 'vitest';
import { convertHtml } from '../../../src/web/convert/html/convert-html.ts';

/** Converts a part of a page that stands in the main content, after enough text. */
function markdownOf(html: string): string {
  const { text } = convertHtml(
    `<main><p>${PROSE}</p>${html}</main>`,
    new URL('https://e.org/a/b?c'),
  );
  expect(text.startsWith(PROSE)).toBe(true);
  return text.slice(PROSE.length).trim();
}

const PROSE = 'Some sentences of text stand here, so that the page counts as one with content. '
  .repeat(4)
  .trim();

describe('markdown of', () => {
  it.each<[name: string, html: string, markdown: string]>([
    ['headings', '<h2>A <b>b</b> <a class="headerlink" href="#a">¶</a></h2>', '## A b'],
    ['emphasis', '<p>a<b> b </b><i>c</i><s>d</s></p>', 'a **b** *c*~~d~~'],
    [
      'links',
      '<p><a href="../x(1)">y</a> <a href="#z">z</a> <a href="javascript:f()">j</a></p>',
      '[y](https://e.org/x%281%29) z j',
    ],
    [
      'a link around blocks',
      '<a href="/x"><h3>T</h3><p>s</p></a>',
      '### [T](https://e.org/x)\n\ns',
    ],
    [
      'images',
      '<p><img src="i.png" alt="An [i]"><img src="j.png" alt=""><img src="data:x" alt="k"></p>',
      String.raw`![An \[i\]](https://e.org/a/i.png)k`,
    ],
    [
      'inline code',
      '<p><code>a`b</code> <code><a href="/x">f</a></code></p>',
      '`` a`b `` [`f`](https://e.org/x)',
    ],
    [
      'nested lists',
      '<ul><li>a<ol start="9"><li>b<li><p>c</p><pre>d</pre></ol><li>e</ul>',
      '- a\n  9. b\n  10. c\n\n      ```\n      d\n      ```\n- e',
    ],
    ['a list directly in a list', '<ul><li>a</li><ul><li>b</li></ul></ul>', '- a\n  - b'],
    [
      'check boxes',
      '<ul><li><input type="checkbox" checked> done<li><input type="checkbox"> open</ul>',
      '- [x] done\n- [ ] open',
    ],
    [
      'definitions',
      '<dl><dt>a<dt>b<dd><p>c</p><p>d</p><dt>e<dd>f</dl>',
      'a\nb\n: c\n\n  d\n\ne\n: f',
    ],
    ['quotes', '<blockquote><p>a</p><blockquote>b</blockquote></blockquote>', '> a\n>\n> > b'],
    ['details', '<details><summary>s</summary><p>c</p></details>', '**s**\n\nc'],
    ['line breaks', '<p>a<br>b<br><br>c</p>', 'a\nb\n\nc'],
    [
      'raised and lowered text',
      '<p>x<sup>2</sup> H<sub>2</sub>O 1<sup>st</sup> e<sup>i+1</sup></p>',
      'x^2 H_2O 1st e^{i+1}',
    ],
    ['ruby', '<p><ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp></ruby></p>', '漢(かん)'],
    [
      'a formula with its source',
      '<p><math><semantics><mi>x</mi><annotation encoding="application/x-tex">x^2</annotation></semantics></math></p>',
      '$x^2$',
    ],
    [
      'a formula without a source',
      '<p><math><mfrac><mi>a</mi><msqrt><mi>b</mi></msqrt></mfrac></math></p>',
      String.raw`$\frac{a}{\sqrt{b}}$`,
    ],
    [
      'a formula of KaTeX',
      '<span class="katex"><span class="katex-mathml"><math><annotation encoding="application/x-tex">y</annotation></math></span><span class="katex-html" aria-hidden="true">yyy</span></span>',
      '$y$',
    ],
    [
      'a formula of MathJax',
      '<p><span class="MathJax">drawn</span><script type="math/tex; mode=display">z</script></p>',
      '$$z$$',
    ],
    [
      'footnotes',
      '<p>a<sup><a href="#f1">1</a></sup></p><ol><li id="f1">n <a href="#r" class="footnote-backref">↩</a></li></ol>',
      'a[^1]\n\n[^1]: n',
    ],
    [
      'buttons in sentences',
      '<p>Press <button>Save</button> now.</p><button>Copy</button>',
      'Press Save now.',
    ],
    [
      'code with a language',
      '<pre class="language-js"><code>a\n  b</code></pre>',
      '```js\na\n  b\n```',
    ],
    [
      'code with line numbers',
      '<pre><span class="lineno">1</span>a\n<span class="lineno">2</span>b</pre>',
      '```\na\nb\n```',
    ],
    [
      'code with line numbers that cannot be selected',
      '<pre><span style="user-select: none">1</span>a\n<span style="user-select:none">2</span>b</pre>',
      '```\na\nb\n```',
    ],
    [
      'a table with text in one column',
      '<table><tr><td></td><td>a</td></tr><tr><td></td><td>b</td></tr></table>',
      'a\n\nb',
    ],
    [
      'code of empty lines',
      '<pre><code><span class="line">a</span>\n<span class="line"></span>\n<span class="line">b</span></code></pre>',
      '```\na\n\nb\n```',
    ],
    [
      'code in elements for lines',
      '<pre><div class="line">a</div><div class="line"></div><div class="line">b</div></pre>',
      '```\na\n\nb\n```',
    ],
    ['code that contains fences', '<pre>```\n````</pre>', '`````\n```\n````\n`````'],
    [
      'a program in a table',
      '<table class="highlight"><tr><td><pre>1\n2</pre></td><td><pre class="hljs rust">a\nb</pre></td></tr></table>',
      '```rust\na\nb\n```',
    ],
    [
      'a table',
      '<table><tr><th align=right>A<th>B<tr><td>1|2<td>x<br>y</table>',
      '| A | B |\n| --: | --- |\n| 1\\|2 | x<br>y |',
    ],
    [
      'a table without headings',
      '<table><tr><td>a<td>b<tr><td>c<td>d</table>',
      '| | |\n| --- | --- |\n| a | b |\n| c | d |',
    ],
    [
      'a table with spans',
      '<table><tr><th>A<th colspan=2>B<tr><td rowspan=2>a<td>b<td>c<tr><td>d<td>e</table>',
      '| A | B | |\n| --- | --- | --- |\n| a | b | c |\n| a | d | e |',
    ],
    [
      'a table with blocks',
      '<table><tr><th>A<th>B<tr><td>a<td><pre>b\nc</pre></table>',
      '- A: a\n\n  B:\n\n  ```\n  b\n  c\n  ```',
    ],
    [
      'a table that arranges a page',
      '<table><tr><td><h2>T</h2><p>a</p></td><td><p>b</p></td></tr></table>',
      '## T\n\na\n\nb',
    ],
    ['an unclosed heading', `<h2>T<p>${PROSE}`, `## T\n\n${PROSE}`],
    [
      'tabs',
      '<div role=tablist><button role=tab aria-controls=x>X</button><button role=tab id=t>Y</button></div><div id=x role=tabpanel>a</div><div role=tabpanel aria-labelledby=t>b</div>',
      '**X**\n\na\n\n**Y**\n\nb',
    ],
  ])('%s', (_, html, markdown) => {
    expect(markdownOf(html)).toBe(markdown);
  });

  it('a page with a base is resolved against it, if it is an address of the web', () => {
    const link = (base: string): string =>
      convertHtml(`<base href="${base}"><p>${PROSE} <a href="x">y</a>`, new URL('https://e.org/a/'))
        .text;
    expect(link('/b/')).toContain('[y](https://e.org/b/x)');
    expect(link('file:///etc/')).toContain('[y](https://e.org/a/x)');
  });
});

describe('hidden text', () => {
  it.each([
    '<p style="display : none">H</p>',
    '<p style="color:red; DISPLAY:NONE">H</p>',
    '<p hidden>H</p>',
    '<p hidden="until-found">H</p>',
    '<p aria-hidden="true">H</p>',
    '<p style="visibility:hidden">H</p>',
    '<p style="opacity:0.0">H</p>',
    '<p style="font-size:0px;">H</p>',
    '<p style="text-indent:-9999px">H</p>',
    '<p style="height:1px;width:1px;overflow:hidden">H</p>',
    '<p style="color:#fff">H</p>',
    '<p style="color:rgb(255, 255, 255)">H</p>',
    '<font color="white">H</font>',
    '<p style="color:#abc;background:#abc">H</p>',
    '<p style="color:transparent">H</p>',
    '<p class="x visually-hidden">H</p>',
    '<!-- H --><p>',
    '<script>H</script>',
    '<template>H</template>',
    '<noscript>H</noscript>',
    '<p title="H" data-x="H">',
    '<svg><text>H</text></svg>',
    '<div hidden><p>a<div>H</div></p></div>',
    '<div role=tabpanel id=x hidden>H</div>',
  ])('%s is left out', (html) => {
    expect(markdownOf(html)).not.toContain('H');
  });

  it.each([
    '<p style="display:block">S</p>',
    '<p style="opacity:0.5">S</p>',
    '<p style="font-size:0.8em">S</p>',
    '<p style="color:#ffe">S</p>',
    '<div style="background:#000"><p style="color:#fff">S</p></div>',
    '<p aria-hidden="false">S</p>',
    '<button role=tab aria-controls=x>T</button><div role=tabpanel id=x hidden>S</div>',
  ])('%s is kept', (html) => {
    expect(markdownOf(html)).toContain('S');
  });
});

describe('parts that are not content', () => {
  const page = (extra: string): string =>
    convertHtml(`<body>${extra}<h1>T</h1><p>${PROSE}</p></body>`, new URL('https://e.org/')).text;

  it.each([
    '<nav><p>B</p></nav>',
    '<div role="navigation">B</div>',
    '<div class="cookie-consent">B</div>',
    '<div id="CookieBanner">B</div>',
    '<ul class="breadcrumbs"><li>B</ul>',
    '<div class="site-footer">B</div>',
    '<form><input> B</form>',
    '<p><a href="/">B</a> &gt; <a href="/x">C</a> &gt; D</p>',
    '<div class="ad">B</div>',
    '<div><a href="/1">Previous</a> <a href="/2">Next B</a></div>',
  ])('%s is removed', (html) => {
    expect(page(html)).not.toContain('B');
  });

  it.each([
    '<section id="cookies"><h2>Cookies</h2><p>B</p></section>',
    '<div id="related-work"><h2>Related work</h2><p>B</p></div>',
    '<dl><dt id="menu">menu</dt><dd>B</dd></dl>',
    '<aside class="admonition note">B</aside>',
    '<p class="ad-hoc-text-of-many-words">B</p>',
    '<pre class="footer">B</pre>',
  ])('%s is content', (html) => {
    expect(page(html)).toContain('B');
  });

  it('a page whose content is not found is kept as a whole', () => {
    expect(convertHtml(`<nav><p>${PROSE}</p></nav>`, new URL('https://e.org/')).text).toBe(PROSE);
  });
});

const TAGS = (
  'table tr td th thead ul ol li dl dt dd p div span a b pre code math svg h1 h2 details blockquote select script style ' +
  'title template button'
).split(' ');

describe('any page', () => {
  const tag = fc
    .constantFrom(...TAGS)
    .chain((name) =>
      fc.constantFrom(
        `<${name}>`,
        `</${name}>`,
        `<${name} class=x id=y href=z hidden`,
        `<${name}/>`,
      ),
    );
  const piece = fc.oneof(
    tag,
    fc.constantFrom(
      '<',
      '>',
      '&',
      '&lt;',
      '&#0;',
      '&#x110000;',
      '<!--',
      '-->',
      '<![CDATA[',
      ']]>',
      '"',
      "'",
      '\0',
      '\n',
    ),
    fc.string({ unit: 'binary', maxLength: 8 }),
  );

  it('is converted without an error', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const { title, text } = convertHtml(pieces.join(''), new URL('https://e.org/'));
        expect([typeof text, title === null || title.trim() === title]).toEqual(['string', true]);
      }),
      { numRuns: 300 * (inject('randomRuns') ?? 1) },
    );
  });

  it('keeps the words of its paragraphs in order', () => {
    const words = fc.array(fc.stringMatching(/^[a-z]{4,9}$/), { minLength: 40, maxLength: 80 });
    fc.assert(
      fc.property(words, (list) => {
        const html = list
          .map((word, index) => (index % 10 === 0 ? `</p><p>${word}` : word))
          .join(' ');
        const { text } = convertHtml(`<p>${html}</p>`, new URL('https://e.org/'));
        expect(text.split(/\s+/)).toEqual(list);
      }),
      { numRuns: 50 },
    );
  });
});
