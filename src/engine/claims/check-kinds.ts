import { programName, type Segment } from './shell-lines.ts';

/** What a command checks of a project. */
export type CheckKind = 'test' | 'build' | 'lint' | 'types';

const ALL: readonly CheckKind[] = ['test', 'build', 'lint', 'types'];

/** Programs that check by being run, whatever their arguments. */
const PROGRAMS: ReadonlyMap<string, readonly CheckKind[]> = table([
  [
    ['test'],
    `pytest py.test jest vitest mocha ava tap karma cypress playwright rspec phpunit pest ctest prove nosetests
     nose2 behave cucumber cucumber-js bats busted testcafe cargo-nextest gotestsum ginkgo trial stestr green
     shellspec codecept tape uvu jasmine qunit wdio nightwatch newman k6 testthat unittest doctest robot minitest
     paratest testem pester tasty japa`,
  ],
  [['types', 'build'], 'tsc tsgo vue-tsc'],
  [
    ['types'],
    'mypy pyright basedpyright pyre pytype flow svelte-check sorbet srb ty dialyzer steep',
  ],
  [['types', 'lint'], 'phpstan psalm luacheck cppcheck clang-tidy staticcheck'],
  [
    ['lint'],
    `eslint oxlint biome xo standard tslint stylelint ruff flake8 pylint pycodestyle pyflakes pydocstyle bandit
     clippy golangci-lint golint revive rubocop standardrb reek shellcheck hadolint yamllint markdownlint
     markdownlint-cli2 ktlint detekt swiftlint checkstyle pmd credo hlint scalafix phpcs php-cs-fixer pint
     tflint actionlint htmlhint jshint jscs prettier black isort oxfmt dprint rustfmt gofmt goimports yapf
     clang-format vale commitlint sqlfluff djlint pre-commit lint-staged knip`,
  ],
  [
    ['build'],
    `webpack rollup rolldown esbuild parcel tsup tsdown swc microbundle unbuild metro snowpack ninja cmake meson
     scons waf rebar3 ghc elm py_compile compileall latexmk pdflatex hugo jekyll mkdocs sphinx-build
     docusaurus vite next nuxt astro gatsby ng expo electron-builder wasm-pack emcc nvcc goreleaser msbuild
     xcodebuild`,
  ],
  [
    ['build', 'types'],
    'gcc g++ cc c++ clang clang++ javac rustc kotlinc scalac ghc csc swiftc dmd nim zig',
  ],
  [ALL, 'tox nox act check-manifest'],
]);

/** Programs whose arguments say what they run. */
const RUNNERS = new Set(
  `npm pnpm yarn bun deno composer make gmake just task rake mage nx turbo lerna grunt gulp ant poe hatch invoke inv
   pdm poetry rails bazel bazelisk pants buck gradle gradlew mvn mvnw sbt mill lein clj boot mix dotnet cargo go swift
   flutter dart zig stack cabal dune opam rebar3 xcodebuild cmake meson moon wireit rush melos fvm artisan
   django-admin symfony ember ng next vite nuxt astro vue-cli-service react-scripts craco lage nps hatch pixi earthly
   dagger bundle gem rush stack spago rescript crystal shards nimble v odin tilt docker docker-compose podman kubectl
   nix nix-shell nix-build ssh vagrant devcontainer cross xtask wp drush fastlane pod tuist`
    .split(/\s+/)
    .filter((word) => word !== ''),
);
/** Those that compile what they test and run. */
const COMPILING = new Set(
  `cargo go mvn mvnw gradle gradlew dotnet swift sbt mill mix stack cabal dune zig flutter xcodebuild bazel bazelisk
   crystal cross`.split(/\s+/),
);

/** Parts of a task's name, as in `test:unit`. */
const TASK_WORDS: ReadonlyMap<string, readonly CheckKind[]> = table([
  [
    ['test'],
    'test tests testing e2e spec specs unit integration coverage cov tst t nextest vitest jest pytest mocha cypress playwright smoke regression unittest nosetests rspec phpunit eunit ct junit selenium testsuite doctest autotest bench',
  ],
  [
    ['build'],
    'build compile bundle dist assemble package release publish prepare prepack buildall bdist webpack install',
  ],
  [
    ['lint'],
    'lint linter linting eslint clippy vet style fmt format prettier credo rubocop ruff flake8 pylint stylelint oxlint biome phpcs ktlint detekt checkstyle',
  ],
  [
    ['types'],
    'typecheck types type typing typings tsc tsgo mypy pyright typescript dialyzer phpstan psalm',
  ],
  [
    ALL,
    'check checks ci verify validate validation all qa precommit prepush quality preflight default pre sanity',
  ],
]);

