import { format } from 'oxfmt';
import type { Declaration, EntryPoint, PackageTypes, Part } from './read-types.ts';

/** The headings of a page, with the kinds of declarations below each. */
const GROUPS: readonly (readonly [heading: string, kinds: ReadonlySet<Declaration['kind']>])[] = [
  ['Functions', new Set(['function'])],
  ['Classes', new Set(['class'])],
  ['Constants', new Set(['constant'])],
  ['Types', new Set(['interface', 'type'])],
];

const NOTE =
  '<!-- Written by `npm run docs:api` from the doc comments of the package. Change those. -->';

/** The entry point whose page describes the types that other entry points export, too. */
const EVENTS = 'muster-agent/events';

/** An exported name, and the heading below which it is described. */
interface Description {
  readonly name: string;
  readonly page: string;
  /** The anchor of the heading, as GitHub names it. */
  readonly anchor: string;
}

/** Formats the pages of the reference, one for each entry point. Returns their texts by the names of their files. */
export async function formatPages(types: PackageTypes): Promise<ReadonlyMap<string, string>> {
  const links = new Map<string, Description>();
  // A type that several entry points export is described with the data, or else where it comes first.
  for (const entry of types.entries.toSorted((a, b) => rank(a) - rank(b))) {
    const page = fileOf(entry);
    const anchors: string[] = [];
    for (const [name, declaration] of inOrder(entry)) {
      if (links.has(declaration.name)) continue;
      const plain = name.toLowerCase();
      const count = anchors.filter((each) => each === plain).length;
      anchors.push(plain);
      const anchor = count === 0 ? plain : `${plain}-${count}`;
      links.set(declaration.name, { name, page, anchor });
    }
  }
  const pages = types.entries.map(async (entry) => {
    const page = new Page(fileOf(entry), { types, links });
    return [page.file, await page.format(entry)] as const;
  });
  return new Map([['README.md', formatIndex(types)], ...(await Promise.all(pages))]);
}

/** Lists what an entry point exports, in the order of its page: by group, then by name. */
function inOrder({ exports }: EntryPoint): readonly (readonly [string, Declaration])[] {
  const byName = [...exports].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return GROUPS.flatMap(([, kinds]) => byName.filter(([, { kind }]) => kinds.has(kind)));
}

function rank({ name }: EntryPoint): number {
  return name === EVENTS ? 0 : 1;
}

function fileOf({ name }: EntryPoint): string {
  return `${name.split('/')[1] ?? 'library'}.md`;
}

function formatIndex({ entries }: PackageTypes): string {
  const rows = entries.map((entry) => {
    const purpose = entry.doc.slice(entry.doc.indexOf(': ') + 2);
    return `| [\`${entry.name}\`](${fileOf(entry)}) | ${purpose} |`;
  });
  return [
    '# API reference',
    NOTE,
    'Each page describes what an entry point of the package exports. [Build agents with the library](../library.md) is the guide, and [Test agents and programs](../testing.md) the one for tests. Lists of fields leave out the word `readonly`: except for the state that `foldEvents` returns, all data is read-only.',
    ['| import | |', '|---|---|', ...rows].join('\n'),
    '',
  ].join('\n\n');
}

class Page {
  readonly file: string;
  readonly #types: PackageTypes;
  readonly #links: ReadonlyMap<string, Description>;

  constructor(
    file: string,
    {
      types,
      links,
    }: { readonly types: PackageTypes; readonly links: ReadonlyMap<string, Description> },
  ) {
    this.file = file;
    this.#types = types;
    this.#links = links;
  }

