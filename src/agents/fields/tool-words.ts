import type { JsonValue } from '../../base/json.ts';

/** `Tool(arguments)`. */
const PATTERN = /^([\w/.-]+)\s*\((.*)\)$/s;

/** The words of a comma-separated string or a list; undefined for anything else. */
export function toolWords(value: JsonValue): readonly string[] | undefined {
  if (value === null) return [];
  if (typeof value === 'string') return splitWords(value);
  if (!Array.isArray(value)) return undefined;
  const words: string[] = [];
  for (const item of value) {
    if (typeof item !== 'string') return undefined;
    words.push(...splitWords(item));
  }
  return words;
}

/** A word with what stands in its brackets: `Task(a, b)`; undefined for a word without. */
export function bracketed(
  word: string,
): { readonly name: string; readonly inside: string } | undefined {
  const [, name, inside] = word.includes('(') ? (PATTERN.exec(word) ?? []) : [];
  return name === undefined || inside === undefined ? undefined : { name, inside };
}

/** Splits at commas and line ends outside brackets: `Task(a, b), Read` is two words. */
function splitWords(text: string): readonly string[] {
  const list = text.trim().replace(/^\[([\s\S]*)\]$/, '$1');
  const words = list.includes('(') ? splitOutsideBrackets(list) : list.split(/[,\n]/);
  return words.map(cleanWord).filter((each) => each !== '');
}

function splitOutsideBrackets(list: string): readonly string[] {
  const words: string[] = [];
  let depth = 0;
  let word = '';
  let isEscaped = false;
  for (const char of list) {
    if (!isEscaped && char === '(') depth += 1;
    if (!isEscaped && char === ')') depth = Math.max(0, depth - 1);
    isEscaped = !isEscaped && char === '\\';
    if (depth === 0 && (char === ',' || char === '\n')) {
      words.push(word);
      word = '';
    } else {
      word += char;
    }
  }
  words.push(word);
  return words;
}

/** Without a list's dash and quotes, which the line-by-line reading leaves on. */
function cleanWord(word: string): string {
  const bare = word.trim();
  // Most words begin with a letter and are done.
  if (!/^[-"']/.test(bare)) return bare;
  return bare
    .replace(/^- +/, '')
    .replace(/^(["'])(.*)\1$/, '$2')
    .trim();
}
