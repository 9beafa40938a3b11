/** What a front needs to read the items of a run; loads what searches files. */
export { parseItems } from './parse-items.ts';
export { parseItemSource, readItems } from './read-items.ts';
