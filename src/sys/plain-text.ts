import { terminalText } from '../base/terminal-text.ts';

/**
 * What a program wrote as it would stay on a screen: no escape sequences and control characters but
 * tab and line feed; of a line that was written over (carriage return) only what it ended as.
 */
export function plainText(text: string): string {
  return terminalText(text, 'plain')
    .replaceAll(/\r+\n/g, '\n')
    .replaceAll(/[^\n]*\r(?=[^\r\n])/g, '')
    .replaceAll('\r', '');
}
