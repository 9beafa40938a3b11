/** Reads the files of the directory at argv[2], parses their front matter, and prints the time in ms. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [directory = ''] = process.argv.slice(2);
const startedAt = performance.now();
const { parse } = await import('yaml');
let parsed = 0;
for (const name of readdirSync(directory).toSorted()) {
  const text = readFileSync(join(directory, name), 'utf8');
  const end = text.indexOf('\n---', 4);
  try {
    parse(text.slice(4, end + 1));
    parsed += 1;
  } catch {
    // Some files are not valid YAML on purpose, as among those that people write.
  }
}
console.log(JSON.stringify({ parsed, parseMs: performance.now() - startedAt }));
