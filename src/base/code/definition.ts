const NAME = '[\\p{L}_$][\\w$]*';
/** The rules are tried in this order; each has the symbol's name as its first group. */
const RULES: readonly RegExp[] = [
  // Go methods: func (r *Router) ServeHTTP(
  new RegExp(`^\\s*func\\s+\\([^)]*\\)\\s+(${NAME})`, 'u'),
  // Keyword first: function f, class C, def f, fn f, const X, type T, #define X, …
  new RegExp(
    `^\\s*(?:(?:export|default|declare|abstract|async|public|private|protected|internal|static|final|pub(?:\\([^)]*\\))?|unsafe|extern|inline|open|sealed|data|override|virtual|partial|readonly|const)\\s+)*(?:function\\*?|class|def|fn|func|fun|struct|interface|trait|enum|type|const|let|var|val|impl(?:<[^>]*>)?|module|namespace|object|protocol|record|union|macro_rules!|#define|typedef\\s+struct|sub|defp|defmodule)\\s+\\*?(${NAME})`,
    'u',
  ),
  // Assigned functions: exports.f = , Foo.prototype.bar = function
  new RegExp(
    `^\\s*(?:module\\.)?(?:exports|[\\w$]+\\.prototype|[A-Z][\\w$]*)\\.(${NAME})\\s*=(?!=)`,
    'u',
  ),
  // Methods with a body: name(args) {  and typed ones of the C family: int name(args) {
  new RegExp(
    `^\\s*(?:(?:public|private|protected|internal|static|final|async|abstract|override|virtual|synchronized|inline|extern|get|set|readonly|unsigned|const)\\s+)*(?:[\\w$<>\\[\\],.:*&?]+\\s+\\**)?[*#]?(${NAME})\\s*(?:<[^>(]*>)?\\([^;]*\\)?[^;=]*\\{\\s*$`,
    'u',
  ),
];

/** What looks like a method with a body and is a statement. */
const STATEMENT = new Set(
  'if for while switch catch function return with else do try foreach match when unless constructor'.split(
    ' ',
  ),
);
const MAX_DEFINITION_CHARS = 300;

/** A binding inside a function is no definition, but where a function is bound. */
const LOCAL = /^\s+(?:const|let|var|val)\b(?!.*(?:=>|\bfunction\b|\blambda\b))/;

/** The name that a line of code defines, in the common languages; null when it defines none. */
export function definedName(line: string): string | null {
  if (line.length > MAX_DEFINITION_CHARS || LOCAL.test(line)) return null;
  for (const rule of RULES) {
    const match = rule.exec(line);
    const name = match?.[1];
    if (match === null || name === undefined || STATEMENT.has(name)) continue;
    // `type Name,` inside an import.
    if (/^\s*,/.test(line.slice(match[0].length))) continue;
    return name;
  }
  return null;
}

/** Only what stands at the outer level or is a method counts in an outline. */
export function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
