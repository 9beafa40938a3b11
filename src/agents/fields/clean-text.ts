import { terminalText } from '../../base/terminal-text.ts';
import { truncate } from '../../base/text.ts';

/** Characters of a message before unsafe ones are spelt out; what it quotes may be as long as the file. */
const MAX_MESSAGE = 400;

/** Without control characters, which could steer a terminal; tabs and line ends stay. */
export function withoutControls(text: string): string {
  return terminalText(text, 'plain').replaceAll('\r', '');
}

/** A message that quotes a file, fit to be shown: on one line, cut where it is too long. */
export function shownMessage(message: string): string {
  const line = message.replaceAll(/\s+/g, ' ');
  const shown = terminalText(truncate(line, MAX_MESSAGE), 'exact');
  return line.length > MAX_MESSAGE ? `${shown}…` : shown;
}
