import type { FileKind } from '../../base/code/file-kind.ts';

/**
 * By what a question asks for files of a kind. A word alone is no such question: `parsing JSON`, `a test
 * that takes too long` and `HTML is escaped` speak of what the sources do.
 */
const ASKS_FOR: readonly (readonly [FileKind, RegExp])[] = [
  [
    'test',
    /\btested\b|\b(?:test fixtures?|fixture files?)\b|\b(?:tests|specs?) (?:for|of|on|that|which|cover\w*)\b|\b(?:which|what|find|unit|e2e|integration|regression) (?:tests?|specs?)\b|\b(?:any|all|our|these|show|list|the) (?:tests|specs)\b|\b(?:tests?|specs?) (?:files?|cases?|suites?)\b|^(?:(?!where |how |what |when |why )\S+ ){1,4}tests$/,
  ],
  [
    'docs',
    /\b(?:documented|readme|changelog|licen[sc]e)\b|\b(?:in|which|what|the|our|any|find|show) (?:docs?|documentation|guides?)\b|\b(?:docs?|documentation|guides?) (?:for|of|on|about|that|which|pages?|files?|says?)\b/,
  ],
  ['example', /(?<!\bfor )\bexamples?\b|\b(?:benchmarks?|bench)\b/],
  [
    'data',
    /\b(?:which|what|in|find|show|list) (?:\w+ ){0,2}(?:json|ya?ml|toml|xml|ini) (?:files?|documents?|configs?|configuration|settings)\b|\b(?:which|what) (?:json|ya?ml|toml|xml|ini)\b|\bworkflow files?\b/,
  ],
  [
    'style',
    /\b(?:css|scss|stylesheets?|style sheets?)\b|\b(?:which|what|in|find|show) (?:\w+ ){0,2}html (?:files?|pages?|templates?)\b/,
  ],
];

/** A change that comes with tests or examples asks for neither. */
const REPORTS_CHANGE =
  /^(?:and |attempt to |further |small )*(?:fix|add|appl|creat|provid|replac)\w*\b/;

/** The kinds of files that a question asks for by name. */
export function askedKinds(question: string, paths: readonly string[]): ReadonlySet<FileKind> {
  const lower = question
    .toLowerCase()
    .replace(/[?!.\s]+$/, '')
    .replace(/\s+/g, ' ');
  const asked = REPORTS_CHANGE.test(lower)
    ? []
    : ASKS_FOR.filter(([, rule]) => rule.test(lower)).map(([kind]) => kind);
  const declared = paths.some((path) => /\.d\.[cm]?ts$/.test(path)) ? (['types'] as const) : [];
  return new Set([...asked, ...declared]);
}
