import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';

/**
 * Joins the declaration files that `tsc` has written to `from` into one file for each entry of the package and shared
 * files, so that the package contains no types that its users cannot reach. Deletes `from`.
 *
 * @param entries the path of each entry below `from`, by its name
 */
export async function bundleTypes(
  { from, to }: { readonly from: string; readonly to: string },
  entries: Readonly<Record<string, string>>,
): Promise<void> {
  const input = Object.entries(entries).map(([name, path]) => [name, join(from, path)] as const);
  const bundle = await rolldown({
    input: Object.fromEntries(input),
    plugins: [dts({ dtsOnly: true, generator: 'oxc', tsconfig: false })],
    // Only the package's own files are joined.
    external: /^[^./]/,
  });
  await bundle.write({ dir: to, chunkFileNames: 'shared-[hash].d.ts' });
  rmSync(from, { recursive: true });
}
