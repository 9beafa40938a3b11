import { lazy } from './lazy.ts';
/** Most texts are of these characters alone. */
const PLAIN = /^[\n\t -~]*$/;

/**
 * Controls, directions, tags and what has no width, but the joiners of scripts and emoji. Variants stay
 * where one chooses how a character looks: the second of a row, those of Latin letters and of blanks, and
 * those of ideographs behind anything else show nothing, and can spell out any text.
 */
const HIDDEN = lazy(
  () =>
    // oxlint-disable-next-line no-control-regex -- finding them is the purpose
    /[\u034f\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]|(?<=^|[\s\p{Script=Latin}\ufe00-\ufe0f\u{e0100}-\u{e01ef}])[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]|(?<!\p{Script=Han})[\u{e0100}-\u{e01ef}]/gu,
);

/**
 * Returns a text as a person sees it, with lines that end in `
 * `. Hidden characters could tell a model something that no person was meant to read. Pure.
 */
export function removeHiddenCharacters(text: string): {
  readonly text: string;
  /** The number of removed characters. */
  readonly hidden: number;
} {
  if (PLAIN.test(text)) return { text, hidden: 0 };
  let hidden = 0;
  const shown = text.replaceAll('\r\n', '\n').replaceAll(HIDDEN(), () => {
    hidden += 1;
    return '';
  });
  return { text: shown, hidden };
}
