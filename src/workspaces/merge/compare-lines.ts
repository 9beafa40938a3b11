/**
 * The lines from `start` up to `end` of the old text became the lines from `newStart` up to `newEnd`. Lines are counted
 * from 0, and the end is not included.
 */
export interface ChangedLines {
  readonly start: number;
  readonly end: number;
  readonly newStart: number;
  readonly newEnd: number;
}

/** The lines of a text as numbers. Equal lines have equal numbers. */
export type Lines = readonly number[];

/**
 * The number of changed lines from which a comparison no longer looks for the fewest changes. It is smaller for long texts,
 * so that the time stays proportional to their length.
 */
const MAX_COST = 1024;
const MIN_COST = 16;
const COST_TIMES_LINES = 20_000_000;

/**
 * Compares two texts line by line (E. Myers, An O(ND) Difference Algorithm, 1986). A change that could stand at several
 * places, such as the removal of one of two equal lines, stands at the last of them, or where the other text changes too.
 */
export function compareLines(old: Lines, current: Lines): readonly ChangedLines[] {
  const matches = findMatches(old, current);
  slideChanges(old, matches.old, matches.current);
  slideChanges(current, matches.current, matches.old);
  const changes: ChangedLines[] = [];
  let [start, newStart] = [0, 0];
  for (const [index, end] of matches.old.entries()) {
    const newEnd = at(matches.current, index);
    if (end > start || newEnd > newStart) changes.push({ start, end, newStart, newEnd });
    [start, newStart] = [end + 1, newEnd + 1];
  }
  return changes;
}

/** Returns a number of a list at a position that is known to exist. */
function at(numbers: ArrayLike<number>, index: number): number {
  return numbers[index] ?? Number.NaN;
}

/** The positions of the lines that two texts have in common. The last of them is the end of the texts. */
interface Matches {
  readonly old: number[];
  readonly current: number[];
}

/** Finds the common lines of two texts. Lines that only one text has take no part in the search. */
function findMatches(old: Lines, current: Lines): Matches {
  const positions = findShared(old, current);
  const newPositions = findShared(current, old);
  const { old: kept, current: newKept } = findLongestCommon(
    positions.map((line) => at(old, line)),
    newPositions.map((line) => at(current, line)),
  );
  return {
    old: [...kept.map((index) => at(positions, index)), old.length],
    current: [...newKept.map((index) => at(newPositions, index)), current.length],
  };
}

/** Returns the positions of the lines that also occur in the other text. */
function findShared(lines: Lines, others: Lines): number[] {
  const known = new Set(others);
  return [...lines.keys()].filter((line) => known.has(at(lines, line)));
}

function findLongestCommon(old: Lines, current: Lines): Matches {
  const matches: Matches = { old: [], current: [] };
  const addMatch = (line: number, newLine: number): void => {
    matches.old.push(line);
    matches.current.push(newLine);
  };
  const findMiddle = createSearch(old, current);
  // A list and no recursion: there may be many thousands of parts. The next part is the last one of the list.
  const parts: ChangedLines[] = [
    { start: 0, end: old.length, newStart: 0, newEnd: current.length },
  ];
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    let { start, end, newStart, newEnd } = part;
    while (start < end && newStart < newEnd && old[start] === current[newStart]) {
      addMatch(start, newStart);
      start += 1;
      newStart += 1;
    }
    const last = end;
    while (start < end && newStart < newEnd && old[end - 1] === current[newEnd - 1]) {
      end -= 1;
      newEnd -= 1;
    }
    const common = last - end;
    // The equal lines at the end come after those in the middle, and are then found as equal lines at the start.
    if (common > 0)
      parts.push({ start: end, end: last, newStart: newEnd, newEnd: newEnd + common });
    if (start === end || newStart === newEnd) continue;
    const [middle, newMiddle] = findMiddle({ start, end, newStart, newEnd });
    parts.push({ start: middle, end, newStart: newMiddle, newEnd });
    parts.push({ start, end: middle, newStart, newEnd: newMiddle });
  }
  return matches;
}

/**
 * Returns a function that finds a point in the middle of the shortest way from the start of a part to its end. Both
 * texts of the part must have lines, of which the first and the last differ. The search goes from both ends at the same
 * time, and the point is where they meet. A diagonal is the difference of the positions in the two texts.
 */
