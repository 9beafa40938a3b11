import { basename } from 'node:path/posix';
import ignore, { type Ignore } from 'ignore';
import type { AcceptanceCriteria } from '../protocol/acceptance.ts';

/** Directories whose files belong to the tests. */
const TEST_DIRECTORY =
  /(?:^|\/)(?:tests?|__tests__|specs?|e2e|__mocks__|__snapshots__|testdata|test-data|fixtures)\//i;
/** Names of test files in the usual languages. */
const TEST_FILE =
  /(?:[._-](?:test|tests|spec|e2e|bench)\.[^/]+|_test\.[^/]+|_spec\.[^/]+|(?:^|\/)test_[^/]+|(?:Test|Tests|Spec|IT)\.(?:java|kt|kts|scala|groovy|cs|fs|swift|php)|\.snap|\.bats)$/;
/**
 * Files that decide how tests and builds run: their configuration, the scripts of task runners, and files that
 * interpreters, shells and package managers read by themselves. From the manuals of the programs.
 */
const CONFIGURATION = [
  // Node.js
  /^(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|pnpm-workspace\.yaml|\.pnpmfile\.c?js|bun\.lockb?|bunfig\.toml|deno\.jsonc?|deno\.lock|\.npmrc|\.yarnrc(?:\.yml)?|\.nvmrc|\.node-version|\.tool-versions|lerna\.json|nx\.json|turbo\.json)$/,
  /^(?:tsconfig|jsconfig)[^/]*\.json$/,
  /^(?:jest|vitest|vite|babel|karma|playwright|cypress|ava|rollup|webpack|rspack|esbuild|tsup|tsdown|rolldown|eslint|prettier|postcss|wdio|nyc|c8|mocha|swc|nightwatch|protractor|stryker|metro|next|nuxt|svelte|astro)(?:\.[\w-]+)*\.(?:config|conf|setup|workspace)(?:\.[\w-]+)*$|^(?:jest|vitest|mocha|karma|test)[.-]?(?:setup|global)[^/]*$/,
  /^\.(?:babelrc|mocharc|eslintrc|prettierrc|swcrc|nycrc|c8rc|taprc|lintstagedrc|browserslistrc|oxlintrc|stylelintrc)(?:\.[\w]+)?$/,
  /^biome\.jsonc?$|^\.oxlintrc\.json$/,
  // Python
  /^(?:pytest\.ini|\.pytest\.ini|tox\.ini|setup\.cfg|setup\.py|pyproject\.toml|noxfile\.py|conftest\.py|sitecustomize\.py|usercustomize\.py|manage\.py|Pipfile(?:\.lock)?|poetry\.lock|uv\.lock|uv\.toml|requirements[^/]*\.txt|\.coveragerc|mypy\.ini|ruff\.toml|\.ruff\.toml|pyrightconfig\.json|[^/]+\.pth)$/,
  // Make and its kind
  /^(?:GNUmakefile|[Mm]akefile(?:\.\w+)?|[^/]+\.mk|[Jj]ustfile|Taskfile\.ya?ml|[Rr]akefile|CMakeLists\.txt|CMakePresets\.json|[^/]+\.cmake|meson\.build|configure|configure\.ac|Dockerfile|docker-compose[^/]*)$/,
  // JVM
  /^(?:pom\.xml|gradlew(?:\.bat)?|mvnw(?:\.cmd)?|[^/]+\.gradle(?:\.kts)?|gradle\.properties|build\.sbt|build\.xml)$/,
  // Rust, Go and others
  /^(?:Cargo\.(?:toml|lock)|build\.rs|rust-toolchain(?:\.toml)?|clippy\.toml|nextest\.toml|go\.(?:mod|sum|work|work\.sum)|\.golangci\.[\w]+|Gemfile(?:\.lock)?|[^/]+\.gemspec|\.rspec|phpunit[^/]*\.xml(?:\.dist)?|composer\.(?:json|lock)|Package\.swift|mix\.exs|[^/]+\.(?:cs|fs|vb)proj|[^/]+\.sln|Directory\.Build\.\w+|global\.json|BUILD(?:\.bazel)?|WORKSPACE(?:\.bazel)?|MODULE\.bazel|\.bazelrc)$/,
  // Shells and tools that read files by themselves
  /^(?:\.env(?:\.[\w.-]+)?|\.envrc|\.bashrc|\.profile|\.gitattributes|\.gitmodules|lefthook\.ya?ml|\.pre-commit-config\.yaml)$/,
];
/** Directories whose files are configuration. */
const CONFIGURATION_DIRECTORY =
  /(?:^|\/)(?:\.cargo|\.mvn|gradle\/wrapper|\.husky|\.yarn|\.config|buildSrc|\.github)\//;

