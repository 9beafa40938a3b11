/** One program with its arguments, as far as words tell. */
export interface Segment {
  /** Assignments in front of the program, and wrappers such as `sudo` or `npx`, are taken off. */
  readonly words: readonly string[];
  /** Files that its output goes into. */
  readonly targets: readonly string[];
  /** What joins it to the one before. */
  readonly joint: string;
}

/** A longer command is not looked into. */
const LONGEST = 4_000;
const TOKEN =
  /"(?:[^"\\]|\\.)*"|'[^']*'|\\.|&&|\|\||\d?>>?&\d|[&\d]?>>?\|?|<<<|<<-?|[<;|&\n()]|[^\s"'\\;|&<>()]+|\s+|./gs;
const HERE_DOCUMENT =
  /<<-?[ \t]*(['"]?)([A-Za-z_]\w*)\1([^\n]{0,200})\n[\s\S]*?(?:\n[ \t]*\2[ \t]*(?=\n|$)|$)/g;
const IN_FRONT =
  /^(?:[A-Za-z_]\w*\+?=.*|[{}!]|then|do|else|if|while|until|fi|done|sudo|env|time|nice|nohup|command|exec|timeout|npx|bunx|pnpx|uvx|cross-env|[\d.]+[smh]?)$/s;
const RUN_BY =
  /^(?:(?:poetry|uv|pipenv|pdm|rye|hatch|conda) run|bundle exec|(?:npm|pnpm|yarn|bun) (?:exec|dlx|x))$/;

/**
 * The programs of a command line. It is a reading for claims alone, which errs on the side of the one who
 * claims; what may run is judged by the grammar of `policy/`.
 */
export function segmentsOf(line: string): readonly Segment[] {
  const segments: Segment[] = [];
  let words: string[] = [];
  let targets: string[] = [];
  let word: string | null = null;
  let into: string[] | null = words;
  let joint = '';
  const endWord = () => {
    if (word === null) return;
    into?.push(word);
    word = null;
    into = words;
  };
  const redirect = (to: string[] | null) => {
    endWord();
    into = to;
  };
  const endSegment = (next: string) => {
    endWord();
    if (words.length + targets.length > 0) {
      segments.push({ words: programOf(words), targets: targets.filter(isFile), joint });
      joint = next;
    }
    [words, targets] = [[], []];
    into = words;
  };
  for (const [token] of line.slice(0, LONGEST).replace(HERE_DOCUMENT, '$3\n').matchAll(TOKEN)) {
    if (/^(?:&&|\|\||[;|&\n()])$/.test(token)) endSegment(token);
    else if (/^\s|^\d?>>?&\d/.test(token)) endWord();
    else if (/^[&\d]?>/.test(token)) redirect(targets);
    else if (token.startsWith('<')) redirect(null);
    else word = (word ?? '') + unquoted(token);
  }
  endSegment('');
  return segments;
}

function isFile(target: string): boolean {
  return !target.startsWith('/dev/');
}

function unquoted(token: string): string {
  if (token.startsWith('\\')) return token.slice(1);
  return token.length > 1 && /^["']/.test(token) ? token.slice(1, -1) : token;
}

function programOf(words: readonly string[]): readonly string[] {
  let at = 0;
  for (;;) {
    const [first = '', second = ''] = words.slice(at, at + 2);
    if (IN_FRONT.test(first)) at += 1;
    else if (RUN_BY.test(`${first} ${second}`)) at += 2;
    else if (at > 0 && first.startsWith('-')) at += 1;
    else if (first === 'docker' && second === 'compose')
      return ['docker-compose', ...words.slice(at + 2)];
    else return words.slice(at);
  }
}

/** The last part of a path, for comparing programs and files. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
