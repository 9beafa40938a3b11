import { definedName } from '../../base/code/definition.ts';

/** A definition and what follows it up to the next one. Lines from 1. */
export interface Section {
  /** Null: what stands before the first definition. */
  readonly name: string | null;
  /** The line that defines it; null in the later pieces of a long one. */
  readonly line: number | null;
  /** Its first line: the comment above it is part of it. */
  readonly first: number;
  readonly last: number;
}

const COMMENT = /^\s*(?:\/\/|\/\*|\*|#(?!\s*(?:define|include|if|endif|else))|--|;;|"""|'''|@|\[)/;
/** A section is at most this long: what is longer is cut into several of one name. */
const MAX_LINES = 80;

interface Start {
  readonly name: string | null;
  readonly line: number;
  readonly first: number;
}

/** A file as its definitions, in order. Pure. */
export function sectionsOf(lines: readonly string[]): readonly Section[] {
  const starts: Start[] = [];
  for (const [index, text] of lines.entries()) {
    const name = definedName(text);
    if (name === null) continue;
    const above = starts.at(-1)?.line ?? 0;
    let first = index;
    while (first > above && COMMENT.test(lines[first - 1] ?? '')) first -= 1;
    starts.push({ name, line: index + 1, first: first + 1 });
  }
  if (starts[0]?.first !== 1) starts.unshift({ name: null, line: 1, first: 1 });
  return starts.flatMap(({ name, line, first }, index) => {
    const end = Math.max(line, (starts[index + 1]?.first ?? lines.length + 1) - 1);
    const pieces: Section[] = [];
    for (let from = first; from <= end; from += MAX_LINES) {
      const last = Math.min(end, from + MAX_LINES - 1);
      const holdsDefinition = name !== null && from <= line && line <= last;
      pieces.push({ name, line: holdsDefinition ? line : null, first: from, last });
    }
    return pieces;
  });
}
