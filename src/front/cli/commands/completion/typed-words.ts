import type { CompletedShell } from './shell-names.ts';

/** Removes the quotes that a shell leaves in the words: bash leaves all, fish those of the last word. */
export function typedWords(shell: CompletedShell, words: readonly string[]): readonly string[] {
  switch (shell) {
    case 'bash':
      return words.map(unquoted);
    case 'fish':
      return words.map((word, index) => (index === words.length - 1 ? unquoted(word) : word));
    case 'zsh':
      return words;
    default:
      return shell satisfies never;
  }
}

/** Removes quotes as a POSIX shell does; the last one may be open. Nothing is evaluated. */
export function unquoted(word: string): string {
  let text = '';
  let quote: '"' | "'" | null = null;
  for (let at = 0; at < word.length; at += 1) {
    const char = word.charAt(at);
    const next = word.charAt(at + 1);
    if (char === '\\' && quote !== "'" && (quote === null || '$`"\\'.includes(next))) {
      text += next;
      at += 1;
    } else if (char === quote) quote = null;
    else if (quote === null && (char === '"' || char === "'")) quote = char;
    else text += char;
  }
  return text;
}
