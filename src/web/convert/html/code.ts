import { PageElement, rawText, type PageNode } from './element.ts';

/** A block of code of a page. */
export interface CodeBlock {
  /** The name of the language in lower case; empty if the page does not say it. */
  readonly language: string;
  readonly text: string;
}

const LANGUAGE_CLASS =
  /^(?:language|lang|brush|highlight-source|highlight-text|highlight|sourceCode|source|code)[-:]([a-z0-9+#._-]+)$/i;
const LANGUAGE_ATTRIBUTES = [
  'data-lang',
  'data-language',
  'data-code-language',
  'language',
  'lang',
];
const NOT_LANGUAGES: ReadonlySet<string> = new Set(
  'default none text plaintext plain txt nohighlight no-highlight copy-code wrapper container block line-numbers html-basic highlight source notranslate output'.split(
    ' ',
  ),
);
const LINE_NUMBERS =
  /^(?:line-?numbers?(?:-rows)?|linenos?|lineno|ln|ln-num|gutter|rouge-gutter|blob-num|lnt?|hljs-ln-numbers|react-syntax-highlighter-line-number|code-line-number|line-num)$/i;
const LINE_WRAPPER =
  /^(?:line|code-line|ec-line|token-line|cl|view-line|cm-line|CodeMirror-line)$/i;
const LABELS =
  /^(?:copy|copy-button|copybtn|code-header|toolbar|hljs-copy|lang-label|filename|clipboard-copy)$/i;

/** Reads a `pre` element, or a table or list whose rows are lines of code. */
export function readCode(element: PageElement): CodeBlock {
  const text = codeText(element).replaceAll('\r\n', '\n').replaceAll('\u00a0', ' ').trimEnd();
  return { language: findLanguage(element), text: text.slice(startOfFirstLine(text)) };
}

/** Returns the index of the first line that is not blank. */
function startOfFirstLine(text: string): number {
  const blank = text.length - text.trimStart().length;
  return text.lastIndexOf('\n', blank - 1) + 1;
}

/** Writes a block of code with fences that its text does not contain. */
export function formatCode({ language, text }: CodeBlock): string {
  let longest = 2;
  for (const [run] of text.matchAll(/`{3,}/g)) longest = Math.max(longest, run.length);
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

function findLanguage(element: PageElement): string {
  const inside = element.elements.filter(({ name }) => name === 'code');
  // The pages of many programs name the language two or three levels above the code.
  const above: PageElement[] = [];
  for (
    let each: PageElement | null = element;
    each !== null && above.length < 8;
    each = each.parent
  ) {
    if (each.name === 'body' || each.name === 'main' || each.name === 'article') break;
    // Only the elements around this block belong to it alone.
    if (above.length > 1 && each.children.length > 4) break;
    above.push(each);
  }
  for (const each of [...inside, ...above]) {
    const language = languageOf(each, each === element || inside.includes(each));
    if (language !== '') return language;
  }
  return '';
}

function languageOf(element: PageElement, isCode: boolean): string {
  const names = element.classNames;
  for (const [index, name] of names.entries()) {
    const found =
      LANGUAGE_CLASS.exec(name)?.[1] ?? (name === 'brush:' ? names[index + 1] : undefined);
    const language = plainLanguage(found ?? '');
    if (language !== '') return language;
  }
  for (const attribute of LANGUAGE_ATTRIBUTES) {
    // On other elements, `lang` is the language of a person.
    if (attribute === 'lang' && !isCode) continue;
    const language = plainLanguage(element.attribute(attribute));
    if (language !== '') return language;
  }
  // Highlight.js, Pandoc and MDN put the bare name beside a class of their own.
  const isMarked = names.some((name) =>
    /^(?:hljs|sourceCode|brush:?|prettyprint|programlisting|src)$/.test(name),
  );
  const bare = isMarked
    ? names.find((name) => /^[a-z][a-z0-9+#]{0,11}$/.test(name) && !OTHER_CLASSES.has(name))
    : undefined;
  return plainLanguage((bare ?? '').replace(/^src-/, ''));
}

const OTHER_CLASSES: ReadonlySet<string> = new Set(
  'hljs src code line numbers brush prettyprint prettyprinted programlisting linenums copy sh_sourcecode wrap dark light'.split(
    ' ',
  ),
);

function plainLanguage(name: string): string {
  const language = name.toLowerCase().replace(/;$/, '');
  return /^[a-z0-9+#._-]{1,24}$/.test(language) && !NOT_LANGUAGES.has(language) ? language : '';
}

/** Returns the text of code: without the columns of line numbers, and with a line feed for each wrapped line. */
function codeText(root: PageElement): string {
  const pieces: string[] = [];
  let atLineStart = true;
  const write = (text: string): void => {
    if (text === '') return;
    pieces.push(text);
    atLineStart = text.endsWith('\n');
  };
  const visit = (node: PageNode, next: PageNode | undefined): void => {
    if (typeof node === 'string') return write(node);
    if (node.name === 'br') return write('\n');
    if (node !== root && isDecoration(node)) return;
    if (node.isBlock && !atLineStart && node !== root) write('\n');
    for (const [index, child] of node.children.entries()) visit(child, node.children[index + 1]);
    if (node === root || !(node.isBlock || endsLine(node, next))) return;
    if (!atLineStart || isEmptyLine(node)) write('\n');
  };
  visit(root, undefined);
  return pieces.join('');
}

/** Tests whether an element wraps a line of code without a line feed of its own, in it or after it. */
function endsLine(element: PageElement, next: PageNode | undefined): boolean {
  if (next === undefined || !element.classNames.some((name) => LINE_WRAPPER.test(name)))
    return false;
  return typeof next === 'string' ? !/^\r?\n/.test(next) : next.name !== 'br';
}

/** Tests whether an element is an empty line of code, perhaps with its number. */
function isEmptyLine(line: PageElement): boolean {
  const isLine =
    line.name === 'li' ||
    line.name === 'tr' ||
    line.classNames.some((name) => LINE_WRAPPER.test(name));
  return isLine && line.elements.every((child) => isDecoration(child) || rawText(child) === '');
}

function isDecoration(element: PageElement): boolean {
  if (element.name === 'button') return true;
  // What a person cannot select is no part of the code: line numbers and prompts.
  if (/user-select\s*:\s*none/i.test(element.attribute('style'))) return true;
  const names = element.classNames;
  if (names.some((name) => LINE_NUMBERS.test(name) || LABELS.test(name))) {
    return !names.some((name) => /^hljs$/.test(name));
  }
  return false;
}

/** Returns the element with the code of a table that shows line numbers beside code; null for any other table. */
export function findCodeInTable(table: PageElement): PageElement | null {
  const row = firstRow(table);
  if (row === null) return null;
  const cells = row.elements.filter(({ name }) => name === 'td' || name === 'th');
  if (cells.length !== 2) return null;
  const [numbers, code] = cells;
  if (numbers === undefined || code === undefined) return null;
  const hasNumbers =
    /^[\d\s]*$/.test(rawText(numbers)) ||
    numbers.classNames.some((name) => LINE_NUMBERS.test(name));
  if (!hasNumbers) return null;
  if (code.classNames.some((name) => /^(?:blob-code|hljs-ln-code|line-code)$/.test(name)))
    return table;
  const pre = code.elements.find(
    ({ name, elements }) => name === 'pre' || elements[0]?.name === 'pre',
  );
  return pre === undefined ? null : pre.name === 'pre' ? pre : (pre.elements[0] ?? null);
}

function firstRow(table: PageElement): PageElement | null {
  for (const child of table.elements) {
    if (child.name === 'tr') return child;
    const row = child.elements.find(({ name }) => name === 'tr');
    if (row !== undefined) return row;
  }
  return null;
}
