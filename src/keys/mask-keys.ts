/** A word of a line: quotes, brackets, and the marks between names and values separate words. */
const WORD = /[^\s"'`=:;,()<>[\]{}|&?@]+/g;
const PATH_START = /^(?:~|\.{1,2})?\//;
/** The beginnings of keys of well-known providers. */
const KEY_START = /^(?:(?:sk|gsk|xai|hf|nvapi|pplx|gh[opurs])[-_]|AIza|github_pat_)/;
const MIN_KNOWN_LENGTH = 8;
const MIN_LENGTH = 16;
/** A word of this length with digits, small and capital letters is no name. */
const RANDOM_LENGTH = 32;
const MIN_PART_LENGTH = 8;
const MIN_PART_DIGITS = 3;

/** Replaces the words of a line that look like keys. Paths, names of programs and plain words stay. */
export function maskKeys(line: string): string {
  return line.replace(WORD, (word) => (isKeyLike(word) ? '[key]' : word));
}

function isKeyLike(word: string): boolean {
  if (PATH_START.test(word)) return false;
  if (KEY_START.test(word) && word.length >= MIN_KNOWN_LENGTH) return true;
  if (word.length < MIN_LENGTH) return false;
  const isRandom = /[A-Z]/.test(word) && /[a-z]/.test(word) && /\d/.test(word);
  if (isRandom && word.length >= RANDOM_LENGTH) return true;
  return word.split(/[^A-Za-z\d]/).some((part) => {
    return part.length >= MIN_PART_LENGTH && part.replaceAll(/\D/g, '').length >= MIN_PART_DIGITS;
  });
}
