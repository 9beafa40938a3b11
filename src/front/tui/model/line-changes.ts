/** The largest table for comparing two texts, in cells. Beyond it, everything that differs counts as replaced. */
const MAX_CELLS = 250_000;

/** A line that is kept, removed or added. `at` is its index on its own side. */
export interface LineChange {
  readonly sign: ' ' | '-' | '+';
  readonly at: number;
}

/**
 * The fewest changes that lead from one list of lines to the other, removals before additions. A kept line has its
 * index in `after`.
 */
export function lineChanges(
  before: readonly string[],
  after: readonly string[],
): readonly LineChange[] {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const middle = changesBetween(
    before.slice(start, before.length - end),
    after.slice(start, after.length - end),
  );
  return [
    ...stay(0, start),
    ...middle.map(({ sign, at }) => ({ sign, at: at + start })),
    ...stay(after.length - end, end),
  ];
}

function stay(from: number, count: number): readonly LineChange[] {
  return Array.from({ length: count }, (_, index) => ({ sign: ' ', at: from + index }) as const);
}

function changesBetween(
  before: readonly string[],
  after: readonly string[],
): readonly LineChange[] {
  const shared = sharedLengths(before, after);
  const changes: LineChange[] = [];
  // Additions wait until all removals are listed.
  let coming: LineChange[] = [];
  let [old, now] = [0, 0];
  while (old < before.length || now < after.length) {
    if (
      old < before.length &&
      now < after.length &&
      shared !== null &&
      before[old] === after[now]
    ) {
      changes.push(...coming, { sign: ' ', at: now });
      coming = [];
      old += 1;
      now += 1;
    } else if (
      now === after.length ||
      (old < before.length && (shared === null || shared(old + 1, now) >= shared(old, now + 1)))
    ) {
      changes.push({ sign: '-', at: old });
      old += 1;
    } else {
      coming.push({ sign: '+', at: now });
      now += 1;
    }
  }
  return [...changes, ...coming];
}

/** The number of lines that both sides have in common from two indexes on; null if the table would be too large. */
function sharedLengths(
  before: readonly string[],
  after: readonly string[],
): ((old: number, now: number) => number) | null {
  const row = after.length + 1;
  if ((before.length + 1) * row > MAX_CELLS) return null;
  const table = new Uint16Array((before.length + 1) * row);
  const cell = (old: number, now: number) => table[old * row + now] ?? 0;
  for (let old = before.length - 1; old >= 0; old -= 1) {
    for (let now = after.length - 1; now >= 0; now -= 1) {
      table[old * row + now] =
        before[old] === after[now]
          ? cell(old + 1, now + 1) + 1
          : Math.max(cell(old + 1, now), cell(old, now + 1));
    }
  }
  return cell;
}
