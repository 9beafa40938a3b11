/** C0 and C1 controls (newline and tab left out), and what changes the direction or hides. */
const UNSAFE =
  // oxlint-disable-next-line no-control-regex -- control characters are the very thing looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu;

/**
 * Text that is safe to print on a terminal, whoever wrote it: control characters, direction marks
 * and invisible characters are shown as `⟨U+001B⟩`.
 */
export function printable(text: string): string {
  return text.replace(UNSAFE, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return `⟨U+${code}⟩`;
  });
}
