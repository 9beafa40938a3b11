/** The name of a plugin or a marketplace: it is also the name of a directory. */
const NAME = /^[A-Za-z0-9](?:[\w.-]{0,98}[\w-])?$/;

/** The place of the `@` in `NAME@MARKETPLACE` for a plugin that was installed without a marketplace. */
export const NO_MARKETPLACE = 'direct';

/** Tells whether a text can be the name of a plugin or a marketplace. */
export function isPluginName(text: unknown): text is string {
  return typeof text === 'string' && NAME.test(text);
}

/** The description of a valid name, for messages. */
export const NAME_RULE =
  'letters, digits, `.`, `_` and `-`, at most 100, with a letter or digit first';

/**
 * Reads a path in a manifest, which is relative to the directory of the plugin. Returns it without `./` at its start and
 * `/` at its end, which is empty for the directory itself. Returns null for a path that leads out of the directory.
 */
export function readRelativePath(text: string): string | null {
  if (text.startsWith('/') || text.includes('\\') || text.includes('\0')) return null;
  const parts = text.split('/').filter((part) => part !== '' && part !== '.');
  return parts.includes('..') || /^[A-Za-z][\w+.-]*:/.test(text) ? null : parts.join('/');
}
