/**
 * Writes what is not ASCII as `\uXXXX`. With a single such character the engine keeps a whole file as two
 * bytes a character, and takes twice as long to read half a megabyte of it at each start. The program stays
 * the same, unless it has such a character in a `String.raw`.
 */
export function inAscii(code: string): string {
  return code.replaceAll(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