function createSearch(
  old: Lines,
  current: Lines,
): (part: ChangedLines) => readonly [number, number] {
  const offset = current.length + 1;
  /** The furthest position in the old text on each diagonal, from the start and from the end. */
  const ahead = new Int32Array(old.length + current.length + 3);
  const back = new Int32Array(old.length + current.length + 3);
  const NEVER = old.length + current.length + 3;
  const maxCost = Math.max(MIN_COST, Math.min(MAX_COST, Math.floor(COST_TIMES_LINES / NEVER)));
  return ({ start, end, newStart, newEnd }) => {
    const lowest = start - newEnd;
    const highest = end - newStart;
    const first = start - newStart;
    const last = end - newEnd;
    const isOdd = ((first - last) & 1) !== 0;
    let [aheadLow, aheadHigh, backLow, backHigh] = [first, first, last, last];
    ahead[first + offset] = start;
    back[last + offset] = end;
    for (let cost = 1; ; cost += 1) {
      // The range of diagonals grows by one at both ends, and shrinks at the edge of the part.
      if (aheadLow > lowest) ahead[(aheadLow -= 1) - 1 + offset] = -1;
      else aheadLow += 1;
      if (aheadHigh < highest) ahead[(aheadHigh += 1) + 1 + offset] = -1;
      else aheadHigh -= 1;
      let best: readonly [number, number] = [start, newStart];
      for (let diagonal = aheadHigh; diagonal >= aheadLow; diagonal -= 2) {
        const here = diagonal + offset;
        let line = Math.max(at(ahead, here - 1) + 1, at(ahead, here + 1));
        while (line < end && line - diagonal < newEnd && old[line] === current[line - diagonal]) {
          line += 1;
        }
        ahead[here] = line;
        const newLine = line - diagonal;
        if (line > end || newLine > newEnd) continue;
        const isMet =
          isOdd && diagonal >= backLow && diagonal <= backHigh && at(back, here) <= line;
        if (isMet) return [line, newLine];
        if (line + newLine > best[0] + best[1]) best = [line, newLine];
      }
      if (backLow > lowest) back[(backLow -= 1) - 1 + offset] = NEVER;
      else backLow += 1;
      if (backHigh < highest) back[(backHigh += 1) + 1 + offset] = NEVER;
      else backHigh -= 1;
      for (let diagonal = backHigh; diagonal >= backLow; diagonal -= 2) {
        const here = diagonal + offset;
        let line = Math.min(at(back, here - 1), at(back, here + 1) - 1);
        while (
          line > start &&
          line - diagonal > newStart &&
          old[line - 1] === current[line - 1 - diagonal]
        ) {
          line -= 1;
        }
        back[here] = line;
        if (line < start || line - diagonal < newStart) continue;
        const isMet =
          !isOdd && diagonal >= aheadLow && diagonal <= aheadHigh && line <= at(ahead, here);
        if (isMet) return [line, line - diagonal];
      }
      if (cost >= maxCost) return best;
    }
  };
}

/**
 * Moves each group of changed lines as far down as equal lines permit. If it passes a place where the other text has
 * changed lines, it stays at the last such place, because the two then form one change.
 *
 * @param matches the positions of the common lines in this text, which are updated
 * @param others their positions in the other text
 */
function slideChanges(lines: Lines, matches: number[], others: readonly number[]): void {
  const before = (gap: number): number => (gap === 0 ? -1 : at(matches, gap - 1));
  const size = (gap: number): number => at(matches, gap) - before(gap) - 1;
  const isChangedInOther = (gap: number): boolean =>
    at(others, gap) - (gap === 0 ? -1 : at(others, gap - 1)) > 1;
  const canMoveUp = (gap: number): boolean =>
    gap > 0 && lines[before(gap)] === lines[at(matches, gap) - 1];
  const moveUp = (gap: number): void => {
    matches[gap - 1] = at(matches, gap) - 1;
  };
  const canMoveDown = (gap: number): boolean =>
    gap < matches.length - 1 && lines[before(gap) + 1] === lines[at(matches, gap)];
  const moveDown = (gap: number): void => {
    matches[gap] = before(gap) + 1;
  };
  for (let gap = 0; gap < matches.length; gap += 1) {
    if (size(gap) === 0) continue;
    // Groups that the moves join move on together.
    let sizeBefore: number;
    let lastInOther: number;
    do {
      sizeBefore = size(gap);
      while (canMoveUp(gap)) {
        moveUp(gap);
        gap -= 1;
      }
      lastInOther = isChangedInOther(gap) ? gap : Number.POSITIVE_INFINITY;
      while (canMoveDown(gap)) {
        moveDown(gap);
        gap += 1;
        if (isChangedInOther(gap)) lastInOther = gap;
      }
    } while (size(gap) !== sizeBefore);
    for (; gap > lastInOther; gap -= 1) moveUp(gap);
  }
}
