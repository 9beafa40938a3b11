import { basename } from 'node:path/posix';
import ignore, { type Ignore } from 'ignore';
import type { AcceptanceCriteria } from '../protocol/acceptance.ts';

/** Directories whose files belong to the tests, wherever they are. */
const TEST_DIRECTORY =
  /(?:^|\/)(?:tests?|__tests__|__mocks__|__snapshots__|testdata|test-data|testFixtures|integration-?tests?|[\w.-]+\.Tests?)\//i;
/** Directories that hold tests beside the sources, but are ordinary names below them. */
const TEST_DIRECTORY_AT_THE_TOP = /(?:^|\/)(?:specs?|e2e|fixtures|features|t)\//i;
const SOURCES = /(?:^|\/)(?:src|lib|app|source|pkg|internal|cmd)\//i;
/** Names of test files in the usual languages. */
const TEST_FILE =
  /(?:[._-](?:test|tests|spec|e2e|bench)\.[^/]+|(?:^|\/)(?:test|tests)\.[^/]+|_test\.[^/]+|_spec\.[^/]+|(?:^|\/)test_[^/]+|(?:Test|Tests|IT)\.(?:java|kt|kts|scala|groovy|cs|fs|swift|php)|Spec\.(?:kt|kts|scala|groovy|swift)|\.snap|\.bats|\.feature)$/;
/**
 * Files that decide how tests and builds run: their configuration, the scripts of task runners, and files that
 * interpreters, shells, linters and package managers read by themselves. From the manuals of the programs.
 */
const CONFIGURATION = [
  // Any program: `.eslintrc.json`, `.prettierignore`, `.editorconfig`, `.env.test`
  /^\.[\w.-]*(?:rc|ignore|config|env|envrc)(?:\.[\w.-]+)?$/,
  /^\.(?:flake8|pylintrc|coveragerc|rubocop|clang-format|clang-tidy|golangci|swiftlint|bazel\w*|profile|bashrc|gitattributes|gitmodules|pre-commit-config|rspec)(?:\.[\w-]+)?$/,
  // Node.js
  /^(?:package-lock\.json|npm-shrinkwrap\.json|package\.ya?ml|yarn\.lock|pnpm-lock\.yaml|pnpm-workspace\.yaml|\.pnpmfile\.c?js|\.pnp\.c?js|bun\.lockb?|bunfig\.toml|deno\.jsonc?|deno\.lock|\.nvmrc|\.node-version|\.tool-versions|lerna\.json|nx\.json|project\.json|angular\.json|turbo\.json|biome\.jsonc?)$/,
  /^(?:tsconfig|jsconfig)[^/]*\.json$/,
  /^(?:jest|vitest|vite|babel|karma|playwright|cypress|ava|rollup|webpack|rspack|esbuild|tsup|tsdown|rolldown|eslint|prettier|postcss|wdio|nyc|c8|mocha|swc|nightwatch|protractor|stryker|metro|next|nuxt|svelte|astro)(?:\.[\w-]+)*\.(?:config|conf|setup|workspace)(?:\.[\w-]+)*$|^(?:jest|vitest|mocha|karma|test)[.-]?(?:setup|global)[^/]*$|^setup-?(?:jest|vitest|tests?)[^/]*$/i,
  // Python. A module with the name of a test runner would run in its place.
  /^(?:pytest\.ini|tox\.(?:ini|toml)|setup\.cfg|setup\.py|pyproject\.toml|noxfile\.py|tasks\.py|conftest\.py|(?:site|user)customize\.py|manage\.py|(?:unittest|pytest|doctest|nose2?|coverage|tox|nox)\.py|Pipfile(?:\.lock)?|poetry\.lock|uv\.lock|uv\.toml|requirements[^/]*\.txt|mypy\.ini|ruff\.toml|pyrightconfig\.json)$/,
  // Make and its kind
  /^(?:GNUmakefile|[Mm]akefile(?:\.\w+)?|[^/]+\.mk|[Jj]ustfile|Taskfile\.ya?ml|[Rr]akefile|Gruntfile\.\w+|gulpfile\.\w+|SConstruct|SConscript|CMakeLists\.txt|CMakePresets\.json|[^/]+\.cmake|meson\.build|configure|configure\.ac|docker-compose[^/]*)$/,
  // JVM
  /^(?:pom\.xml|gradlew(?:\.bat)?|mvnw(?:\.cmd)?|[^/]+\.gradle(?:\.kts)?|gradle\.properties|build\.sbt|build\.xml)$/,
  // Rust, Go and others
  /^(?:Cargo\.(?:toml|lock)|build\.rs|rust-toolchain(?:\.toml)?|rustfmt\.toml|clippy\.toml|nextest\.toml|go\.(?:mod|sum|work|work\.sum)|Gemfile(?:\.lock)?|[^/]+\.gemspec|phpunit[^/]*\.xml(?:\.dist)?|composer\.(?:json|lock)|Package\.swift|mix\.exs|[^/]+\.(?:cs|fs|vb)proj|[^/]+\.sln|Directory\.Build\.\w+|global\.json|BUILD(?:\.bazel)?|WORKSPACE(?:\.bazel)?|MODULE\.bazel|[^/]+\.bzl|lefthook\.ya?ml)$/,
];
/** Directories whose files are configuration. */
const CONFIGURATION_DIRECTORY =
  /(?:^|\/)(?:\.cargo|\.config|\.mvn|gradle\/wrapper|\.husky|\.yarn|buildSrc|\.github|(?:unittest|pytest|doctest))\//;

