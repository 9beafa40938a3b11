import { errorMessage } from '../../../base/errors.ts';
import type { TextRole } from './theme.ts';

type Library = typeof import('highlight.js/lib/common').default;

/**
 * The maximum lengths of a code block and of its lines, in UTF-16 units. The time for some texts grows with the square of
 * their length. Within these limits, the worst known text takes a quarter of a second, and common code 5 ms.
 */
const MAX_CODE = 8_000;
const MAX_LINE = 300;
/** The maximum number of code blocks whose runs are kept. The code blocks of a growing answer are drawn again and again. */
const MAX_KEPT = 32;

interface HighlighterOptions {
  /** Called when the library has been loaded, so that code can be drawn in colors. */
  readonly onLoaded: () => void;
  readonly onFailed: (why: string) => void;
}

/** Splits code into runs by their role. The library is loaded when the first code is drawn; until then no roles are known. */
export class Highlighter {
  private readonly options: HighlighterOptions;
  private library: Library | null = null;
  private isAsked = false;
  private readonly kept = new Map<string, readonly CodeRun[] | null>();

  constructor(options: HighlighterOptions) {
    this.options = options;
  }

  get isLoaded(): boolean {
    return this.library !== null;
  }

  /** Returns the runs of a code block; null if the language is unknown, the code is too long, or the library is not loaded. `language` is the word after the fence. */
  runs(code: string, language: string): readonly CodeRun[] | null {
    if (language === '' || code.length > MAX_CODE || hasLongLine(code)) return null;
    if (this.library === null) {
      if (!this.isAsked) void this.load();
      return null;
    }
    const key = `${language}\n${code}`;
    const known = this.kept.get(key);
    if (known !== undefined) return known;
    const isKnown = this.library.getLanguage(language) !== undefined;
    const html = isKnown ? this.library.highlight(code, { language, ignoreIllegals: true }) : null;
    const runs = html === null ? null : codeRuns(html.value, code);
    this.kept.set(key, runs);
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= MAX_KEPT) break;
      this.kept.delete(oldest);
    }
    return runs;
  }

  private async load(): Promise<void> {
    this.isAsked = true;
    try {
      this.library = (await import('highlight.js/lib/common')).default;
    } catch (thrown) {
      this.options.onFailed(`code is shown without colors: ${errorMessage(thrown)}`);
      return;
    }
    this.options.onLoaded();
  }
}

function hasLongLine(code: string): boolean {
  return code.split('\n').some((line) => line.length > MAX_LINE);
}

/** A piece of code with its role. */
export interface CodeRun {
  readonly role: TextRole;
  readonly text: string;
}

/** The roles of the library's classes, by the first part of their names. All other classes are drawn as plain code. */
const CLASSES: readonly (readonly [TextRole, string])[] = [
  ['keyword', 'keyword'],
  ['literal', 'literal number symbol'],
  ['string', 'string regexp meta-string'],
  ['dim', 'comment quote meta doctag'],
  ['name', 'title type built_in class section tag name attr attribute'],
  ['name', 'selector-tag selector-class selector-id'],
  ['added', 'addition'],
  ['removed', 'deletion'],
];
const ROLES = new Map<string, TextRole>(
  CLASSES.flatMap(([role, names]) => names.split(' ').map((name) => [name, role] as const)),
);

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#x27;': "'",
};

const TAG = /<span class="hljs-([\w-]+)[^"]*">|<span [^>]*>|<\/span>/g;

/**
 * Converts the library's HTML for `code` to runs. Returns null if the texts of the runs do not add up to the code,
 * because exactly the written code must be shown.
 */
export function codeRuns(html: string, code: string): readonly CodeRun[] | null {
  const runs: CodeRun[] = [];
  const open: TextRole[] = [];
  let at = 0;
  const add = (end: number) => {
    const text = html.slice(at, end).replaceAll(/&(?:amp|lt|gt|quot|#x27);/g, unescaped);
    if (text !== '') runs.push({ role: open.at(-1) ?? 'text', text });
  };
  for (const tag of html.matchAll(TAG)) {
    add(tag.index);
    at = tag.index + tag[0].length;
    if (tag[0] === '</span>') open.pop();
    else open.push(ROLES.get(tag[1] ?? '') ?? open.at(-1) ?? 'text');
  }
  add(html.length);
  return runs.map(({ text }) => text).join('') === code ? runs : null;
}

function unescaped(entity: string): string {
  return ENTITIES[entity] ?? entity;
}

/** Splits runs at the ends of lines. */
export function runLines(runs: readonly CodeRun[]): readonly (readonly CodeRun[])[] {
  const lines: CodeRun[][] = [[]];
  for (const { role, text } of runs) {
    for (const [index, piece] of text.split('\n').entries()) {
      if (index > 0) lines.push([]);
      if (piece !== '') lines.at(-1)?.push({ role, text: piece });
    }
  }
  return lines;
}
