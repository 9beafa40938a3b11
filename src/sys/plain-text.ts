import { stripVTControlCharacters } from 'node:util';

/** C0 but tab and line feed, DEL, C1. */
// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
/** Strings that a terminal would swallow (titles, device control), ended or not. */
const TERMINAL_STRINGS =
  // oxlint-disable-next-line no-control-regex -- the same
  /(?:\u001b[P\]X^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c\n]*(?:\u0007|\u001b\\|\u009c)?/g;

/**
 * What a program wrote as it would stay on a screen: no escape sequences and control characters but
 * tab and line feed; of a line that was written over (carriage return) only what it ended as.
 */
export function plainText(text: string): string {
  return stripVTControlCharacters(text.replaceAll(TERMINAL_STRINGS, ''))
    .replaceAll(/\r+\n/g, '\n')
    .replaceAll(/[^\n]*\r(?=[^\r\n])/g, '')
    .replaceAll(CONTROLS, '');
}
