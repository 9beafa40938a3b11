import { terminalText } from '../../../base/terminal-text.ts';

/**
 * What a terminal hands over as pasted, as text with its lines: most terminals send a carriage return for the
 * end of a line, and some write control characters as keys (`ESC [ 106 ; 5 u` for a newline).
 */
export function pastedText(sent: string): string {
  const decoded = sent.replaceAll(KEY_OF_CONTROL, (whole, digits: string) => {
    const letter = String.fromCodePoint(Number(digits)).toLowerCase();
    return /^[a-z]$/.test(letter) ? String.fromCodePoint(letter.charCodeAt(0) - 0x60) : whole;
  });
  return terminalText(decoded.replaceAll(/\r\n?/g, '\n'), 'prose');
}

// oxlint-disable-next-line no-control-regex -- what is decoded
const KEY_OF_CONTROL = /\u001b\[(\d{2,3});5u/g;
