import { languageOf } from './language.ts';

/** What a path says about its file before it is opened. */
export type FileKind =
  | 'source'
  | 'test'
  | 'docs'
  | 'data'
  | 'style'
  | 'types'
  | 'example'
  | 'generated';

/** First rule that fits decides. */
const RULES: readonly (readonly [FileKind, RegExp])[] = [
  [
    'generated',
    /(?:^|\/)(?:dist|build|out|target|node_modules|vendor|third_party|\.git|coverage|__pycache__|__generated__|generated)\/|\.(?:min\.[cm]?js|map|lock|snap|pb\.go|g\.dart|bundle\.js)$|_pb2\.py$|(?:^|\/)(?:package-lock\.json|pnpm-lock\.yaml|npm-shrinkwrap\.json|go\.sum|Cargo\.lock)$|[._-]generated\./,
  ],
  [
    'test',
    /(?:^|\/)(?:tests?|__tests__|__mocks__|specs?|testing|testdata|fixtures?|e2e|cypress)\/|(?:^|\/)(?:test_[^/]*|conftest)\.py$|[._-](?:test|spec|tests|e2e)\.[\w.]+$|(?:Test|Tests|Spec|IT)\.(?:java|kt|cs|swift|scala)$|_test\.go$/,
  ],
  [
    'docs',
    /\.(?:md|mdx|rst|adoc|txt)$|(?:^|\/)docs?\/|(?:^|\/)(?:LICEN[CS]E|CHANGES|CHANGELOG|AUTHORS|NOTICE)[^/]*$/,
  ],
  [
    'example',
    /(?:^|\/)(?:examples?|demos?|samples?|bench(?:marks?|es)?)\/|^(?:playground|sandbox)\//,
  ],
  ['types', /\.d\.[cm]?ts$|\.pyi$/],
  ['style', /\.(?:css|scss|sass|less|svg|html?)$/],
  ['data', /\.(?:json[c5]?|ya?ml|toml|ini|cfg|conf|xml|csv|tsv|properties|env|po|sql)$/],
];

export function fileKind(path: string): FileKind {
  return RULES.find(([, rule]) => rule.test(path))?.[0] ?? 'source';
}

/** Texts and data: a line of theirs that begins like a definition, as `type checking is …`, is none. */
export function isProse(path: string): boolean {
  return languageOf(path) === null && ['docs', 'data', 'style'].includes(fileKind(path));
}

/** What a file's score is multiplied by, unless the question asks for its kind. */
export const KIND_FACTOR: Readonly<Record<FileKind, number>> = {
  source: 1,
  types: 0.7,
  data: 0.5,
  style: 0.5,
  example: 0.5,
  docs: 0.4,
  test: 0.4,
  generated: 0.2,
};

export function isFileKind(word: string): word is FileKind {
  return Object.hasOwn(KIND_FACTOR, word);
}
