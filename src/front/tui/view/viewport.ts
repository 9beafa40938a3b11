import type { Anchor } from '../model/app-state.ts';

/** Something of the conversation and the lines that it takes. */
export interface DrawnPart {
  readonly key: number;
  readonly lines: readonly string[];
}

/** Parts from the first on; drawn when they are asked for. */
export interface Parts {
  readonly count: number;
  part(index: number): DrawnPart;
}

export interface View {
  readonly lines: readonly string[];
  /** Where it stands; null: at the end. */
  readonly anchor: Anchor | null;
}

/** `height` lines of what there is: the last ones, or those from the anchor on. Draws no more than these. */
export function viewAt(parts: Parts, anchor: Anchor | null, height: number): View {
  const at = anchor === null ? null : find(parts, anchor);
  if (at === null) return { lines: lastLines(parts, height), anchor: null };
  const lines: string[] = [];
  let { line } = at;
  for (let index = at.index; index < parts.count && lines.length < height; index += 1) {
    lines.push(...parts.part(index).lines.slice(line, line + height - lines.length));
    line = 0;
  }
  // What there is ends above the bottom: the end is shown.
  if (lines.length < height) return { lines: lastLines(parts, height), anchor: null };
  return { lines, anchor };
}

/** The view moved by so many lines, up where that is below 0. */
export function scrolled(
  parts: Parts,
  anchor: Anchor | null,
  { by, height }: { readonly by: number; readonly height: number },
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

/** The lines of a part; none: there is no such part. */
export function linesOf(parts: Parts, key: number): readonly string[] {
  const at = find(parts, { key, line: 0 });
  return at === null ? [] : parts.part(at.index).lines;
}

/** Which part's line is the first in sight, and the part of the last one. Null: there is nothing to see. */
export function inSight(
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

/** Moved no further than it takes to have a line in sight, with some lines around it. */
export function broughtInSight(
  parts: Parts,
  anchor: Anchor | null,
  { to, height }: { readonly to: Anchor; readonly height: number },
): Anchor | null {
  const at = find(parts, to);
  const now = inSight(parts, anchor, height);
  if (at === null || now === null) return anchor;
  const around = Math.floor(height / 4);
  if (at.index < now.first || (at.index === now.first && at.line < now.line)) {
    return scrolled(parts, to, { by: -around, height });
  }
  let below = at.line - now.line;
  for (let index = now.first; index < at.index && below < height; index += 1) {
    below += parts.part(index).lines.length;
  }
  return below < height ? anchor : scrolled(parts, to, { by: around + 1 - height, height });
}

/** Null: all there is fits. */
function topOfEnd(parts: Parts, height: number): { index: number; line: number } | null {
  let left = height;
  for (let index = parts.count - 1; index >= 0; index -= 1) {
    const { length } = parts.part(index).lines;
    if (length >= left) return { index, line: length - left };
    left -= length;
  }
  return null;
}

/** Null: it is not there any more. */
function find(parts: Parts, { key, line }: Anchor): { index: number; line: number } | null {
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
