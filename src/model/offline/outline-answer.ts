import { definedName, indentOf } from '../../base/code/definition.ts';
import { fileKind, isProse } from '../../base/code/file-kind.ts';
import { plural } from '../../base/text.ts';
import { CONFIGURE } from './answer-words.ts';
import type { Evidence } from './evidence.ts';
import { failureNote } from './failure-note.ts';
import { firstComment } from './first-comment.ts';
import type { Intent } from './intent.ts';
import { isSecretPath } from '../../sys/secret-paths.ts';
import { directoryOrder, filesBelow, OPENED_OF_DIRECTORY } from './outline-plan.ts';
import { oneLine, quote } from './quote.ts';

const OUTLINED_SYMBOLS = 40;
const NAMED_SYMBOLS = 8;
const NAMED_FILES = 12;
/** Methods of a class stand further in, and what stands deeper is no part of an outline. */
const MAX_INDENT = 4;

const OUTLINE = `The offline engine cannot put code into words: this is an outline. ${CONFIGURE}`;
const JUDGE = `The offline engine only searches: it cannot judge code. ${CONFIGURE} This is an outline:`;

/** The named files' definitions in order, or a line for each file of a directory. */
export function answerWithOutline(intent: Intent, evidence: Evidence): string {
  const parts = [intent.beyond === null ? OUTLINE : JUDGE];
  if (intent.directory === null) {
    parts.push(...[...evidence.opened].map((path) => fileOutline(path, evidence)));
    const missing = intent.query.paths.filter(
      (wanted) => ![...evidence.opened].some((path) => path.endsWith(wanted)),
    );
    if (missing.length > 0) parts.push(`Not opened: ${missing.map(code).join(', ')}.`);
  } else {
    parts.push(directoryOutline(intent.directory, evidence));
  }
  if (evidence.failures.length > 0) parts.push(failureNote(evidence.failures));
  return parts.join('\n\n');
}

function fileOutline(path: string, evidence: Evidence): string {
  const { seen, symbols, comment } = looked(path, evidence);
  const shown = symbols
    .slice(0, OUTLINED_SYMBOLS)
    .map(([line, text]) => `- \`${path}:${line}\` ${quote(text)}`);
  if (shown.length < symbols.length) shown.push(`- … and ${symbols.length - shown.length} more`);
  const heading = `\`${path}\`, ${plural(seen.length, 'line')} read, ${plural(symbols.length, 'definition or heading', 'definitions or headings')}:`;
  return [heading, ...(comment === null ? [] : [`> ${comment}`, '']), ...shown].join('\n');
}

function directoryOutline(directory: string, evidence: Evidence): string {
  const all = directoryOrder(filesBelow(directory, evidence.files));
  const ordered = all.filter((path) => !isSecretPath(path));
  const secret = all.length - ordered.length;
  const opened = ordered.filter((path) => evidence.opened.has(path));
  const others = ordered.filter((path) => !evidence.opened.has(path));
  const total = directory === '.' ? evidence.fileTotal : all.length;
  const name = directory === '.' ? 'The working directory' : `\`${directory}\``;
  const heading = `${name}: ${plural(total, 'file')}, ${opened.length} opened (at most ${OPENED_OF_DIRECTORY}):`;
  const lines = opened.map((path) => fileLine(path, evidence));
  if (others.length > 0) {
    const rest = total - secret - opened.length - Math.min(others.length, NAMED_FILES);
    const more = rest > 0 ? ` and ${rest} more` : '';
    lines.push(`- Not opened: ${others.slice(0, NAMED_FILES).map(code).join(', ')}${more}`);
  }
  if (secret > 0)
    lines.push(`- Left closed: ${plural(secret, 'file')} of a kind that holds secrets`);
  return [heading, ...lines].join('\n');
}

function fileLine(path: string, evidence: Evidence): string {
  const { symbols, comment } = looked(path, evidence);
  const first = symbols[0]?.[0] ?? 1;
  const names = symbols.map(([, text]) => definedName(text) ?? oneLine(text.replace(/^#+/, '')));
  const shown = names.slice(0, NAMED_SYMBOLS).map(code).join(', ');
  const more = names.length - NAMED_SYMBOLS;
  const list = shown === '' ? '' : `${shown}${more > 0 ? ` and ${more} more` : ''}`;
  return [`- \`${path}:${first}\``, comment, list]
    .filter((part) => part !== null && part !== '')
    .join(' · ');
}

type SeenLine = readonly [number, string];

interface Looked {
  readonly seen: readonly SeenLine[];
  /** Definitions, of a text its headings. */
  readonly symbols: readonly SeenLine[];
  readonly comment: string | null;
}

function looked(path: string, evidence: Evidence): Looked {
  const seen = [...(evidence.lines.get(path) ?? [])].toSorted(([a], [b]) => a - b);
  const isText = isProse(path) && fileKind(path) === 'docs';
  const symbols = isText ? headings(seen) : seen.filter(([, text]) => isOutlined(path, text));
  return { seen, symbols, comment: firstComment(seen, isText ? 'text' : 'code') };
}

function isOutlined(path: string, text: string): boolean {
  return !isProse(path) && indentOf(text) <= MAX_INDENT && definedName(text) !== null;
}

/** Of a text; what stands between fences is an example. */
function headings(seen: readonly SeenLine[]): readonly SeenLine[] {
  let isFenced = false;
  return seen.filter(([, text]) => {
    if (/^\s*(?:```|~~~)/.test(text)) isFenced = !isFenced;
    return !isFenced && /^#{1,6}\s/.test(text);
  });
}

function code(text: string): string {
  return `\`${oneLine(text)}\``;
}
