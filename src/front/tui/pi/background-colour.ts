export type Background = 'dark' | 'light';

/** How bright the colours of light make it, by ITU-R BT.709. */
const WEIGHTS = [0.2126, 0.7152, 0.0722] as const;

/**
 * What a terminal says of its background, as `rgb:ffff/ffff/ffff`, `rgba:…` or `#ffffff`, with one to four
 * digits a part. Null: it is none of these.
 */
export function backgroundOf(colour: string): Background | null {
  const parts = partsOf(colour.trim());
  if (parts === null) return null;
  const light = WEIGHTS.reduce((sum, weight, index) => sum + weight * (parts[index] ?? 0), 0);
  return light > 0.5 ? 'light' : 'dark';
}

/** Red, green and blue, 0 to 1. */
function partsOf(colour: string): readonly number[] | null {
  const [, numbers] = /^rgba?:([0-9a-f]{1,4}(?:\/[0-9a-f]{1,4}){2,3})$/i.exec(colour) ?? [];
  if (numbers !== undefined) return numbers.split('/').map(share);
  const [, digits] = /^#((?:[0-9a-f]{3}){1,4})$/i.exec(colour) ?? [];
  if (digits === undefined) return null;
  const each = digits.length / 3;
  return [0, 1, 2].map((index) => share(digits.slice(index * each, (index + 1) * each)));
}

function share(digits: string): number {
  return Number.parseInt(digits, 16) / (16 ** digits.length - 1);
}
