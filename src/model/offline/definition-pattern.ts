import { anyOf } from './pattern.ts';

const KEYWORDS =
  '(?:function\\*?|class|def|fn|func|fun|struct|interface|trait|enum|type|const|let|var|val|impl|module|namespace|object|protocol|record|union|macro_rules!|#define|typedef|static|sub|defp|defmodule)';

/** For Grep: lines that may define a symbol whose name matches one of the patterns. */
export function definitionPattern(patterns: readonly string[]): string {
  const any = anyOf(patterns);
  return `(?:${KEYWORDS}[^=({]{0,60}${any}|^\\s*[\\w$#*.<> ]{0,60}${any}[\\w$]*\\s*(?:=\\s*(?:async\\s*)?(?:function|\\()|\\([^;]*\\{\\s*$))`;
}
