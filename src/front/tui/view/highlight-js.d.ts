/**
 * The part of `highlight.js/lib/common` that Muster uses. The package's own types include those of a browser,
 * which would then hold for all code; `paths` in tsconfig.json puts these in their place.
 */
declare const highlighter: {
  /** Any name or alias of a language that it has; undefined: it has none of that name. */
  getLanguage(name: string): object | undefined;
  /** `value`: HTML, of `span` elements alone. */
  highlight(
    code: string,
    options: { readonly language: string; readonly ignoreIllegals: boolean },
  ): { readonly value: string };
};
// oxlint-disable-next-line import/no-default-export -- as the package has it
export default highlighter;
