/** The maximum number of characters of a text that are searched, so that the cost of a key press is bounded. */
const MAX_SEARCHED = 2_000;
/** The maximum number of places at which a word is tried before the first one counts. */
const MAX_TRIES = 8;

/** A text that is prepared for searching. */
export interface SearchedText {
  readonly title: string;
  /** Further text, which counts less than the title. */
  readonly details: string;
}

/** Prepares a text for searching. */
export function searchedText(title: string, details: string): SearchedText {
  return {
    title: title.slice(0, MAX_SEARCHED).toLowerCase(),
    details: details.slice(0, MAX_SEARCHED).toLowerCase(),
  };
}

/** Splits a typed text into the words that must all match. */
export function queryWords(typed: string): readonly string[] {
  return typed
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
}

/**
 * Returns how well a text matches all words: 0 for the best match, and null for no match. A word at the beginning of the
 * title counts most, then one at the beginning of a word, then one inside of a word, then the same in the details, and
 * last the letters of the word in their order with other letters between them.
 */
function scoreMatch(words: readonly string[], text: SearchedText): number | null {
  let score = 0;
  for (const word of words) {
    const one = scoreWord(word, text);
    if (one === null) return null;
    score += one;
  }
  return score;
}

function scoreWord(word: string, { title, details }: SearchedText): number | null {
  const inTitle = findWord(title, word);
  if (inTitle === 0) return title.length === word.length ? 0 : 1;
  if (inTitle > 0) return isWordStart(title, inTitle) ? 2 : 3;
  const inDetails = findWord(details, word);
  if (inDetails >= 0) return isWordStart(details, inDetails) ? 4 : 5;
  const span = findLetters(title, word);
  return span === null ? null : 6 + span.end - span.start - word.length;
}

/** Finds a word in a text, at the beginning of a word if possible; -1 if the text does not contain it. */
function findWord(text: string, word: string): number {
  const first = text.indexOf(word);
  let at = first;
  for (let tries = 0; at > 0 && tries < MAX_TRIES; tries += 1) {
    if (isWordStart(text, at)) return at;
    at = text.indexOf(word, at + 1);
  }
  return at === 0 ? 0 : first;
}

function isWordStart(text: string, at: number): boolean {
  if (at === 0) return true;
  const code = text.charCodeAt(at - 1);
  // Decide about ASCII without a pattern, because each key press asks this for thousands of texts.
  if (code < 128) return !((code >= 97 && code <= 122) || (code >= 48 && code <= 57));
  return !/[\p{L}\p{N}]/u.test(text[at - 1] ?? '');
}

/**
 * Finds the letters of a word in their order. The letters must be near each other, because almost every long text
 * contains them somewhere. Returns null if there are none.
 */
function findLetters(
  text: string,
  word: string,
): { readonly start: number; readonly end: number } | null {
  let end = 0;
  for (const letter of word) {
    end = text.indexOf(letter, end) + 1;
    if (end === 0) return null;
  }
  // Go back from the end, because the letters nearest to it are the closest group.
  let start = end;
  for (let index = word.length - 1; index >= 0; index -= 1) {
    start = text.lastIndexOf(word[index] ?? '', start - 1);
  }
  return start >= 0 && end - start <= word.length * 4 ? { start, end } : null;
}

/** Returns the indexes of the characters of a title that match the words, for marking them. */
export function matchedIndexes(words: readonly string[], title: string): ReadonlySet<number> {
  const lower = title.toLowerCase();
  const found = new Set<number>();
  // The lower case of a few letters has another length, so that no index would be right.
  if (lower.length !== title.length) return found;
  for (const word of words) {
    const at = findWord(lower, word);
    const span = at === -1 ? findLetters(lower, word) : null;
    if (at >= 0) for (let index = 0; index < word.length; index += 1) found.add(at + index);
    if (span === null) continue;
    let from = span.start;
    for (const letter of word) {
      from = lower.indexOf(letter, from);
      found.add(from);
      from += 1;
    }
  }
  return found;
}

/** Returns the items that match the typed text, the best first. Equally good ones keep their order. */
export function filterByText<Item>(
  items: readonly Item[],
  typed: string,
  textOf: (item: Item) => SearchedText,
): readonly Item[] {
  const words = queryWords(typed);
  if (words.length === 0) return items;
  const ranks: (Item[] | undefined)[] = [];
  for (const item of items) {
    const score = scoreMatch(words, textOf(item));
    if (score === null) continue;
    const rank = (ranks[score] ??= []);
    rank.push(item);
  }
  return ranks.flatMap((rank) => rank ?? []);
}
