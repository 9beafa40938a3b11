import { languageOf, type Language } from '../code/language.ts';

/**
 * Lines that import, with the imported name as a group. Each pattern is linear: it reads no character more
 * than a few times, whatever a file holds.
 */
const IMPORTS: Partial<Record<Language, readonly RegExp[]>> = {
  python: [/^[ \t]*from[ \t]+([.\w]+)[ \t]+import\b/gm, /^[ \t]*import[ \t]+([\w.]+)/gm],
  go: [/^[ \t]*(?:import[ \t]+)?(?:[\w.]+[ \t]+)?"([\w./-]+)"[ \t]*$/gm],
  rust: [/^[ \t]*(?:pub(?:\([^)\n]*\))?[ \t]+)?(?:use|mod)[ \t]+([\w:]+)/gm],
  java: [/^[ \t]*import[ \t]+(?:static[ \t]+)?([\w.]+)/gm],
  kotlin: [/^[ \t]*import[ \t]+([\w.]+)/gm],
  scala: [/^[ \t]*import[ \t]+([\w.]+)/gm],
  csharp: [/^[ \t]*using[ \t]+(?:static[ \t]+)?([\w.]+)[ \t]*;/gm],
  c: [/^[ \t]*#[ \t]*include[ \t]+["<]([^">\n]+)[">]/gm],
  javascript: [
    /\bfrom[ \t]*['"]([^'"\n]+)['"]/g,
    /\b(?:import|require)[ \t]*(?:\([ \t]*)?['"]([^'"\n]+)['"]/g,
  ],
  ruby: [/^[ \t]*require(?:_relative)?[ \t]*\(?['"]([^'"\n]+)['"]/gm],
  php: [/^[ \t]*use[ \t]+([\w\\]+)/gm],
};

/** Counts the different modules that a file imports. */
export function countImports(path: string, text: string): number {
  const language = languageOf(path);
  const patterns = language === null ? [] : (IMPORTS[language] ?? []);
  return new Set(patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name]) => name)))
    .size;
}
