export { Documents, type Document } from './documents.ts';
export { duplicates } from './duplicates.ts';
export { search, type Hit } from './search.ts';
export { snippet } from './snippet.ts';
export { suggest } from './suggest.ts';
export { words } from './words.ts';
