import type { OutputChunk } from 'rolldown';

type Importing = Pick<OutputChunk, 'fileName' | 'imports'>;

/** Throws where files import each other in a circle, naming them; dynamic imports are none. */
export function assertNoCircle(chunks: readonly Importing[]): void {
  const importsOf = new Map(chunks.map(({ fileName, imports }) => [fileName, imports]));
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) {
      throw new Error(`these files import each other: ${[...path, file].join(' → ')}`);
    }
    if (done.has(file)) return;
    for (const imported of importsOf.get(file) ?? []) visit(imported, [...path, file]);
    done.add(file);
  };
  for (const { fileName } of chunks) visit(fileName, []);
}
