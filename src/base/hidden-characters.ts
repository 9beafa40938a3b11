import { lazy } from './lazy.ts';
/** Matches most texts, which have no other characters. */
const PLAIN = /^[\n\t -~]*$/;

/**
 * Matches controls, directions, tags and characters without a width, except the joiners of scripts and emoji. A
 * variation selector stays if it selects the look of a character. It is removed after another one, after a Latin
 * letter and after a blank, and a selector for ideographs after anything else: there it shows nothing, and could
 * encode any text.
 */
const HIDDEN = lazy(
  () =>
    // oxlint-disable-next-line no-control-regex -- finding them is the purpose
    /[\u034f\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]|(?<=^|[\s\p{Script=Latin}\ufe00-\ufe0f\u{e0100}-\u{e01ef}])[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]|(?<!\p{Script=Han})[\u{e0100}-\u{e01ef}]/gu,
);

/**
 * Returns a text as a person sees it, with line feeds at the ends of lines. Hidden characters could tell a model
 * something that no person sees. Pure.
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
