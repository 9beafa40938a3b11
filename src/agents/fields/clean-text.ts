import { sanitizeForTerminal } from '../../base/terminal-text.ts';
import { truncate } from '../../base/text.ts';

/** The most characters of a message, before unsafe ones are escaped. It may quote a text as long as the file. */
const MAX_MESSAGE = 400;

/** Removes control characters, which could control a terminal. Tabs and line ends stay. */
export function withoutControls(text: string): string {
  return sanitizeForTerminal(text, 'plain').replaceAll('\r', '');
}

/** Makes a message that quotes a file safe to show: on one line, and cut if it is too long. */
export function shownMessage(message: string): string {
  const line = message.replaceAll(/\s+/g, ' ');
  const shown = sanitizeForTerminal(truncate(line, MAX_MESSAGE), 'exact');
  return line.length > MAX_MESSAGE ? `${shown}…` : shown;
}
