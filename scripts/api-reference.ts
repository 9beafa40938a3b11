/** Writes docs/api/: the reference of what each entry point of the package exports, from the types in dist/. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatPages } from './api-reference/format-pages.ts';
import { readPackageTypes } from './api-reference/read-types.ts';

const root = join(import.meta.dirname, '..');
const directory = join(root, 'docs/api');
const pages = await formatPages(readPackageTypes(join(root, 'dist/types')));
rmSync(directory, { recursive: true, force: true });
mkdirSync(directory);
for (const [file, text] of pages) writeFileSync(join(directory, file), text);
