import { sanitizeLine } from '../../../../base/terminal-text.ts';

/** Characters that terminals draw two columns wide. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

/** Makes one line of exactly so many columns from any text: it is cut or filled up. */
export function fitColumns(text: string, width: number): string {
  let fitted = '';
  let used = 0;
  for (const character of sanitizeLine(text)) {
    const columns = WIDE.test(character) ? 2 : 1;
    if (used + columns > width) return `${shortened(fitted, used, width)}…`;
    fitted += character;
    used += columns;
  }
  return fitted + ' '.repeat(width - used);
}

/** Makes room for the mark of a cut text, which is one column wide. */
function shortened(fitted: string, used: number, width: number): string {
  if (used < width) return fitted + ' '.repeat(width - used - 1);
  const last = [...fitted].at(-1) ?? '';
  const padding = WIDE.test(last) ? ' ' : '';
  return `${fitted.slice(0, fitted.length - last.length)}${padding}`;
}
