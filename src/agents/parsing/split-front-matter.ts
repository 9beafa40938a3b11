/** The parts of a file with front matter. Line ends are `\n`, and lines count from 1 in the file. */
type SplitFile =
  | { readonly kind: 'none' }
  | { readonly kind: 'unclosed'; readonly line: number }
  | {
      readonly kind: 'found';
      /** The text between the fences. */
      readonly yaml: string;
      /** The line of the file on which `yaml` begins. */
      readonly yamlLine: number;
      /** The text after the closing fence, unchanged. */
      readonly body: string;
    };

const BYTE_ORDER_MARK = '\uFEFF';
const FENCE = /^---[ \t]*$/;
const INDENTED_FENCE = /^([ \t]+)---[ \t]*$/;

/**
 * Splits a file into front matter and body. A byte order mark, empty lines at the start, spaces after a fence, and an
 * indentation that all lines share are ignored. The first closing fence ends the front matter. Later `---` lines belong
 * to the body.
 */
export function splitFrontMatter(raw: string): SplitFile {
  const text = normalizeLineEnds(raw.startsWith(BYTE_ORDER_MARK) ? raw.slice(1) : raw);
  const open = findFirstLine(text);
  if (open === undefined) return { kind: 'none' };
  if (FENCE.test(open.line)) return splitAtFence(text, open);
  const indent = INDENTED_FENCE.exec(open.line)?.[1];
  const dedented = indent === undefined ? undefined : dedent(text, indent);
  const dedentedOpen = dedented === undefined ? undefined : findFirstLine(dedented);
  if (dedented === undefined || dedentedOpen === undefined) return { kind: 'none' };
  return splitAtFence(dedented, dedentedOpen);
}

/** Replaces `\r\n` and `\r` by `\n`. */
export function normalizeLineEnds(text: string): string {
  return text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text;
}

interface Line {
  readonly line: string;
  readonly number: number;
  /** The offset of the next line. */
  readonly next: number;
}

function readLine(text: string, start: number, number: number): Line {
  const end = text.indexOf('\n', start);
  return end === -1
    ? { line: text.slice(start), number, next: text.length }
    : { line: text.slice(start, end), number, next: end + 1 };
}

/** Returns the first line that is not blank. */
function findFirstLine(text: string): Line | undefined {
  let line = readLine(text, 0, 1);
  while (line.line.trim() === '') {
    if (line.next >= text.length) return undefined;
    line = readLine(text, line.next, line.number + 1);
  }
  return line;
}

function splitAtFence(text: string, open: Line): SplitFile {
  let at = open;
  while (at.next < text.length) {
    const start = at.next;
    at = readLine(text, start, at.number + 1);
    if (FENCE.test(at.line)) {
      return {
        kind: 'found',
        yaml: text.slice(open.next, start),
        yamlLine: open.number + 1,
        body: text.slice(at.next),
      };
    }
  }
  return { kind: 'unclosed', line: open.number };
}

/** Removes `indent` from each line. Returns undefined if a line that is not blank does not begin with `indent`. */
function dedent(text: string, indent: string): string | undefined {
  const lines = text.split('\n');
  if (lines.some((line) => line.trim() !== '' && !line.startsWith(indent))) return undefined;
  return lines
    .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line.trimStart()))
    .join('\n');
}
