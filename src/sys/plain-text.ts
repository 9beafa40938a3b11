import { sanitizeForTerminal } from '../base/terminal-text.ts';

/**
 * Returns the output of a program as it would finally look on a screen: without escape sequences and control
 * characters except tab and line feed. If carriage returns overwrote a line, only its last version remains.
 */
export function plainText(text: string): string {
  const plain = sanitizeForTerminal(text, 'plain');
  return plain.includes('\r') ? plain.split('\n').map(keepLastVersion).join('\n') : plain;
}

/**
 * Returns the last version of an overwritten line. A regular expression would take quadratic time for a long
 * line.
 */
function keepLastVersion(line: string): string {
  let end = line.length;
  while (line[end - 1] === '\r') end -= 1;
  return line.slice(line.slice(0, end).lastIndexOf('\r') + 1, end);
}
