import { printable } from '../../base/printable.ts';
import { truncate } from '../../base/text.ts';

// oxlint-disable-next-line no-control-regex -- control characters are what it takes out
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
/** Characters of a message before unsafe ones are spelt out; what it quotes may be as long as the file. */
const MAX_MESSAGE = 400;

/** Without control characters, which could steer a terminal; tabs and line ends stay. */
export function withoutControls(text: string): string {
  return text.replaceAll(CONTROL, '');
}

/** A message that quotes a file, fit to be shown: on one line, cut where it is too long. */
export function shownMessage(message: string): string {
  const line = message.replaceAll(/\s+/g, ' ');
  const shown = printable(truncate(line, MAX_MESSAGE));
  return line.length > MAX_MESSAGE ? `${shown}…` : shown;
}
