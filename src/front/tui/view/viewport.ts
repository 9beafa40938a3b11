import type { Anchor } from '../model/app-state.ts';

/** A part of the conversation with its lines. */
export interface DrawnPart {
  readonly key: number;
  readonly lines: readonly string[];
}

/** All parts of a conversation, which are drawn only when they are needed. */
export interface Parts {
  readonly count: number;
  part(index: number): DrawnPart;
}

export interface View {
  readonly lines: readonly string[];
  /** The position of the view; null if the view is at the end. */
  readonly anchor: Anchor | null;
}

/** Returns the `height` lines from the anchor on, or without an anchor the last lines. Draws no parts out of view. */
export function viewAt(parts: Parts, anchor: Anchor | null, height: number): View {
  const at = anchor === null ? null : find(parts, anchor);
  if (at === null) return { lines: lastLines(parts, height), anchor: null };
  const lines: string[] = [];
  let { line } = at;
  for (let index = at.index; index < parts.count && lines.length < height; index += 1) {
    lines.push(...parts.part(index).lines.slice(line, line + height - lines.length));
    line = 0;
  }
  // The conversation would end above the bottom of the view, so the last lines are shown instead.
  if (lines.length < height) return { lines: lastLines(parts, height), anchor: null };
  return { lines, anchor };
}

/** Returns the anchor after scrolling by a number of lines, up for a negative number. */
export function anchorAfterScroll(
  parts: Parts,
  anchor: Anchor | null,
  by: number,
  height: number,
): Anchor | null {
  const at = (anchor === null ? null : find(parts, anchor)) ?? topOfEnd(parts, height);
  if (at === null) return null;
  let { index, line } = at;
  line += by;
  while (line < 0 && index > 0) {
    index -= 1;
    line += parts.part(index).lines.length;
  }
  line = Math.max(0, line);
  while (index < parts.count && line >= parts.part(index).lines.length) {
    line -= parts.part(index).lines.length;
    index += 1;
  }
  if (index >= parts.count) return null;
  const moved = { key: parts.part(index).key, line };
  return viewAt(parts, moved, height).anchor;
}

function lastLines(parts: Parts, height: number): readonly string[] {
  const pieces: (readonly string[])[] = [];
  let left = height;
  for (let index = parts.count - 1; index >= 0 && left > 0; index -= 1) {
    const piece = parts.part(index).lines.slice(-left);
    pieces.unshift(piece);
    left -= piece.length;
  }
  return pieces.flat();
}

/** Returns the lines of a part; empty if there is no such part. */
export function linesOf(parts: Parts, key: number): readonly string[] {
  const at = find(parts, { key, line: 0 });
  return at === null ? [] : parts.part(at.index).lines;
}

/** Returns the indexes of the first and the last part in view, and the first line in view of the first part; null if there are no parts. */
export function visibleRange(
  parts: Parts,
  anchor: Anchor | null,
  height: number,
): { readonly first: number; readonly last: number; readonly line: number } | null {
  if (parts.count === 0) return null;
  const { index: first, line } = (anchor === null ? null : find(parts, anchor)) ??
    topOfEnd(parts, height) ?? { index: 0, line: 0 };
  let left = height - parts.part(first).lines.length + line;
  let last = first;
  while (left > 0 && last < parts.count - 1) {
    last += 1;
    left -= parts.part(last).lines.length;
  }
  return { first, last, line };
}

/** Returns the anchor after scrolling as little as possible to show a line with some lines before or after it. */
export function anchorShowing(
  parts: Parts,
  anchor: Anchor | null,
  to: Anchor,
  height: number,
): Anchor | null {
  const at = find(parts, to);
  const now = visibleRange(parts, anchor, height);
  if (at === null || now === null) return anchor;
  const around = Math.floor(height / 4);
  if (at.index < now.first || (at.index === now.first && at.line < now.line)) {
    return anchorAfterScroll(parts, to, -around, height);
  }
  let below = at.line - now.line;
  for (let index = now.first; index < at.index && below < height; index += 1) {
    below += parts.part(index).lines.length;
  }
  return below < height ? anchor : anchorAfterScroll(parts, to, around + 1 - height, height);
}

/** A line of a part, by the index of the part. */
interface Position {
  readonly index: number;
  readonly line: number;
}

/** Returns the position of the view at the end of the conversation; null if everything fits. */
function topOfEnd(parts: Parts, height: number): Position | null {
  let left = height;
  for (let index = parts.count - 1; index >= 0; index -= 1) {
    const { length } = parts.part(index).lines;
    if (length >= left) return { index, line: length - left };
    left -= length;
  }
  return null;
}

/** Finds the index of the part of an anchor; null if the part does not exist any more. */
function find(parts: Parts, { key, line }: Anchor): Position | null {
  let low = 0;
  let high = parts.count - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = parts.part(middle).key;
    if (found === key) return { index: middle, line };
    if (found < key) low = middle + 1;
    else high = middle - 1;
  }
  return null;
}
