import { lazy } from './lazy.ts';

/**
 * Estimates from the letters of a word how many more tokens it takes than its length says. The vocabulary of a
 * tokenizer contains most words of English, many of French and Spanish, and few of Finnish. The values are
 * fitted to how o200k splits the words of program messages in about a hundred languages, of documents and of
 * code. For ASCII and Latin letters; the result may be negative.
 */
export function estimatePairTokens(text: string, start: number, end: number): number {
  const length = end - start;
  // This is a run of letters and not a word, and one pair could occur in it a thousand times.
  if (length > LENGTHS.length) return 0;
  const pairs = table();
  let steps = 0;
  let before = EDGE;
  for (let at = start; at < end; at += 1) {
    const letter = letterOf(text.charCodeAt(at));
    steps += pairs[before * LETTERS + letter] ?? 0;
    before = letter;
  }
  steps += pairs[before * LETTERS + EDGE] ?? 0;
  return (LENGTHS[length - 1] ?? 0) + steps * STEP;
}

const ACCENTED = 26;
const EDGE = 27;
const LETTERS = 28;

function letterOf(unit: number): number {
  if (unit >= 0x61 && unit <= 0x7a) return unit - 0x61;
  return unit >= 0x41 && unit <= 0x5a ? unit - 0x41 : ACCENTED;
}

/** Additional tokens by the length of the word, from one letter. */
const LENGTHS: readonly number[] = [
  -0.95, -0.93, -0.67, -0.48, -0.32, -0.26, -0.16, -0.07, -0.03, 0.1, 0.19, 0.32, 0.52, 0.55, 0.68,
  0.88, 0.87, 0.91, 0.97, 0.71,
];

/** The number of tokens that each step of a letter in `PAIRS` above `j` adds, or below `j` subtracts. */
const STEP = 0.05;
const NOTHING = 0x6a;

const table = lazy(() =>
  Int8Array.from(PAIRS.join(''), (letter) => letter.charCodeAt(0) - NOTHING),
);

/** A row for each first letter, with a column for each second: a to z, an accented letter, the edge of the word. */
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
