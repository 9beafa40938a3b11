/**
 * The texts of search tools as data. Tolerant: a line that does not have the expected form is
 * passed over, whatever it is (a note about a cut, an error, text of a file). Paths come back with
 * forward slashes, relative to `cwd` where they lie below it.
 */

export interface FoundLine {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

export interface FileCount {
  readonly path: string;
  readonly count: number;
}

export interface NumberedLine {
  readonly line: number;
  readonly text: string;
}

/** A line of a file is kept to this length: minified files have lines of megabytes. */
const MAX_LINE_CHARS = 400;
const MAX_PATH_CHARS = 1000;
const MAX_NOTES = 4;
const NOTES_CHARS = 2000;
/** What tools say beside their results; a path may begin with a bracket, too. */
const NOTE =
  /^(?:\[(?:no|not|stopped|cut|more than|the file|up to|\d+ more|\d+ [a-z ]+ left out)\b|…|\.\.\.|no (?:files?|match|paths?)\b)/i;

/** One path a line. At most `limit`. */
export function parsePathList(text: string, cwd: string, limit: number): readonly string[] {
  const paths: string[] = [];
  for (const line of lines(text)) {
    if (paths.length >= limit) break;
    const path = readPath(line, cwd);
    if (path !== null && !NOTE.test(line)) paths.push(path);
  }
  return paths;
}

/** `path:count` lines. */
export function parseCounts(text: string, cwd: string, limit: number): readonly FileCount[] {
  const counts: FileCount[] = [];
  for (const line of lines(text)) {
    if (counts.length >= limit) break;
    const match = NOTE.test(line) ? null : /^(.+):\s*(\d{1,9})\+?$/.exec(line);
    const path = match === null ? null : readPath(match[1] ?? '', cwd);
    if (path !== null && match !== null) counts.push({ path, count: Number(match[2]) });
  }
  return counts;
}

/**
 * `path:line:text` lines; also `line:text` below a heading that is a path, or, where one file was
 * searched (`searched`), without any path.
 */
export function parseFoundLines(
  text: string,
  cwd: string,
  options: { readonly limit: number; readonly searched?: string },
): readonly FoundLine[] {
  const found: FoundLine[] = [];
  let heading = options.searched === undefined ? null : readPath(options.searched, cwd);
  for (const raw of lines(text)) {
    if (found.length >= options.limit) break;
    if (NOTE.test(raw)) continue;
    const bare = /^\s*(\d{1,9})[:\t→|](.*)$/.exec(raw);
    const full = /^(.+?):(\d{1,9}):(.*)$/.exec(raw);
    const path = bare !== null ? heading : readPath(full?.[1] ?? '', cwd);
    const match = bare ?? full;
    if (match !== null && path !== null) {
      found.push({
        path,
        line: Number(match.at(-2)),
        text: (match.at(-1) ?? '').slice(0, MAX_LINE_CHARS),
      });
    } else if (match === null) {
      heading = readPath(raw, cwd) ?? heading;
    }
  }
  return found;
}

/** Numbered lines of one file, as `12→text`, `12<tab>text`, `12|text` or `12: text`. */
export function parseFileLines(text: string): readonly NumberedLine[] {
  const numbered: NumberedLine[] = [];
  for (const raw of lines(text)) {
    const match = /^\s*(\d{1,9})(?:→|\t|\| ?|: ?)(.*)$/.exec(raw);
    if (match === null) continue;
    numbered.push({ line: Number(match[1]), text: (match[2] ?? '').slice(0, MAX_LINE_CHARS) });
  }
  return numbered;
}

/**
 * How many entries a listing says it does not show, in the notes at its end; Infinity where it says
 * only that there may be more.
 */
export function hiddenEntries(text: string): number {
  let hidden = 0;
  for (const line of text.slice(-NOTES_CHARS).trimEnd().split('\n').slice(-MAX_NOTES)) {
    if (!NOTE.test(line)) continue;
    const more = /^\[(?:more than )?(\d{1,9}) more\b/.exec(line);
    if (more !== null) hidden += Number(more[1]);
    else if (/\bmore\b/.test(line)) hidden = Infinity;
  }
  return hidden;
}

/** Null for what can be no path of a listing. */
function readPath(raw: string, cwd: string): string | null {
  const path = asNamed(raw.trim());
  // A path with control characters is never cited.
  if (path === '' || path.length > MAX_PATH_CHARS || /\p{Cc}/u.test(path)) return null;
  const base = cwd.endsWith('/') ? cwd : `${cwd}/`;
  if (base !== '/' && path.startsWith(base)) return path.slice(base.length);
  return path.replace(/^\.\//, '');
}

/** Tools quote a name that has odd characters, and only such a one. */
function asNamed(shown: string): string {
  if (!/^".*"$/.test(shown)) return shown;
  try {
    const name: unknown = JSON.parse(shown);
    return typeof name === 'string' && /\p{Cc}|\p{Bidi_Control}/u.test(name) ? name : shown;
  } catch {
    // A name that only looks quoted.
    return shown;
  }
}

function* lines(text: string): Generator<string> {
  let start = 0;
  while (start <= text.length) {
    const end = text.indexOf('\n', start);
    const stop = end === -1 ? text.length : end;
    const line = text.slice(start, Math.min(stop, start + MAX_PATH_CHARS + MAX_LINE_CHARS + 20));
    if (line.trim() !== '') yield line.replace(/\r$/, '');
    start = stop + 1;
  }
}
