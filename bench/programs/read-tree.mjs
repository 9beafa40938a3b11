/** Reads every file below a directory, one after the other, and prints `{"files": number, "bytes": number}`. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

let files = 0;
let bytes = 0;
for (const entry of readdirSync(process.argv[2], { recursive: true, withFileTypes: true })) {
  if (!entry.isFile()) continue;
  files += 1;
  bytes += readFileSync(join(entry.parentPath, entry.name)).length;
}
process.stdout.write(JSON.stringify({ files, bytes }));
