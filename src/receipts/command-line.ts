/** One program of a command line with its arguments, quotes taken off. */
export interface LineSegment {
  readonly words: readonly string[];
  /** The operator behind it: `&&`, `||`, `|`, `;`, `&`, a line break or a bracket. '' at the end, '…' where it is cut. */
  readonly next: string;
}

/** The programs of a command line, and the shell options in it that change what its exit code says. */
export interface SplitLine {
  readonly segments: readonly LineSegment[];
  /** `set -e`: a program that fails ends the line. */
  readonly stopsAtFailure: boolean;
  /** `set -o pipefail`: a program that fails in a pipe makes the pipe fail. */
  readonly failsInPipe: boolean;
}

/** UTF-16 units of a command line that are read. */
const READ_LENGTH = 4_000;
/** How often a shell within a shell is read: `bash -c "bash -c …"`. */
const READ_SHELLS = 2;
const HERE_DOCUMENT =
  /<<-?[ \t]*(['"]?)([A-Za-z_]\w*)\1([^\n]*)\n[\s\S]*?(?:\n[ \t]*\2[ \t]*(?=\n|$)|$)/g;
const TOKEN =
  /'[^']*'|"(?:\\.|[^"\\])*"|\$\([^()]*\)|`[^`]*`|\\.|\d*>{1,2}&\d+|\d*[<>]{1,3}[&|-]?|&>{1,2}|&&|\|\|?|[;&\n()]|[^\s'"\\`<>|&;()$]+|[^\S\n]+|./gs;
const SHELL = /^(?:.*\/)?(?:ba|z|da|k)?sh$/;

/**
 * Splits a command line into its programs. This is a rough reading for receipts, which may be wrong about unusual
 * syntax; permissions are decided by the grammar in `policy/`.
 */
export function splitCommandLine(line: string): SplitLine {
  return {
    segments: segmentsOf(line, READ_SHELLS),
    stopsAtFailure: /\bset -\w*e/.test(line),
    failsInPipe: /\bpipefail\b/.test(line),
  };
}

function segmentsOf(line: string, shells: number): readonly LineSegment[] {
  const segments: { words: readonly string[]; next: string }[] = [];
  let words: string[] = [];
  let word: string | null = null;
  let isTarget = false;
  let isComment = false;
  const endWord = () => {
    if (word !== null && !isTarget) words.push(word);
    if (word !== null) isTarget = false;
    word = null;
  };
  const endSegment = (next: string) => {
    endWord();
    isTarget = false;
    const last = segments.at(-1);
    if (words.length > 0) segments.push({ words, next });
    else if (last !== undefined && /^[)\n]$/.test(last.next) && next !== '') last.next = next;
    words = [];
  };
  const text = line.slice(0, READ_LENGTH).replace(HERE_DOCUMENT, '$3\n');
  for (const [token] of text.matchAll(TOKEN)) {
    if (isComment && token !== '\n') continue;
    isComment = word === null && token.startsWith('#');
    if (isComment || token === '\\\n') continue;
    if (/^(?:&&|\|\|?|[;&\n()])$/.test(token)) endSegment(token);
    else if (/^\s+$/.test(token)) endWord();
    else if (/^(?:\d*[<>]|&>)/.test(token)) {
      endWord();
      isTarget = !/\d$/.test(token);
    } else word = (word ?? '') + unquoted(token);
  }
  // What a line goes on with behind the part that is read may decide about its exit code.
  endSegment(line.length > READ_LENGTH ? '…' : '');
  const last = segments.at(-1);
  if (last !== undefined && /^[;\n)]$/.test(last.next)) last.next = '';
  return segments.flatMap((segment) => withinShell(segment, shells));
}

/** Returns what `bash -c "…"` runs in the place of the shell. */
function withinShell(segment: LineSegment, shells: number): readonly LineSegment[] {
  const { words, next } = segment;
  const at = words.findIndex((word) => SHELL.test(word));
  const option = words.findIndex((word, index) => index > at && /^-\w*c$/.test(word));
  const inner = words[option + 1];
  if (at === -1 || option === -1 || inner === undefined || shells === 0) return [segment];
  const segments = segmentsOf(inner, shells - 1);
  const last = segments.at(-1);
  return last === undefined ? [] : [...segments.slice(0, -1), { ...last, next: last.next || next }];
}

function unquoted(token: string): string {
  if (token.startsWith('\\')) return token.slice(1);
  return /^['"]/.test(token) && token.length > 1 ? token.slice(1, -1) : token;
}
