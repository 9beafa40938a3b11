const NAME = '[\\p{L}_$][\\w$]*';
/** Keywords that begin a statement. They are not types, so `if len(x) {` does not define `len`. */
const STATEMENTS =
  'if|else|for|while|switch|case|return|throw|await|yield|new|match|when|unless|catch|defer|go';
/** Matches methods with a body, `name(args) {`, and typed functions of the C family, `int name(args) {`. */
const WITH_BODY = new RegExp(
  `^\\s*(?:(?:public|private|protected|internal|static|final|async|abstract|override|virtual|synchronized|inline|extern|get|set|readonly|unsigned|const|struct|enum|union)\\s+)*(?:(?!(?:${STATEMENTS})\\s)[\\w$<>\\[\\],.:*&?]+\\s+\\**)?[*#]?(${NAME})\\s*(?:<[^>(]*>)?\\([^;]*\\)?[^;=]*\\{\\s*$`,
  'u',
);
/** The rules are tried in this order. The first group of each rule is the name of the symbol. */
const RULES: readonly RegExp[] = [
  // Go methods: func (r *Router) ServeHTTP(
  new RegExp(`^\\s*func\\s+\\([^)]*\\)\\s+(${NAME})`, 'u'),
  // Keyword first: function f, class C, def f, fn f, const X, type T, #define X, …
  new RegExp(
    `^\\s*(?:(?:export|default|declare|abstract|async|public|private|protected|internal|static|final|pub(?:\\([^)]*\\))?|unsafe|extern|inline|open|sealed|data|override|virtual|partial|readonly|const)\\s+)*(?:function\\*?|class|def|fn|func|fun|struct(?:\\s+__attribute__\\s*\\(\\([^)]*\\)\\))?|interface|trait|enum(?:\\s+class)?|type|const|let|var|val|impl(?:<[^>]*>)?|module|namespace|object|protocol|record|union|macro_rules!|#define|typedef\\s+struct|sub|defp|defmodule)\\s+\\*?(${NAME})`,
    'u',
  ),
  // Assigned functions: exports.f = , Foo.prototype.bar = function
  new RegExp(
    `^\\s*(?:module\\.)?(?:exports|[\\w$]+\\.prototype|[A-Z][\\w$]*)\\.(${NAME})\\s*=(?!=)`,
    'u',
  ),
  // Functions of objects: res.cookie = function
  new RegExp(`^\\s*[\\w$]+\\.(${NAME})\\s*=\\s*(?:async\\s+)?function\\b`, 'u'),
  WITH_BODY,
];

/** Keywords that `WITH_BODY` would take for the name of a method. */
const STATEMENT = new Set(
  `if for while switch catch function func return with else elseif do try foreach match when unless
  synchronized async constructor`.split(/\s+/),
);
/** Matches `struct node *next` and `struct point at`, which use a type without defining it. */
const USES_TYPE =
  /^\s*(?:[a-z]+\s+)*?(?:struct|enum|union)\s+(?!class\b)\w+(?:\s*\*|\s+(?!(?:where|implements|extends|final|with)\b)\w)/;
/** Matches string literals. Brackets in a string literal do not close a call. */
const TEXT = /(["'`])(?:\\.|(?!\1).)*\1/g;
const MAX_DEFINITION_CHARS = 300;

/** Matches a variable inside a function, which is no definition unless its value is a function. */
const LOCAL = /^\s+(?:const|let|var|val)\b(?!.*(?:=>|\bfunction\b|\blambda\b))/;

/** Returns the name that a line of code defines, in the common languages; null when the line defines nothing. */
export function findDefinedName(line: string): string | null {
  if (line.length > MAX_DEFINITION_CHARS || LOCAL.test(line)) return null;
  for (const rule of RULES) {
    const match = rule.exec(line);
    const name = match?.[1];
    if (match === null || name === undefined || STATEMENT.has(name)) continue;
    if (rule === WITH_BODY ? isCall(line) : USES_TYPE.test(line)) continue;
    // `type Name,` inside an import.
    if (/^\s*,/.test(line.slice(match[0].length))) continue;
    return name;
  }
  return null;
}

/** Returns the number of blanks that a line begins with. */
export function measureIndent(line: string): number {
  return line.length - line.trimStart().length;
}

/** Tells whether a line is a call such as `test('…', () => {` and not a definition: its bracket stays open. */
function isCall(line: string): boolean {
  const code = line.replace(TEXT, '');
  return code.split('(').length !== code.split(')').length;
}

/**
 * Matches lines that enclose no other line, whatever their indentation: blank lines, comments, labels, and the last
 * line of a function's head.
 */
const ENCLOSES_NOTHING = /^\s*(?:$|#|\/[/*]|\*|\)|\{\s*$|\w+:\s*$)/;

/**
 * Returns the name that a line defines, or else the name of the definition that contains the line, judged by
 * indentation; null when no definition is certain.
 *
 * @param textAt returns the text of a line, counted from 1
 */
export function findEnclosingName(textAt: (line: number) => string, line: number): string | null {
  const own = findDefinedName(textAt(line));
  if (own !== null) return own;
  let indent = textAt(line).trim() === '' ? Infinity : measureIndent(textAt(line));
  for (let at = line - 1; at > 0 && indent > 0; at -= 1) {
    const text = textAt(at);
    if (ENCLOSES_NOTHING.test(text) || measureIndent(text) >= indent) continue;
    const name = findDefinedName(text);
    if (name !== null) return name;
    indent = measureIndent(text);
  }
  return null;
}
