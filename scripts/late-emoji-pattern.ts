import type { Plugin } from 'rolldown';

const PATTERN = String.raw`const rgiEmojiRegex = /^\p{RGI_Emoji}$/v;`;
/** As a literal, V8 would read the pattern when it reads the file. */
const LATE = String.raw`let rgiEmoji;
const rgiEmojiRegex = { test: (text) => (rgiEmoji ??= new RegExp('^\\p{RGI_Emoji}$', 'v')).test(text) };`;

/**
 * Makes the list of all emoji in the library of the terminal UI at the first possible emoji. It takes 11 ms, which is
 * a tenth of the time until the terminal UI is visible.
 */
export function lateEmojiPatternPlugin(): Plugin {
  return {
    name: 'late-emoji-pattern',
    transform: {
      filter: { id: /pi-tui\/dist\/utils\.js$/ },
      handler(code) {
        if (!code.includes(PATTERN)) {
          throw new Error(
            'pi-tui/dist/utils.js no longer contains the pattern that scripts/late-emoji-pattern.ts replaces. ' +
              'See whether it still makes the list of emoji when it is loaded.',
          );
        }
        return { code: code.replace(PATTERN, () => LATE), map: null };
      },
    },
  };
}
