// The floor of a listing: the index file at argv[2] read as text.
import { readFileSync } from 'node:fs';

const startedAt = performance.now();
readFileSync(process.argv[2], 'utf8');
console.log(JSON.stringify({ readMs: performance.now() - startedAt }));