/** Returns true for the path of a test file, or of a file that tests use. */
function isTestFile(path: string): boolean {
  return TEST_DIRECTORY.test(path) || TEST_FILE.test(path);
}

/** Returns true for the path of a file that configures tests, builds or package managers. */
function isCheckConfiguration(path: string): boolean {
  const name = basename(path);
  return CONFIGURATION_DIRECTORY.test(path) || CONFIGURATION.some((pattern) => pattern.test(name));
}

/** The part of the criteria that decides which files count as inputs of the checks. */
type InputCriteria = Pick<AcceptanceCriteria, 'commands' | 'changed' | 'mayChange'>;

/**
 * Creates the test whether a file is an input of the checks: it is then used as it was before the task began.
 * `package.json` is no such file, because only some of its fields are (`restorePackageManifest`).
 *
 * @param named the files that the commands name, from `findNamedFiles`
 */
export function createInputTest(
  { changed, mayChange }: InputCriteria,
  named: ReadonlySet<string>,
): (path: string) => boolean {
  const free = matcher([...changed, ...mayChange]);
  return (path) =>
    !isPackageManifest(path) &&
    (named.has(path) || isTestFile(path) || isCheckConfiguration(path)) &&
    !free(path);
}

/** Returns true for the path of a `package.json`. */
export function isPackageManifest(path: string): boolean {
  return basename(path) === 'package.json';
}

/** Creates the test whether a path matches one of these patterns. A pattern is relative to the directory. */
export function matcher(patterns: readonly string[]): (path: string) => boolean {
  if (patterns.length === 0) return () => false;
  const rules: Ignore = ignore({ ignorecase: false, allowRelativePaths: false }).add(
    patterns.map((pattern) => `/${pattern.replace(/^(?:\.?\/)+/, '')}`),
  );
  return (path) => rules.ignores(path);
}

/** The maximum number of rounds in which files that scripts name are searched for further names. */
const MAX_ROUNDS = 3;

/**
 * Finds the files that command lines name: scripts and other arguments, and the files that the scripts of
 * `package.json` and named shell scripts name in turn.
 *
 * @param commands the command lines of the criteria
 * @param files.exists tells whether a path is a file of the directory
 * @param files.read returns the text of a named script, or null if it is too long or no text
 * @param scripts the scripts of the package manifests
 */
export function findNamedFiles(
  commands: readonly string[],
  files: { exists(path: string): boolean; read(path: string): string | null },
  scripts: readonly string[],
): ReadonlySet<string> {
  const named = new Set<string>();
  let texts: readonly string[] = [...commands, ...scripts];
  for (let round = 0; round < MAX_ROUNDS && texts.length > 0; round += 1) {
    const found = texts
      .flatMap(listPathWords)
      .filter((path) => !named.has(path) && files.exists(path));
    for (const path of found) named.add(path);
    texts = found.flatMap((path) => (isScript(path) ? (files.read(path) ?? []) : []));
  }
  return named;
}

function isScript(path: string): boolean {
  return /\.(?:sh|bash|zsh|mk|m?js|cjs|ts|py|rb|pl)$|^[^.]*$/.test(basename(path));
}

/** Lists the words of a text that could be paths, relative to the directory. */
function listPathWords(text: string): readonly string[] {
  const words = text.slice(0, 200_000).split(/[\s'"`;|&()<>=,{}[\]$]+/);
  return [...new Set(words)].flatMap((word) => {
    const path = word.replace(/^(?:\.\/)+/, '').replace(/[:.]+$/, '');
    return path === '' || path.startsWith('/') || path.startsWith('-') ? [] : [path];
  });
}
