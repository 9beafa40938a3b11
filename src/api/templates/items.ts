/** The functions that read the items of a run. Loads the code that searches files. */
export { parseItems } from './parse-items.ts';
export { parseItemSource, readItems } from './read-items.ts';
