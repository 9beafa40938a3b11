import type { AgentFormat, AgentReader } from '../loader/kind.ts';

interface LazyFormat extends Pick<AgentFormat, 'vendor' | 'places' | 'accepts'> {
  readonly reader: () => Promise<AgentReader> | AgentReader;
}

/** A format whose reader is loaded when the first of its files is there: most projects have none. */
export function lazyFormat({ reader, ...about }: LazyFormat): AgentFormat {
  let loaded: AgentReader | undefined;
  // Asked for again, the import of a module that is there costs as much as reading a small file.
  const load = async (): Promise<AgentReader> => (loaded ??= await reader());
  return {
    ...about,
    read: async (file) => (loaded ?? (await load())).read(file),
    filesBeside: async (path, text) => (await load()).filesBeside?.(path, text) ?? [],
  };
}
