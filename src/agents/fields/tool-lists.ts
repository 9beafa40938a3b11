import type { JsonValue } from '../../base/json.ts';

/** `Tool(arguments)`. */
const PATTERN = /^([\w/.-]+)\s*\((.*)\)$/s;

/** Splits a comma-separated string or a list into the names of tools. Undefined: it is neither. */
export function splitToolList(value: JsonValue): readonly string[] | undefined {
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

/** Splits `Task(a, b)` into the name and the text in parentheses. Undefined: it has no parentheses. */
export function splitSpecifier(
  word: string,
): { readonly name: string; readonly inside: string } | undefined {
  const [, name, inside] = word.includes('(') ? (PATTERN.exec(word) ?? []) : [];
  return name === undefined || inside === undefined ? undefined : { name, inside };
}

/** Splits at commas and line ends outside parentheses: `Task(a, b), Read` has two parts. */
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

/** Removes the dash and the quotation marks of a list item, which remain when YAML is read line by line. */
function cleanWord(word: string): string {
  const bare = word.trim();
  // Most names begin with a letter, and need nothing removed.
  if (!/^[-"']/.test(bare)) return bare;
  return bare
    .replace(/^- +/, '')
    .replace(/^(["'])(.*)\1$/, '$2')
    .trim();
}
