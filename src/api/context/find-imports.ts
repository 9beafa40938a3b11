/** What a text imports, as Claude Code and Gemini CLI write it, and what is left of it without. */
export interface FileImports {
  /** As written, each once, in order. */
  readonly paths: readonly string[];
  /** Whether it says nothing else. */
  readonly isAll: boolean;
}

/** Of one file. */
export const MAX_IMPORTS = 64;
const MAX_PATH = 1024;

/** Behind white space or a bracket: an address of mail is none. Blanks in it are escaped. */
const IMPORT = /(?<=^|[\s(])@((?:[^\s\\]|\\ )+)/g;
const FENCE = /^\s*(?:[-*+>]\s+)*(`{3,}|~{3,})(.*)$/;
/** Of the sentence that it stands in. */
const PUNCTUATION: ReadonlySet<string> = new Set('.,;:!?)]"\'*');

/** `@path` in a text, outside of code. Linear. */
export function findImports(text: string): FileImports {
  // Most have none.
  if (!text.includes('@')) return { paths: [], isAll: false };
  const paths = new Set<string>();
  let rest = '';
  for (const line of linesOutsideCode(text)) {
    const left = withoutCodeSpans(line).replace(IMPORT, (_, raw: string) => {
      const path = withoutPunctuation(raw.replaceAll('\\ ', ' '));
      const isPath = path !== '' && path.length <= MAX_PATH && !path.includes('\0');
      if (isPath && paths.size < MAX_IMPORTS) paths.add(path);
      return '';
    });
    rest += left.trim();
  }
  return { paths: [...paths], isAll: paths.size > 0 && rest === '' };
}

/** A pattern that ends at the end would look at each mark of a long row as the first one. */
function withoutPunctuation(word: string): string {
  let end = word.length;
  while (end > 0 && PUNCTUATION.has(word.charAt(end - 1))) end -= 1;
  return word.slice(0, end);
}

/** Lines of fenced blocks become such that no path can stand in. */
function* linesOutsideCode(text: string): Iterable<string> {
  let open: string | null = null;
  for (const line of text.split('\n')) {
    const [, marks = '', info = ''] = FENCE.exec(line) ?? [];
    if (open === null) {
      // `` ``` `` with a mark behind it is a span of code.
      const opens = marks !== '' && !(marks.startsWith('`') && info.includes('`'));
      if (opens) open = marks;
      yield opens ? '`' : line;
    } else {
      const closes = marks.startsWith(open) && info.trim() === '';
      if (closes) open = null;
      yield '`';
    }
  }
}

/** What stands between two runs of as many backticks is code. */
function withoutCodeSpans(line: string): string {
  if (!line.includes('`')) return line;
  const runs = [...line.matchAll(/`+/g)];
  const last = new Map(runs.map((run, index) => [run[0].length, index]));
  let outside = '';
  let done = 0;
  for (let at = 0; at < runs.length; at += 1) {
    const opening = runs[at];
    if (opening === undefined) break;
    const { length } = opening[0];
    if ((last.get(length) ?? at) <= at) continue;
    let closing = at + 1;
    while (runs[closing]?.[0].length !== length) closing += 1;
    outside += `${line.slice(done, opening.index)}\``;
    done = (runs[closing]?.index ?? line.length) + length;
    at = closing;
  }
  return outside + line.slice(done);
}
