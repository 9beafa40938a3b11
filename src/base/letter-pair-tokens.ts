import { lazy } from './lazy.ts';

/**
 * Estimates from the letters of a word how many more tokens the word takes than the average word of its length.
 * The result may be negative. The vocabulary of a tokenizer contains most words of English, many of French and
 * Spanish, and few of Finnish. The values are fitted to the way in which o200k splits the words of documents, of
 * code, and of program messages in about a hundred languages. The word must consist of ASCII and Latin letters.
 */
export function estimatePairTokens(text: string, start: number, end: number): number {
  const length = end - start;
  // A longer run of letters is not a word: one pair could occur in it a thousand times and distort the sum.
  if (length > LENGTHS.length) return 0;
  const pairs = pairTable();
  let steps = 0;
  let before = EDGE;
  for (let at = start; at < end; at += 1) {
    const letter = toLetterIndex(text.charCodeAt(at));
    steps += pairs[before * LETTERS + letter] ?? 0;
    before = letter;
  }
  steps += pairs[before * LETTERS + EDGE] ?? 0;
  return (LENGTHS[length - 1] ?? 0) + steps * STEP;
}

const ACCENTED = 26;
const EDGE = 27;
const LETTERS = 28;

function toLetterIndex(unit: number): number {
  if (unit >= 0x61 && unit <= 0x7a) return unit - 0x61;
  return unit >= 0x41 && unit <= 0x5a ? unit - 0x41 : ACCENTED;
}

/** The number of additional tokens by the length of the word, from one letter on. */
const LENGTHS: readonly number[] = [
  -0.95, -0.93, -0.67, -0.48, -0.32, -0.26, -0.16, -0.07, -0.03, 0.1, 0.19, 0.32, 0.52, 0.55, 0.68,
  0.88, 0.87, 0.91, 0.97, 0.71,
];

/**
 * The number of tokens that one step in `PAIRS` means. A character above `j` adds tokens, and one below `j` subtracts
 * them.
 */
const STEP = 0.05;
const NOTHING = 0x6a;

const pairTable = lazy(() =>
  Int8Array.from(PAIRS.join(''), (letter) => letter.charCodeAt(0) - NOTHING),
);

/**
 * A row for each first letter, and in it a column for each second letter: a to z, any accented letter, the edge of the
 * word.
 */
const PAIRS: readonly string[] = [
  'rijizoipkonhmkvlojmgjnnlkphq',
  'ntuikwkvnftelumrmkkglpyunyps',
  'iqlzhrxghpfiszhqvgueitmplqgq',
  'mnqkktlvluplqrmoonkrosoonmni',
  'jljhmjmmnprkmihmmhilrojirrkk',
  'kvzskhuxiyzktmklvlrjkspjljdo',
  'qmkyihpflwqjphozqjmolszyvjnk',
  'ohxrmylzmprlilmuzkuksuskshin',
  'ljhhljissnoknhcjomkitmzmwjet',
  'mzrrnveynpgvzpnxjuowosikzkjs',
  'ooqilohppokrkqqyxrnkozrjulln',
  'liqlklrnkomkpplhnllkkonrhyjl',
  'hgtserlvjxqokphfupkskzhztwej',
  'mshhmhhjnrmmklmnzqigomkzsmil',
  'mjkkniiqolkimijjviokknhnnsgq',
  'lwjmhupgovzgnvgjmhnjkpzziuko',
  'ukjmzmjsvmjxoszwpqsscjojojst',
  'jnlikjjolomnliknklkmorgyjrjl',
  'nxloinvgkxossrkkooihluksgqgi',
  'mmnokjvdixmnlsjingmllwayjmhk',
  'ljkkjklwkrojkiphxhlhxtuhpqeu',
  'izszfzzzhmslopizlkqxpuijrzfs',
  'msutnezglkjgvaijjjlztkllywni',
  'mogumznrljqzlrshjpykpjsnmwno',
  'poqsryztpvuqojknlkjnrsflynlh',
  'nwrsjxvwpvvpwjnqhxujjwijmhjp',
  'kidjhcigjqnilfajhlnlgomgmoko',
  'nmmjooololnnomrnslmoorjtlqoj',
];
