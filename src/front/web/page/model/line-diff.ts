/** A line of a difference, marked as in a unified diff. */
export interface DiffTextLine {
  readonly mark: ' ' | '-' | '+';
  readonly text: string;
}

/** The maximum product of two numbers of lines for which the longest common part is searched. */
const MAX_CELLS = 250_000;

/**
 * Compares two texts line by line. Equal lines at both ends are kept as they are; between them, texts that are too long
 * for a comparison are shown as removed and added in full.
 */
export function compareTextLines(before: string, after: string): readonly DiffTextLine[] {
  const [old, fresh] = [splitLines(before), splitLines(after)];
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start += 1;
  let [oldEnd, freshEnd] = [old.length, fresh.length];
  while (oldEnd > start && freshEnd > start && old[oldEnd - 1] === fresh[freshEnd - 1]) {
    oldEnd -= 1;
    freshEnd -= 1;
  }
  return [
    ...mark(' ', old.slice(0, start)),
    ...diffMiddle(old.slice(start, oldEnd), fresh.slice(start, freshEnd)),
    ...mark(' ', old.slice(oldEnd)),
  ];
}

function splitLines(text: string): readonly string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

function mark(sign: DiffTextLine['mark'], texts: readonly string[]): readonly DiffTextLine[] {
  return texts.map((text) => ({ mark: sign, text }));
}

function diffMiddle(old: readonly string[], fresh: readonly string[]): readonly DiffTextLine[] {
  if (old.length * fresh.length > MAX_CELLS) return [...mark('-', old), ...mark('+', fresh)];
  const common = commonLengths(old, fresh);
  const width = fresh.length + 1;
  const lines: DiffTextLine[] = [];
  let [a, b] = [0, 0];
  while (a < old.length || b < fresh.length) {
    const [removed = '', added = ''] = [old[a], fresh[b]];
    if (a < old.length && b < fresh.length && removed === added) {
      lines.push({ mark: ' ', text: removed });
      a += 1;
      b += 1;
    } else if (
      b === fresh.length ||
      (a < old.length && at(common, (a + 1) * width + b) >= at(common, a * width + b + 1))
    ) {
      lines.push({ mark: '-', text: removed });
      a += 1;
    } else {
      lines.push({ mark: '+', text: added });
      b += 1;
    }
  }
  return lines;
}

/** For each pair of positions, the length of the longest common part of the rests. */
function commonLengths(old: readonly string[], fresh: readonly string[]): Uint32Array {
  const width = fresh.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  for (let a = old.length - 1; a >= 0; a -= 1) {
    for (let b = fresh.length - 1; b >= 0; b -= 1) {
      lengths[a * width + b] =
        old[a] === fresh[b]
          ? at(lengths, (a + 1) * width + b + 1) + 1
          : Math.max(at(lengths, (a + 1) * width + b), at(lengths, a * width + b + 1));
    }
  }
  return lengths;
}

function at(lengths: Uint32Array, index: number): number {
  return lengths[index] ?? 0;
}
