/**
 * Prints how many lines of code each folder of `src` has. Blank lines and lines that hold only a comment
 * do not count. `node scripts/count-code.ts DIR` counts another folder.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Counts the lines of a TypeScript text that hold code. */
function codeLines(text: string): number {
  let inComment = false;
  let count = 0;
  for (const line of text.split('\n')) {
    const rest = line.trim();
    if (inComment) {
      inComment = !rest.includes('*/');
      continue;
    }
    if (rest === '' || rest.startsWith('//')) continue;
    if (rest.startsWith('/*')) {
      inComment = !rest.includes('*/');
      continue;
    }
    count += 1;
  }
  return count;
}

const root = process.argv[2] ?? join(import.meta.dirname, '../src');
const byFolder = new Map<string, number>();
for (const path of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
  if (!path.endsWith('.ts')) continue;
  const folder = path.split('/')[0] ?? '';
  const lines = codeLines(readFileSync(join(root, path), 'utf8'));
  byFolder.set(folder, (byFolder.get(folder) ?? 0) + lines);
}
for (const [folder, lines] of [...byFolder].toSorted()) {
  process.stdout.write(`${String(lines).padStart(7)}  ${folder}\n`);
}
const total = [...byFolder.values()].reduce((sum, lines) => sum + lines, 0);
process.stdout.write(`${String(total).padStart(7)}  in all\n`);
