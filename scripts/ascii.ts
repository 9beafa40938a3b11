import type { Plugin } from 'rolldown';

/**
 * Writes what is not ASCII as `\uXXXX`. With a single such character the engine keeps a whole file as two
 * bytes a character, and takes twice as long to read half a megabyte of it at each start.
 */
export function asciiPlugin(): Plugin {
  return {
    name: 'ascii',
    generateBundle(_options, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type === 'chunk') file.code = inAscii(file.code);
      }
    },
  };
}

/** The same program, unless it has such a character in a `String.raw`. */
function inAscii(code: string): string {
  return code.replaceAll(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
