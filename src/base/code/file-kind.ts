/** The kind of a file, judged by its path. */
export type FileKind =
  | 'source'
  | 'test'
  | 'docs'
  | 'data'
  | 'style'
  | 'types'
  | 'example'
  | 'generated';

/** Rules for the kind of a file. The first rule that matches the path decides. */
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

/** Returns the kind of a file. */
export function fileKind(path: string): FileKind {
  return RULES.find(([, rule]) => rule.test(path))?.[0] ?? 'source';
}

/** Tells whether a file is text or data, in which a line such as `type checking is …` defines nothing. */
export function isProse(path: string): boolean {
  return detectLanguage(path) === null && ['docs', 'data', 'style'].includes(fileKind(path));
}

/** The file name extensions of each language. */
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
