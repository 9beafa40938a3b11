/** The imports of a text, as Claude Code and Gemini CLI write them. */
export interface FileImports {
  /** The paths as they are written, each once, in order. */
  readonly paths: readonly string[];
  /** True if the text contains nothing else. */
  readonly isAll: boolean;
}

/** The maximum number of imports of one file. */
export const MAX_IMPORTS = 64;
const MAX_PATH_LENGTH = 1024;

/**
 * Matches an import after white space or a bracket, so that a mail address does not match. Blanks in the path are
 * escaped.
 */
const IMPORT = /(?<=^|[\s(])@((?:[^\s\\]|\\ )+)/g;
const FENCE = /^\s*(?:[-*+>]\s+)*(`{3,}|~{3,})(.*)$/;
/** Characters at the end of an import that belong to the surrounding sentence. */
const PUNCTUATION: ReadonlySet<string> = new Set('.,;:!?)]"\'*');

/** Finds each `@path` in a text, outside of code, in linear time. */
export function findImports(text: string): FileImports {
  // Most files have no imports.
  if (!text.includes('@')) return { paths: [], isAll: false };
  const paths = new Set<string>();
  let rest = '';
  for (const line of maskCodeBlocks(text)) {
    const remainder = removeCodeSpans(line).replace(IMPORT, (_, raw: string) => {
      const path = removeEndPunctuation(raw.replaceAll('\\ ', ' '));
      const isPath = path !== '' && path.length <= MAX_PATH_LENGTH && !path.includes('\0');
      if (isPath && paths.size < MAX_IMPORTS) paths.add(path);
      return '';
    });
    rest += remainder.trim();
  }
  return { paths: [...paths], isAll: paths.size > 0 && rest === '' };
}

/**
 * Removes punctuation at the end. A regular expression would take quadratic time for a long row of such characters.
 */
function removeEndPunctuation(path: string): string {
  let end = path.length;
  while (end > 0 && PUNCTUATION.has(path.charAt(end - 1))) end -= 1;
  return path.slice(0, end);
}

/**
 * Yields the lines of a text, with a backtick in place of each line of a fenced block, so that it contains no path.
 */
function* maskCodeBlocks(text: string): Iterable<string> {
  let open: string | null = null;
  for (const line of text.split('\n')) {
    const [, marks = '', info = ''] = FENCE.exec(line) ?? [];
    if (open === null) {
      // A line that begins with `` ``` `` and contains another backtick is a code span, not a fence.
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

/** Replaces each code span by a backtick. A code span is enclosed in two runs of the same number of backticks. */
function removeCodeSpans(line: string): string {
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
