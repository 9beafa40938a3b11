import { basename } from 'node:path';
import type { Plugin } from 'rolldown';

/**
 * Lets the program load some modules from files that are bundled apart from it: an import of such a module becomes an
 * import of its file in dist/.
 *
 * @param entries the paths of the modules, by the names of their files
 */
export function separateEntriesPlugin(entries: Readonly<Record<string, string>>): Plugin {
  const names = new Map(Object.entries(entries).map(([name, path]) => [basename(path), name]));
  return {
    name: 'separate-entries',
    resolveId: {
      filter: { id: /-library\.ts$/ },
      handler(source, importer) {
        const name = names.get(basename(source));
        // Without an importer, it is the entry of its own bundle.
        if (name === undefined || importer === undefined) return null;
        return { id: `./${name}.js`, external: true };
      },
    },
  };
}
