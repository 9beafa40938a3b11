/** The characters that a backslash escapes inside double quotation marks. */
const ESCAPABLE = '"\\$`';

/** Splits arguments like a shell: at spaces that are neither in quotation marks nor after a backslash. */
export function splitArguments(args: string): readonly string[] {
  const words: string[] = [];
  let word: string | null = null;
  let quote = '';
  for (let at = 0; at < args.length; at += 1) {
    const char = args.charAt(at);
    const next = args.charAt(at + 1);
    if (char === quote) {
      quote = '';
    } else if (quote === '' && (char === '"' || char === "'")) {
      quote = char;
      word ??= '';
    } else if (quote === '' && /\s/.test(char)) {
      if (word !== null) words.push(word);
      word = null;
    } else if (char === '\\' && next !== '' && isEscaped(next, quote)) {
      word = `${word ?? ''}${next}`;
      at += 1;
    } else {
      word = `${word ?? ''}${char}`;
    }
  }
  return word === null ? words : [...words, word];
}

function isEscaped(char: string, quote: string): boolean {
  return quote === '' || (quote === '"' && ESCAPABLE.includes(char));
}
