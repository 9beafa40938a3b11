import { lazy } from './lazy.ts';

/** The maximum width of a title in columns. */
const MAX_COLUMNS = 60;
/** The maximum number of characters that are looked at. */
const MAX_READ = 2_000;

/**
 * Derives a title from the first words of a text: its first sentence, or its first line without one, without marks of
 * markdown. It has at most 60 columns and is cut between two words. Returns an empty text if there are no words.
 */
export function titleOf(text: string): string {
  const lines = text.slice(0, MAX_READ).split(/\r?\n|[\u0085\u2028\u2029]/);
  const line = lines.map(withoutMarks).find(hasWords) ?? '';
  // A short beginning such as "Hi." or "No." says too little.
  const [, sentence = line] = /^(.{12,}?[.!?…。！？])(?:\s|$)/u.exec(line) ?? [];
  return cutToColumns(sentence.replace(/[\s.:;,]+$/, ''), MAX_COLUMNS);
}

/** Whether a line has a letter or a digit. Most lines have one of ASCII, for which no pattern is compiled. */
function hasWords(line: string): boolean {
  return /[A-Za-z\d]/.test(line) || /[\p{L}\p{N}]/u.test(line);
}

/** Removes the marks of headings, lists, quotes, emphasis and code, and joins white space. */
function withoutMarks(line: string): string {
  return line
    .replace(/^\s*(?:(?:#{1,6}|[-*+>]|\d{1,3}[.)])\s+)+/, '')
    .replaceAll(/`+|\*\*|__(?=\S)|(?<=\S)__/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

function cutToColumns(text: string, max: number): string {
  const words = text.split(' ');
  let cut = '';
  for (const word of words) {
    const longer = cut === '' ? word : `${cut} ${word}`;
    const isLast = longer.length === text.length;
    if (columnsOf(longer) + (isLast ? 0 : 1) > max) {
      return cut === '' ? `${cutWord(word, max - 1)}…` : `${cut}…`;
    }
    cut = longer;
  }
  return cut;
}

function cutWord(word: string, max: number): string {
  let cut = '';
  let columns = 0;
  for (const letter of word) {
    columns += columnsOf(letter);
    if (columns > max) break;
    cut += letter;
  }
  return cut;
}

const WIDE = lazy(
  () =>
    /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Emoji_Presentation}|[\uff01-\uff60\u3000-\u303f]/u,
);

function columnsOf(text: string): number {
  // Most texts are plain, and a list of titles may have many thousands.
  if (/^[ -~]*$/.test(text)) return text.length;
  let columns = 0;
  for (const letter of text) columns += WIDE().test(letter) ? 2 : 1;
  return columns;
}
