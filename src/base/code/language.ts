/** The endings of the file names of each language. */
const ENDINGS = {
  python: 'py pyx',
  go: 'go',
  rust: 'rs',
  java: 'java',
  c: 'c h cc cpp cxx hh hpp hxx m mm y l',
  javascript: 'js jsx mjs cjs ts tsx mts cts vue svelte',
  ruby: 'rb',
  php: 'php',
  csharp: 'cs',
  swift: 'swift',
  kotlin: 'kt kts',
  scala: 'scala',
  shell: 'sh bash zsh',
  lua: 'lua',
  elixir: 'ex exs',
};

/** A language whose definitions and imports are known. */
export type Language = keyof typeof ENDINGS;

const BY_ENDING: ReadonlyMap<string, Language> = new Map(
  Object.entries(ENDINGS).flatMap(([language, endings]) =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of that very table
    endings.split(' ').map((ending) => [ending, language as Language] as const),
  ),
);

/** Returns the language of a file by the ending of its name; null for other languages and for texts. */
export function detectLanguage(path: string): Language | null {
  return BY_ENDING.get(path.slice(path.lastIndexOf('.') + 1).toLowerCase()) ?? null;
}
