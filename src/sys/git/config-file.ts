/** One setting in a git configuration. */
export interface GitSetting {
  /** `section.key` or `section.subsection.key`, with the section and the key in lower case. */
  readonly name: string;
  /** The value, or null if the key has no `=`, which means true. */
  readonly value: string | null;
}

/** Matches white space as git defines it, and comments up to the end of their line. */
const BLANK = /(?:[ \t\r\n]|[#;][^\n]*)*/y;
const SECTION = /\[([A-Za-z0-9.-]+)(?:[ \t\r]+"((?:[^"\\\n]|\\[^\n])*)")?\]/y;
const KEY = /([A-Za-z][A-Za-z0-9-]*)[ \t\r]*/y;
const VALUE = /=((?:"(?:[^"\\\n]|\\[^])*"|\\[^]|[^"\\\n#;])*)/y;
const COMMENT = /[#;][^\n]*/y;
const LINE_END = /\n|$/y;

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\\n', '\n'],
  ['\\t', '\t'],
  ['\\b', '\b'],
  ['\\"', '"'],
  ['\\\\', '\\'],
  ['\\\n', ''],
]);

/** Parses a configuration file as git does (git-config(1), "Syntax"). Returns null if git would reject it. */
export function parseGitConfig(source: string): readonly GitSetting[] | null {
  const text = `${source.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')}\n`;
  const settings: GitSetting[] = [];
  let at = 0;
  let section = '';
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found !== null) at += found[0].length;
    return found;
  };
  for (take(BLANK); at < text.length; take(BLANK)) {
    const header = take(SECTION);
    if (header !== null) {
      section = toSectionName(header[1] ?? '', header[2]);
      continue;
    }
    const key = take(KEY)?.[1]?.toLowerCase();
    if (key === undefined) return null;
    const raw = take(VALUE)?.[1];
    const value = raw === undefined ? null : decodeValue(raw);
    if (raw !== undefined) take(COMMENT);
    if (value === undefined || take(LINE_END) === null) return null;
    settings.push({ name: section === '' ? key : `${section}.${key}`, value });
  }
  return settings;
}

function toSectionName(name: string, subsection: string | undefined): string {
  const section = name.toLowerCase();
  return subsection === undefined
    ? section
    : `${section}.${subsection.replaceAll(/\\([^])/g, '$1')}`;
}

/** Decodes a value; undefined if it has an escape that git does not know. */
function decodeValue(raw: string): string | undefined {
  let value = '';
  // White space at the end of a value does not count, except in quotes.
  let endOfContent = 0;
  let isQuoted = false;
  for (const piece of raw.match(/\\[^]|[^]/g) ?? []) {
    if (piece === '"') {
      isQuoted = !isQuoted;
    } else if (piece.length > 1) {
      const character = ESCAPES.get(piece);
      if (character === undefined) return undefined;
      value += character;
      if (character !== '') endOfContent = value.length;
    } else if (isQuoted || !/[ \t\r]/.test(piece)) {
      value += piece;
      endOfContent = value.length;
    } else if (value !== '') {
      value += piece;
    }
  }
  return value.slice(0, endOfContent);
}
