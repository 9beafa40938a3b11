import { lazy } from './lazy.ts';
/** Matches texts of plain ASCII, which need no further check. Most texts are plain ASCII. */
const PLAIN = /^[\n\t -~]*$/;

/**
 * Matches control characters, direction marks, tags and characters without width, except the joiners of scripts
 * and emoji. Also matches variation selectors that have no effect and could therefore encode a hidden text: any
 * selector at the start of the text, after another selector, after a Latin letter or after white space, and a
 * selector for ideographs that does not follow an ideograph.
 */
const HIDDEN = lazy(
  () =>
    // oxlint-disable-next-line no-control-regex -- finding them is the purpose
    /[\u034f\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]|(?<=^|[\s\p{Script=Latin}\ufe00-\ufe0f\u{e0100}-\u{e01ef}])[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]|(?<!\p{Script=Han})[\u{e0100}-\u{e01ef}]/gu,
);

/**
 * Returns a text as a person sees it, with line feeds at the ends of lines. Hidden characters could give a model
 * instructions that no person sees.
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
