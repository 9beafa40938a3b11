/** Words as bash hands them on, and how much of the last one it keeps in front of a reply. */
export interface BashWords {
  readonly words: readonly string[];
  /** Characters. */
  readonly kept: number;
}

const BREAK = /^[=:]+$/;

/**
 * Bash takes words apart at `=` and `:` (its COMP_WORDBREAKS) and has a reply replace the last piece
 * alone: `--model=a:b` comes as five words. Puts them together again.
 */
export function joinBashWords(pieces: readonly string[]): BashWords {
  const words: string[] = [];
  let isOpen = false;
  for (const piece of pieces) {
    const isBreak = BREAK.test(piece);
    const last = words.at(-1);
    if (last !== undefined && (isBreak || isOpen)) words[words.length - 1] = last + piece;
    else words.push(piece);
    isOpen = isBreak;
  }
  const last = words.at(-1) ?? '';
  const replaced = isOpen ? '' : (pieces.at(-1) ?? '');
  return { words, kept: last.length - replaced.length };
}
