import { languageOf, type Language } from '../../base/code/language.ts';

/**
 * For each language the lines that import, with what is imported as a group. Each looks at no character
 * more than a few times, whatever a file holds.
 */
const RULES: Partial<Record<Language, readonly RegExp[]>> = {
  python: [/^[ \t]*from[ \t]+([.\w]+)[ \t]+import\b/gm, /^[ \t]*import[ \t]+([\w.]+)/gm],
  go: [/^[ \t]*(?:import[ \t]+)?(?:[\w.]+[ \t]+)?"([\w./-]+)"[ \t]*$/gm],
  rust: [/^[ \t]*(?:pub(?:\([^)\n]*\))?[ \t]+)?(?:use|mod)[ \t]+([\w:]+)/gm],
  java: [/^[ \t]*import[ \t]+(?:static[ \t]+)?([\w.]+)/gm],
  kotlin: [/^[ \t]*import[ \t]+([\w.]+)/gm],
  scala: [/^[ \t]*import[ \t]+([\w.]+)/gm],
  csharp: [/^[ \t]*using[ \t]+(?:static[ \t]+)?([\w.]+)[ \t]*;/gm],
  c: [/^[ \t]*#[ \t]*include[ \t]+["<]([^">\n]+)[">]/gm],
  javascript: [
    /\bfrom[ \t]*['"]([^'"\n]+)['"]/g,
    /\b(?:import|require)[ \t]*(?:\([ \t]*)?['"]([^'"\n]+)['"]/g,
  ],
  ruby: [/^[ \t]*require(?:_relative)?[ \t]*\(?['"]([^'"\n]+)['"]/gm],
  php: [/^[ \t]*use[ \t]+([\w\\]+)/gm],
};
const MAX_IMPORTS = 200;
const MAX_CHARS = 200;
// oxlint-disable-next-line no-control-regex -- all of ASCII is meant
const ASCII = /^[\x00-\x7f]*$/;
/** A name that more files than this have does not tell which of them is meant. */
const MAX_TWINS = 64;

/** What a file imports, as written, each once; `bytes` is its text in UTF-8. */
export function importsOf(path: string, bytes: Buffer): readonly string[] {
  const language = languageOf(path);
  const rules = language === null ? undefined : RULES[language];
  if (rules === undefined) return [];
  // A character a byte: to be had at no cost, and all that the rules look for is ASCII.
  const text = bytes.toString('latin1');
  const found = new Set<string>();
  for (const rule of rules) {
    for (const [, name = ''] of text.matchAll(rule)) {
      if (found.size >= MAX_IMPORTS) break;
      if (name.length <= MAX_CHARS) found.add(name);
    }
  }
  return [...found].map((name) => (ASCII.test(name) ? name : utf8(name)));
}

function utf8(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** For each file, by its place in `files`, the places of those that it imports. */
export function importGraph(
  files: readonly { readonly path: string; readonly imports: readonly string[] }[],
): readonly (readonly number[])[] {
  const byStem = new Map<string, number[]>();
  const stems = files.map(({ path }) => segmentsOf(path));
  const languages = files.map(({ path }) => languageOf(path));
  for (const [index, stem] of stems.entries()) {
    const name = stem.at(-1) ?? '';
    const known = byStem.get(name);
    if (known === undefined) byStem.set(name, [index]);
    else known.push(index);
  }
  const wanted = new Map<string, readonly Wanted[]>();
  return files.map(({ imports }, from) => {
    const found = new Set<number>();
    for (const name of imports) {
      let ways = wanted.get(name);
      if (ways === undefined) wanted.set(name, (ways = wantedBy(name, byStem)));
      const to = resolveImport(ways, { from, stems, languages });
      if (to !== null && to !== from) found.add(to);
    }
    return [...found];
  });
}

/** One way to understand a name: its parts, and the files that may be meant. */
interface Wanted {
  readonly parts: readonly string[];
  readonly candidates: readonly number[];
}

interface Resolution {
  readonly from: number;
  readonly stems: readonly (readonly string[])[];
  readonly languages: readonly (Language | null)[];
}

/** The last part may be a symbol of the module before it. */
function wantedBy(name: string, byStem: ReadonlyMap<string, readonly number[]>): readonly Wanted[] {
  const whole = name
    .replace(/\.(?:[cm]?[jt]sx?|h|hh|hpp|py|rb)$/, '')
    .split(/[./\\:]+/)
    .filter((part) => part !== '' && part !== 'crate' && part !== 'self' && part !== 'super');
  return [whole, whole.slice(0, -1)].flatMap((parts) => {
    const candidates = byStem.get(parts.at(-1) ?? '') ?? [];
    return candidates.length === 0 || candidates.length > MAX_TWINS ? [] : [{ parts, candidates }];
  });
}

/** The file whose path agrees with the longest part of the name; of several, one of the same language close by. */
function resolveImport(
  ways: readonly Wanted[],
  { from, stems, languages }: Resolution,
): number | null {
  for (const { parts, candidates } of ways) {
    let best: { readonly index: number; readonly agreed: number } | null = null;
    for (const index of candidates) {
      if (languages[index] !== languages[from]) continue;
      const stem = stems[index] ?? [];
      const agreed = 10 * commonEnd(stem, parts) + commonStart(stem, stems[from] ?? []);
      if (best === null || agreed > best.agreed) best = { index, agreed };
    }
    if (best !== null) return best.index;
  }
  return null;
}

/** A path without its ending, as segments; an index file stands for its directory. */
function segmentsOf(path: string): readonly string[] {
  const parts = path.replace(/\.\w+$/, '').split('/');
  return parts.length > 1 && /^(?:index|mod|__init__)$/.test(parts.at(-1) ?? '')
    ? parts.slice(0, -1)
    : parts;
}

function commonEnd(a: readonly string[], b: readonly string[]): number {
  let count = 0;
  while (
    count < a.length &&
    count < b.length &&
    a[a.length - 1 - count] === b[b.length - 1 - count]
  )
    count += 1;
  return count;
}

function commonStart(a: readonly string[], b: readonly string[]): number {
  let count = 0;
  while (count < a.length && count < b.length && a[count] === b[count]) count += 1;
  return count;
}
