import { truncateToWidth, visibleWidth, wrapTextWithAnsi } from '@earendil-works/pi-tui';

export { visibleWidth };

/** Cuts a line to `width` columns, with an ellipsis if something is left out. */
export function fitLine(line: string, width: number): string {
  if (width <= 0) return '';
  return visibleWidth(line) <= width ? line : truncateToWidth(line, width, '…');
}

/** Puts two texts at the two ends of a line. The left text is cut if there is no room for both. */
export function joinEnds(left: string, right: string, width: number): string {
  const rightWidth = visibleWidth(right);
  if (right === '' || rightWidth + 2 > width) return fitLine(left, width);
  const room = width - rightWidth - 1;
  const cut = fitLine(left, room);
  return `${cut}${' '.repeat(room - visibleWidth(cut) + 1)}${right}`;
}

/** Joins as many of the first facts as fit on a line of which `reserved` columns are used otherwise. */
export function joinFittingFacts(facts: readonly string[], width: number, reserved = 0): string {
  for (let count = facts.length; count > 0; count -= 1) {
    const text = facts.slice(0, count).join(SEPARATOR);
    if (visibleWidth(text) + 1 + reserved <= width) return text;
  }
  return '';
}

/** The text between two facts on one line. */
export const SEPARATOR = ' · ';

/** Wraps a text, and indents each line. */
export function wrapText(text: string, width: number, indent: string): readonly string[] {
  const room = Math.max(1, width - visibleWidth(indent));
  return wrapTextWithAnsi(text, room).map((line) => `${indent}${line}`);
}
