import { sanitizeForTerminal } from '../base/terminal-text.ts';

/**
 * What a program wrote as it would stay on a screen: no escape sequences and control characters but
 * tab and line feed; of a line that was written over (carriage return) only what it ended as.
 */
export function plainText(text: string): string {
  const plain = sanitizeForTerminal(text, 'plain');
  return plain.includes('\r') ? plain.split('\n').map(asItEnded).join('\n') : plain;
}

/** No pattern does it: one of a long line takes the square of its length. */
function asItEnded(line: string): string {
  let end = line.length;
  while (line[end - 1] === '\r') end -= 1;
  return line.slice(line.slice(0, end).lastIndexOf('\r') + 1, end);
}