const INTERPRETERS =
  /^(?:python[\d.]*|pypy\d?|node|nodejs|ruby|perl|php|lua|luajit|rscript|r|julia|tsx|ts-node|deno|bun|bash|sh|zsh|pwsh|powershell|elixir|java|groovy|racket|guile|scheme|swipl|octave|babel-node|vite-node|jiti|source|\.)$/i;
/** Scripts that are the program itself. */
const ORDINARY =
  /^(?:index|main|app|server|cli|setup|seed|migrate|start|run|manage|demo|bot|worker|client|hello|hello[_-]world)\.\w+$/i;

export interface SegmentKinds {
  readonly kinds: ReadonlySet<CheckKind>;
  /** It may have checked anything: a script of unknown content. */
  readonly isOpen: boolean;
}

const NOTHING: SegmentKinds = { kinds: new Set(), isOpen: false };
const OPEN: SegmentKinds = { kinds: new Set(), isOpen: true };

/** What a program with its arguments checks. */
export function kindsOf({ words }: Pick<Segment, 'words'>): SegmentKinds {
  const [first = '', ...args] = words;
  const program = programName(first);
  if (program === 'xargs' || program === 'parallel')
    return { ...kindsOf({ words: args }), isOpen: true };
  if (args.length === 1 && /^(?:--version|-v|-V|--help|-h|version|help)$/.test(args[0] ?? ''))
    return NOTHING;
  if (INTERPRETERS.test(program) && !RUNNERS.has(program)) return kindsOfScript(program, args);
  if (program === 'bun' || program === 'deno' || program === 'php' || program === 'bin') {
    const script = args.find((word) => /\.\w+$/.test(word));
    if (script !== undefined && !args.includes('test')) return kindsOfScript(program, args);
  }
  if (RUNNERS.has(program)) return kindsOfRunner(program, args);
  const known = PROGRAMS.get(program);
  if (known !== undefined) return { kinds: new Set(known), isOpen: false };
  if (program === 'find' && args.some((word) => /^-(?:exec|ok)/.test(word))) return OPEN;
  if (NEUTRAL.has(program)) return NOTHING;
  const hinted = hintsIn([first, ...args]);
  if (hinted.size > 0) return { kinds: hinted, isOpen: false };
  return /[/$]/.test(first) || /\.(?:sh|py|js|ts|rb|pl)$/.test(first) ? OPEN : NOTHING;
}

function kindsOfRunner(program: string, args: readonly string[]): SegmentKinds {
  const own = args.filter((word) => !word.startsWith('-') && !/^install|^i$|^add$|^ci$/.test(word));
  const isInstall = /^(?:npm|pnpm|yarn|bun|composer|poetry|pdm|bundle|gem|docker|pod)$/.test(
    program,
  );
  const kinds = new Set<CheckKind>();
  const compiles = COMPILING.has(program);
  for (const kind of hintsIn(isInstall ? own : args)) kinds.add(kind);
  if (
    compiles &&
    (kinds.has('test') || args.some((word) => /^(?:run|build|check|bench|clippy)$/.test(word)))
  ) {
    kinds.add('build').add('types');
  }
  if (
    /^(?:mvnw?)$/.test(program) &&
    args.some((word) => /^(?:package|install|verify|deploy)$/.test(word))
  ) {
    kinds.add('test').add('build').add('types');
  }
  if (
    /^(?:gradlew?|bazel(?:isk)?)$/.test(program) &&
    args.some((word) => /(?:^|:)build$/.test(word))
  ) {
    for (const kind of ALL) kinds.add(kind);
  }
  if (kinds.size > 0) return { kinds, isOpen: false };
  const names = args.filter((word) => !word.startsWith('-'));
  const isBare =
    names.length === 0 && /^(?:g?make|just|task|rake|ninja|ant|grunt|gulp|nox)$/.test(program);
  if (isBare) return { kinds: new Set(['build']), isOpen: true };
  const inside =
    /^(?:docker|docker-compose|podman|kubectl|nix|nix-shell|ssh|vagrant|devcontainer|earthly|dagger|tilt)$/;
  const runs =
    args.some((word) => /^(?:run|exec|up|develop|-c|--run)$/.test(word)) || program === 'ssh';
  return inside.test(program) && runs ? OPEN : NOTHING;
}