/** Returns true for the path of a test file, or of a file that tests use. */
function isTestFile(path: string): boolean {
  const top = TEST_DIRECTORY_AT_THE_TOP.exec(path);
  const isAtTheTop = top !== null && !SOURCES.test(path.slice(0, top.index + 1));
  return TEST_DIRECTORY.test(path) || isAtTheTop || TEST_FILE.test(path);
}

/** Returns true for the path of a file that configures tests, builds or package managers. */
function isCheckConfiguration(path: string): boolean {
  const name = basename(path);
  return (
    CONFIGURATION_DIRECTORY.test(path) ||
    (name.endsWith('.pth') && path.includes('site-packages/')) ||
    CONFIGURATION.some((pattern) => pattern.test(name))
  );
}

/** The part of the criteria that decides which files count as inputs of the checks. */
type InputCriteria = Pick<AcceptanceCriteria, 'mayChange'>;

/**
 * Creates the test whether a file is an input of the checks: it is then used as it was before the task began.
 * `package.json` is no such file, because only some of its fields are (`restorePackageManifest`).
 *
 * @param named the files that the commands name, from `findNamedFiles`
 */
export function createInputTest(
  { mayChange }: InputCriteria,
  named: ReadonlySet<string>,
): (path: string) => boolean {
  const free = matcher(mayChange);
  return (path) =>
    !isPackageManifest(path) &&
    (named.has(path) || isTestFile(path) || isCheckConfiguration(path)) &&
    !free(path);
}

/** Files that say what services run for each commit. */
const SERVICE_FILE =
  /(?:^|\/)(?:\.gitlab-ci\.ya?ml|\.travis\.ya?ml|azure-pipelines\.ya?ml|bitbucket-pipelines\.ya?ml|Jenkinsfile|\.circleci\/[^/]+)$/;

/**
 * Selects the paths of files that can decide whether a check passes: tests, what configures tests, builds and their runs
 * elsewhere, and `package.json` with its scripts. The names alone decide, so other files may be inputs as well.
 */
export function selectLikelyInputs(paths: readonly string[]): readonly string[] {
  return paths.filter(
    (path) =>
      isPackageManifest(path) ||
      isTestFile(path) ||
      isCheckConfiguration(path) ||
      SERVICE_FILE.test(path),
  );
}

/** Returns true for the path of a `package.json`. */
export function isPackageManifest(path: string): boolean {
  return basename(path) === 'package.json';
}

/** Creates the test whether a path matches one of these patterns, which are those of `.gitignore`. */
export function matcher(patterns: readonly string[]): (path: string) => boolean {
  if (patterns.length === 0) return () => false;
  const rules: Ignore = ignore({ ignorecase: false, allowRelativePaths: false }).add(
    patterns.map((pattern) => pattern.replace(/^(?:\.\/)+/, '/')),
  );
  return (path) => rules.ignores(path);
}

/** Returns true for a path below a directory of sources, whose files are the work and not its checks. */
export function isBelowSources(path: string): boolean {
  return SOURCES.test(path);
}
