import { truncate } from '../../base/text.ts';

const QUOTED_CHARS = 160;

export function quote(line: string): string {
  const flat = oneLine(line);
  const cut = truncate(flat, QUOTED_CHARS);
  return cut.length < flat.length ? `${cut}…` : cut;
}

export function oneLine(text: string): string {
  // Control characters of a file must not steer the terminal that shows them.
  return text
    .replace(/\p{Cc}+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}