function kindsOfScript(program: string, args: readonly string[]): SegmentKinds {
  if (args.some((word) => word === '--test' || word === '--test-only')) {
    return { kinds: new Set(['test']), isOpen: false };
  }
  const module = args.indexOf('-m');
  if (module !== -1) return kindsOf({ words: args.slice(module + 1) });
  if (
    args.some((word) => /^(?:--check|-c|-l|-n|--syntax-check)$/.test(word)) &&
    /^(?:node|php|ruby|bash|sh|perl)$/.test(program)
  ) {
    return { kinds: new Set(['build', 'lint', 'types']), isOpen: true };
  }
  const at = args.findIndex((word) => !word.startsWith('-'));
  const script = args[at] ?? '';
  // Code in the line itself, or from standard input.
  if (script === '' || args.slice(0, at).some((word) => /^-(?:e|c|p|r)$|^--eval$/.test(word)))
    return OPEN;
  const inner = kindsOf({
    words: [programName(script).replace(/\.[cm]?[jt]s$/, ''), ...args.slice(at + 1)],
  });
  const kinds = new Set([...hintsIn([script]), ...inner.kinds]);
  if (kinds.size > 0) return { kinds, isOpen: false };
  return ORDINARY.test(programName(script)) ? { kinds: hintsIn(args), isOpen: false } : OPEN;
}

function hintsIn(words: readonly string[]): Set<CheckKind> {
  const kinds = new Set<CheckKind>();
  for (const word of words.slice(0, 40)) {
    const whole = word.toLowerCase();
    if (whole.startsWith('--') || whole.length > 200) continue;
    for (const part of [whole, ...whole.split(/[^a-z0-9]+/)]) {
      for (const kind of PROGRAMS.get(part) ?? []) kinds.add(kind);
      for (const kind of TASK_WORDS.get(part) ?? []) kinds.add(kind);
    }
  }
  return kinds;
}

/** Programs that look, talk, fetch or move, and check nothing. */
const NEUTRAL = new Set(
  `cd pushd popd pwd ls ll dir cat bat head tail less more grep egrep fgrep rg ag ack find fd wc sort uniq cut tr awk
   gawk sed jq yq echo printf which whereis type file stat du df tree diff cmp comm date env printenv export set unset
   whoami uname id hostname sleep true false test [ [[ : basename dirname realpath readlink md5sum sha1sum sha256sum
   xxd hexdump od ps kill pkill pgrep curl wget ping dig nslookup ss netstat lsof touch rm rmdir mkdir cp mv ln tee
   chmod chown install truncate dd unlink tar zip unzip gzip gunzip git gh glab svn hg pip pip3 apt apt-get brew apk
   dnf yum nvm rustup pyenv rbenv asdf open code vim nano column nl fold paste strings tput clear exit return wait
   trap ulimit umask history alias seq yes rev base64 psql mysql sqlite3 redis-cli mongosh terraform tofu ansible
   ansible-playbook helm aws gcloud az heroku vercel netlify fly flyctl wrangler`.split(/\s+/),
);

/** Whether a program is one of those that only look, talk or move files. */
export function isNeutral(program: string): boolean {
  return NEUTRAL.has(program);
}

/** Whether a word is the name of a program that this table knows. */
export function isKnownProgram(word: string): boolean {
  const name = programName(word);
  return (
    PROGRAMS.has(name) ||
    RUNNERS.has(name) ||
    NEUTRAL.has(name) ||
    /^(?:python[\d.]*|node|ruby|bash|sh|php|perl|npx|uv|uvx|poetry|pipenv|bunx|java|alembic|prisma|flask|uvicorn|systemctl|service|rsync|scp|tsx|ts-node)$/.test(
      name,
    )
  );
}

function table(
  rows: readonly (readonly [readonly CheckKind[], string])[],
): ReadonlyMap<string, readonly CheckKind[]> {
  const map = new Map<string, readonly CheckKind[]>();
  for (const [kinds, words] of rows) {
    for (const word of words.trim().split(/\s+/)) {
      map.set(word, [...new Set([...(map.get(word) ?? []), ...kinds])]);
    }
  }
  return map;
}