  async format(entry: EntryPoint): Promise<string> {
    const all = inOrder(entry);
    const isHere = ([, { name }]: (typeof all)[number]) =>
      this.#links.get(name)?.page === this.file;
    const here = all.filter(isHere);
    const elsewhere = all.filter((each) => !isHere(each)).map(([, { name }]) => this.#link(name));
    const blocks = [`# \`${entry.name}\``, NOTE, capitalize(entry.doc.split(': ')[1] ?? '')];
    for (const [heading, kinds] of GROUPS) {
      const group = here.filter(([, { kind }]) => kinds.has(kind));
      if (group.length === 0) continue;
      const list = group.map(([, { name }]) => this.#link(name)).join(', ');
      blocks.push(`## ${heading}`, list);
      for (const [name, declaration] of group)
        blocks.push(...(await this.#describe(name, declaration)));
    }
    if (elsewhere.length > 0) blocks.push('## Also exported', `${elsewhere.join(', ')}.`);
    return `${blocks.join('\n\n')}\n`;
  }

  async #describe(name: string, declaration: Declaration): Promise<readonly string[]> {
    const { text, doc, example, parts, mentions } = declaration;
    const shown = this.#withExportedNames(this.#spellOut(text));
    const used = [...mentions].filter((each) => each !== declaration.name && this.#links.has(each));
    const isOneLine = parts.length > 0;
    return [
      `### ${name}`,
      this.#formatDoc(doc),
      ...(isOneLine ? this.#formatHead(declaration) : [codeBlock(await formatCode(shown))]),
      ...(isOneLine || used.length === 0
        ? []
        : [`Types: ${used.map((each) => this.#link(each)).join(', ')}`]),
      ...(parts.length === 0 ? [] : [this.#formatParts(parts, '')]),
      ...(example === null ? [] : ['Example:', codeBlock(example)]),
    ];
  }

  /** Describes the beginning of a type whose parts follow, if its name and kind do not say all. */
  #formatHead({ text, name, kind, parts }: Declaration): readonly string[] {
    const head = text.replace(/^(?:interface|class|type) /, '').replace(/ =$|;$/, '');
    const rest = head.slice(name.length).replaceAll(/\s+/g, ' ').replaceAll('readonly ', '');
    const declared = rest === '' ? [] : [this.#code(rest, name)];
    return kind === 'type' && parts.every((part) => part.name === '')
      ? [...declared, 'One of:']
      : declared;
  }

  #formatParts(parts: readonly Part[], indent: string): string {
    return parts
      .map(({ text, doc, parts: below }) => {
        const comment = this.#formatDoc(doc);
        const words = [text === '' ? '' : this.#code(this.#spellOut(text)), comment];
        const line = words.filter((each) => each !== '').join(': ');
        const own = `${indent}- ${line === '' ? 'An object:' : line}`;
        return below.length === 0 ? own : `${own}\n${this.#formatParts(below, `${indent}  `)}`;
      })
      .join('\n');
  }

  /** Formats code on one line, in which names are links. `start`: text before it that is no link. */
  #code(text: string, start = ''): string {
    const linked = text.replaceAll(/'[^']*'|"[^"]*"|[\w$]+|\[\]|[<>&*~[\]\\]/g, (token) => {
      if (this.#links.has(token)) return this.#link(token);
      return ESCAPES.get(token) ?? token;
    });
    return `<code>${start}${linked}</code>`;
  }

  #link(declared: string): string {
    const link = this.#links.get(declared);
    if (link === undefined) throw new Error(`${declared} is not exported`);
    return `[${link.name}](${link.page === this.file ? '' : link.page}#${link.anchor})`;
  }

  /** Joins the lines of a comment, and links the pages that it names. */
  #formatDoc(doc: string): string {
    return doc
      .split('\n')
      .map((line) => line.trim())
      .join(' ')
      .replaceAll(/`[^`]*`|docs\/([\w-]+\.md)|</g, (found, page: string | undefined) => {
        if (page !== undefined) return `[${page}](../${page})`;
        return found === '<' ? '&lt;' : found;
      })
      .trim();
  }

  /** Replaces the lists of texts that a type mentions, such as `(typeof TIERS)[number]`, by their texts. */
  #spellOut(text: string): string {
    return text
      .replaceAll(/\(typeof (\w+)\)\[number\]/g, (found, name: string) =>
        this.#textsOf(name, /'[^']*'/g, found),
      )
      .replaceAll(/keyof typeof (\w+)/g, (found, name: string) =>
        this.#textsOf(name, /(?<=readonly )\w+/g, found).replaceAll(/\w+/g, "'$&'"),
      );
  }

  #textsOf(constant: string, pattern: RegExp, instead: string): string {
    const texts = this.#types.declarations.get(constant)?.text.match(pattern);
    return texts === null || texts === undefined ? instead : texts.join(' | ');
  }

  #withExportedNames(text: string): string {
    return text.replaceAll(/\w+/g, (word) => this.#links.get(word)?.name ?? word);
  }
}

/** The characters that have a meaning in Markdown or HTML, as they are written there. */
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['&', '&amp;'],
  ...Array.from('*~[]\\', (character) => [character, `\\${character}`] as const),
]);

function codeBlock(code: string): string {
  return `\`\`\`ts\n${code.trim()}\n\`\`\``;
}

/** Formats a declaration as the sources are formatted. */
async function formatCode(text: string): Promise<string> {
  const { code, errors } = await format('declaration.d.ts', text, {
    singleQuote: true,
    printWidth: 100,
  });
  const [error] = errors;
  if (error !== undefined) throw new Error(`${error.message}: ${text}`);
  return code;
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
