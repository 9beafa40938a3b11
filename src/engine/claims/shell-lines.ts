/** One program with its arguments, as far as words tell. */
export interface Segment {
  /** Wrappers (`env`, `timeout 60`, `npx`) and assignments in front of the program are taken off. */
  readonly words: readonly string[];
  /** Files that its output goes into. */
  readonly targets: readonly string[];
  /** What joins it to the one before. */
  readonly joint: '' | '&&' | '||' | ';' | '|';
}

/** A longer command is not looked into. */
const LONGEST = 4_000;
const HERE_DOCUMENT = /<<-?\s*(['"]?)([A-Za-z_]\w*)\1/g;
const TOKEN =
  /"(?:[^"\\]|\\.)*"|'[^']*'|\\.|&&|\|\||[;|\n()]|\d?>>?&\d|&>>?|\d?>>?\|?|<<<|<<-?|<|&|[^\s"'\\;|&<>()]+|\s+|./gs;

/**
 * The programs of a command line, those within `bash -c` too. It is a reading for claims alone, which
 * errs on the side of the one who claims; what may run is judged by the grammar of `policy/`.
 */
export function segmentsOf(line: string): readonly Segment[] {
  const text = line.slice(0, LONGEST);
  const found = READ.get(text) ?? segmentsWithin(text, 0);
  if (READ.size >= MOST_READ) READ.clear();
  READ.set(text, found);
  return found;
}

/** Each command is asked about for each sentence of an answer. */
const READ = new Map<string, readonly Segment[]>();
const MOST_READ = 500;

function segmentsWithin(line: string, depth: number): readonly Segment[] {
  const segments: Segment[] = [];
  let draft = newDraft('');
  const close = (joint: Segment['joint']) => {
    endWord(draft);
    const words = withoutWrappers(draft.words);
    const inner = depth < 2 ? innerLine(words) : null;
    if (inner !== null) {
      const [first, ...rest] = segmentsWithin(inner, depth + 1);
      if (first !== undefined) segments.push({ ...first, joint: draft.joint }, ...rest);
    } else if (words.length > 0 || draft.targets.length > 0) {
      segments.push({ words, targets: draft.targets, joint: draft.joint });
    }
    const isEmpty = draft.words.length === 0 && draft.targets.length === 0;
    draft = newDraft(isEmpty ? draft.joint : joint);
  };
  for (const [token] of withoutHereDocuments(line).matchAll(TOKEN)) {
    if (token === '&&' || token === '||' || token === '|') close(token);
    else if (token === ';' || token === '\n' || token === '(' || token === ')') close(';');
    else if (token === '&') close(';');
    else if (/^\s+$/.test(token)) endWord(draft);
    else if (/^\d?>>?&\d$/.test(token)) endWord(draft);
    else if (/^(?:&|\d)?>>?\|?$/.test(token)) {
      endWord(draft);
      draft.redirect = 'out';
    } else if (token.startsWith('<')) {
      endWord(draft);
      draft.redirect = 'in';
    } else draft.word = (draft.word ?? '') + unquoted(token);
  }
  close('');
  return segments;
}

interface Draft {
  readonly words: string[];
  readonly targets: string[];
  readonly joint: Segment['joint'];
  word: string | null;
  redirect: 'out' | 'in' | null;
}

function newDraft(joint: Segment['joint']): Draft {
  return { words: [], targets: [], joint, word: null, redirect: null };
}

function endWord(draft: Draft): void {
  const { word, redirect } = draft;
  if (word === null) return;
  if (redirect === null) draft.words.push(word);
  else if (redirect === 'out' && !word.startsWith('/dev/')) draft.targets.push(word);
  draft.word = null;
  draft.redirect = null;
}

function unquoted(token: string): string {
  const [first] = token;
  if (first === '\\') return token.slice(1);
  return token.length > 1 && (first === '"' || first === "'") ? token.slice(1, -1) : token;
}

/** Without the text of here-documents: that is no command. */
function withoutHereDocuments(line: string): string {
  if (!line.includes('<<') || !line.includes('\n')) return line;
  const kept: string[] = [];
  const ends: string[] = [];
  for (const each of line.split('\n')) {
    if (ends.length > 0) {
      if (each.trim() === ends[0]) ends.shift();
      continue;
    }
    for (const [, , end] of each.matchAll(HERE_DOCUMENT)) if (end !== undefined) ends.push(end);
    kept.push(each.replace(HERE_DOCUMENT, ' '));
  }
  return kept.join('\n');
}

const SHELLS = /^(?:\S*\/)?(?:ba|z|da|k)?sh$/;

function innerLine([program = '', ...words]: readonly string[]): string | null {
  if (program === 'eval') return words.join(' ');
  if (!SHELLS.test(program)) return null;
  const flag = words.findIndex((word) => /^-[a-z]*c[a-z]*$/.test(word));
  return flag === -1 ? null : (words[flag + 1] ?? null);
}

const SYNTAX = new Set('{ } ! then do else if while until fi done'.split(' '));
const PLAIN_WRAPPERS = new Set(
  'sudo env time nice nohup command exec builtin stdbuf unbuffer xvfb-run ionice caffeinate npx bunx pnpx uvx winpty direnv dotenv cross-env doas firejail'.split(
    ' ',
  ),
);
const TWO_WORD_WRAPPERS =
  /^(?:(?:poetry|uv|pipenv|pdm|rye|hatch|conda|mamba|devbox|mise|asdf|fvm|dotenvx|infisical|doppler) (?:run|exec|x)|bundle exec|(?:npm|pnpm|yarn|bun) (?:exec|dlx|x)|pipx run)$/;

/** A wrapper's own options go with it. */
function withoutWrappers(words: readonly string[]): readonly string[] {
  let rest = words;
  for (;;) {
    const [first = '', second = ''] = rest;
    let taken = 0;
    if (SYNTAX.has(first) || /^[A-Za-z_]\w*\+?=/.test(first)) taken = 1;
    else if (first === 'timeout') taken = 1;
    else if (PLAIN_WRAPPERS.has(first)) taken = 1;
    else if (TWO_WORD_WRAPPERS.test(`${first} ${second}`)) taken = 2;
    if (taken === 0) return rest;
    rest = rest.slice(taken);
    if (SYNTAX.has(first)) continue;
    while (rest[0]?.startsWith('-') === true) rest = rest.slice(1);
    if (first === 'timeout' && /^[\d.]+[smhd]?$/.test(rest[0] ?? '')) rest = rest.slice(1);
  }
}

/** The last part of a path, for comparing programs. */
export function programName(word: string): string {
  return (word.split('/').at(-1) ?? word).replace(/\.exe$/, '');
}
