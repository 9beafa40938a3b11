// The reference for a listing: reads the index file at argv[2] as text.
import { readFileSync } from 'node:fs';

const startedAt = performance.now();
readFileSync(process.argv[2], 'utf8');
console.log(JSON.stringify({ readMs: performance.now() - startedAt }));
