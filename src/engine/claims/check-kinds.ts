import { baseName, type Segment } from './shell-lines.ts';

/** What a command checks of a project. */
export type CheckKind = 'test' | 'build' | 'lint' | 'types';
export const CHECK_KINDS: readonly CheckKind[] = ['test', 'build', 'lint', 'types'];

/** Programs, and parts of names of tasks and scripts (`test:unit`, `make check`), by what they check. */
const NAMES: Readonly<Record<CheckKind, string>> = {
  test: `test tests testing t tst e2e spec specs unit unittest integration coverage cov smoke regression testsuite
    nextest pytest py.test jest vitest mocha ava tap karma cypress playwright rspec phpunit eunit pest ctest prove
    nosetests nose2 behave cucumber minitest bats busted testcafe gotestsum ginkgo trial jasmine qunit doctest bench
    runtest runtests wdio k6 newman robot autotest junit selenium`,
  build: `build compile bundle dist assemble package prepare prepack release webpack rollup rolldown esbuild parcel
    tsup tsdown swc tsc tsgo vue-tsc ninja cmake meson scons waf bazel gcc g++ cc clang clang++ javac rustc kotlinc
    scalac ghc csc swiftc zig nim elm hugo jekyll mkdocs sphinx-build docusaurus py_compile compileall latexmk pdflatex
    msbuild xcodebuild electron-builder wasm-pack emcc goreleaser`,
  lint: `lint linter linting style fmt format prettier eslint oxlint oxfmt biome xo standard tslint stylelint ruff
    flake8 pylint pycodestyle pyflakes pydocstyle bandit black isort yapf clippy rustfmt vet gofmt goimports
    golangci-lint golint revive staticcheck rubocop standardrb reek shellcheck hadolint yamllint markdownlint ktlint
    detekt swiftlint checkstyle pmd spotless credo hlint phpcs php-cs-fixer pint phpstan psalm luacheck cppcheck
    clang-tidy clang-format tflint actionlint jshint dprint vale sqlfluff knip`,
  types: `typecheck type-check types type typing typings tsc tsgo vue-tsc typescript mypy pyright basedpyright pyre
    pytype flow svelte-check sorbet srb dialyzer steep phpstan psalm javac rustc gcc g++ clang kotlinc swiftc ghc`,
};
const LINTER = /^[a-z]\w*-?(?:lint|fmt)$/;
/** May check anything. */
const ANY =
  /^(?:check|checks|ci|verify|validate|all|qa|precommit|pre-commit|prepush|preflight|default|quality|tox|nox|act)$/;
/** Compile whatever they test, run or check. */
const COMPILING =
  /^(?:cargo|go|mvnw?|gradlew?|dotnet|swift|sbt|mill|mix|stack|cabal|dune|flutter|bazel)$/;
/** Run what they are told to, of unknown content. */
const RUNS_SCRIPTS =
  /^(?:python[\d.]*|pypy\d?|node|ruby|perl|php|lua|Rscript|R|julia|tsx|ts-node|deno|bun|bash|sh|zsh|pwsh|elixir|java|source|\.|parallel|eval|find|nix|nix-shell|ssh|vagrant|devcontainer|g?make|just|task|rake|invoke)$/;
const INSIDE = /^(?:docker|docker-compose|podman|kubectl)$/;
/** Run tasks of a project by name. */
const RUNNER =
  /^(?:npm|pnpm|yarn|bun|deno|composer|g?make|just|task|rake|rails|nx|turbo|lerna|gulp|grunt|ant|ninja|zig|cmake|xcodebuild|invoke|poe|tox|nox|hatch|mage|bazel|docker|docker-compose|pre-commit)$/;
const INTERPRETER = /^(?:python[\d.]*|node|ruby|php|perl|deno|bun|tsx)$/;
const ONLY_TELLS = /^(?:--version|--help|help|--list|--collect-only|--list-tests|--listTests)$/;
/** Programs that look and do nothing else, as long as nothing is redirected. */
const LOOKS = new Set(
  `cd pushd popd pwd ls ll dir cat bat head tail less more grep egrep fgrep rg ag ack wc uniq cut tr awk jq echo
   printf which whereis type file stat du df tree diff cmp comm date env printenv export set unset whoami uname id
   hostname sleep true false test [ [[ : basename dirname realpath readlink md5sum sha1sum sha256sum xxd hexdump od ps
   pgrep kill column nl strings exit wait ping dig netstat lsof`.split(/\s+/),
);
const GIT_LOOKS =
  /^(?:status|diff|log|show|blame|rev-parse|ls-files|ls-tree|ls-remote|cat-file|grep|describe|shortlog|reflog|rev-list|for-each-ref|merge-base|remote|fetch|version)$/;

let byName: ReadonlyMap<string, readonly CheckKind[]> | null = null;

function kindsNamed(name: string): readonly CheckKind[] {
  byName ??= namesTable();
  return byName.get(name) ?? (ANY.test(name) ? CHECK_KINDS : LINTER.test(name) ? ['lint'] : []);
}

function namesTable(): ReadonlyMap<string, readonly CheckKind[]> {
  const table = new Map<string, CheckKind[]>();
  for (const kind of CHECK_KINDS) {
    for (const name of NAMES[kind].split(/\s+/)) {
      table.set(name, [...(table.get(name) ?? []), kind]);
    }
  }
  return table;
}

export interface Checks {
  readonly kinds: ReadonlySet<CheckKind>;
  /** It may have checked anything: a script of unknown content. */
  readonly isOpen: boolean;
}

/** What a program with its arguments may check of a project. */
export function checksOf(segment: Segment): Checks {
  const inner = handedOn(segment);
  if (inner !== null) return checksOf(inner);
  const { words } = segment;
  const [first = '', ...args] = words;
  const program = baseName(first);
  const kinds = new Set<CheckKind>();
  if (looksOnly(segment) || moves(program) || installs(program, args))
    return { kinds, isOpen: false };
  const isTask =
    RUNNER.test(program) ||
    COMPILING.test(program) ||
    RUNS_SCRIPTS.test(program) ||
    kindsNamed(program).length === 0;
  for (const [at, word] of words.slice(0, isTask ? 40 : 1).entries()) {
    if ((word.startsWith('--') && word !== '--test') || word.includes('=')) continue;
    // A directory of tests is no test run.
    if (at > 0 && word.includes('/') && !RUNS_SCRIPTS.test(program) && !isTool(baseName(word)))
      continue;
    const whole = baseName(word.slice(0, 200));
    for (const name of [whole, ...whole.split(/[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])/)]) {
      for (const kind of kindsNamed(name.toLowerCase())) kinds.add(kind);
    }
  }
  if (
    COMPILING.test(program) &&
    (kinds.has('test') || /^(?:run|check|bench|clippy)$/.test(args[0] ?? ''))
  ) {
    kinds.add('build').add('types');
  }
  if (
    /^(?:mvnw?|gradlew?)$/.test(program) &&
    args.some((word) => /^(?:package|install|verify|build)$/.test(word))
  ) {
    for (const kind of CHECK_KINDS) kinds.add(kind);
  }
  const isBareMake = /^g?make$/.test(program) && args.every((word) => /^-|=/.test(word));
  const isScript =
    (RUNS_SCRIPTS.test(program) && !args.includes('-m') && !isPlainCode(segment)) ||
    (INSIDE.test(program) && args.some((word) => /^(?:run|exec|up)$/.test(word))) ||
    (/[/$]|\.\w+$/.test(first) && !COMPILING.test(program) && !RUNNER.test(program));
  const isOpen = isScript && kinds.size === 0;
  if (isBareMake) kinds.add('build');
  return { kinds, isOpen };
}

/** Whether a program runs code that stands in the line itself, and which starts nothing else. */
export function isPlainCode({ words }: Segment): boolean {
  const [first = '', ...args] = words;
  const at = args.findIndex((word) => /^-(?:c|e|p|pe)$/.test(word));
  if (at === -1 || !INTERPRETER.test(baseName(first))) return false;
  return !/glob|walk|listdir|readdir|iterdir|system|exec|spawn|subprocess/.test(args[at + 1] ?? '');
}

/** What is installed may bear the name of a check. */
function installs(program: string, args: readonly string[]): boolean {
  return (
    /^(?:npm|pnpm|yarn|bun|poetry|pdm|uv|composer|bundle|cargo|go)$/.test(program) &&
    /^(?:install|i|ci|add|remove|uninstall|update|upgrade|get)$/.test(args[0] ?? '')
  );
}

/** Programs that move, fetch or keep things, whatever words stand behind them. */
function moves(program: string): boolean {
  return /^(?:git|gh|glab|rm|rmdir|mkdir|cp|mv|ln|tee|touch|chmod|chown|curl|wget|sed|sort|pip\d?|apt|apt-get|brew|tar|zip|unzip)$/.test(
    program,
  );
}

/** What `xargs` runs; null: the segment is none. */
function handedOn({ words, ...rest }: Segment): Segment | null {
  if (words[0] !== 'xargs') return null;
  const at = words.findIndex((word, index) => index > 0 && /^[a-z][\w./-]*$/i.test(word));
  return { ...rest, words: at === -1 ? ['echo'] : words.slice(at) };
}

/** Whether a segment only looks; its exit code tells what it saw, as that of `grep` does. */
export function looksOnly({ words, targets }: Segment): boolean {
  if (targets.length > 0) return false;
  const [first = '', ...args] = words;
  if (words.some((word) => /`|\$\(/.test(word))) return false;
  const inner = handedOn({ words, targets, joint: '' });
  if (inner !== null) return looksOnly(inner);
  const program = baseName(first);
  if (
    LOOKS.has(program) ||
    (!INSIDE.test(program) && args.some((word) => ONLY_TELLS.test(word))) ||
    /^-?v(?:ersion)?$/i.test(args.join(' '))
  )
    return true;
  if (program === 'git') {
    const [verb = 'status', ...rest] = args.filter(
      (word, at) => word !== '-C' && args[at - 1] !== '-C' && word !== '--no-pager',
    );
    return (
      GIT_LOOKS.test(verb) ||
      (verb === 'branch' && rest.every((word) => /^-(?:a|r|v|-|vv)/.test(word)))
    );
  }
  if (/^(?:unzip|tar)$/.test(program)) return /^-?t|^-l$/.test(args[0] ?? '');
  if (program === 'find') return !args.some((word) => /^-(?:exec|ok|delete|fprint|fls)/.test(word));
  if (program === 'sed' || (program === 'perl' && args.includes('-ne')))
    return !args.some((word) => /^-\w*i|^--in-place/.test(word));
  return program === 'sort' && !args.some((word) => /^-\w*o|^--output/.test(word));
}

/** Whether a program runs others in a container. */
export function isInside(program: string): boolean {
  return INSIDE.test(program);
}

/** Whether a program runs tasks of a project by name: `npm test` may be what `vitest` is. */
export function isRunner(program: string): boolean {
  return RUNNER.test(program);
}

/** Whether the first word behind a program says what it does: `git push`. */
export function isManifold(program: string): boolean {
  return (
    RUNNER.test(program) ||
    COMPILING.test(program) ||
    /^(?:git|gh|docker|podman|kubectl|helm|terraform|tofu|pip\d?|poetry|uv|alembic|prisma|flask|brew|apt|apt-get|systemctl|ruff|golangci-lint|playwright|sqlx|manage\.py|artisan|aws|gcloud|az)$/.test(
      program,
    )
  );
}

/** The same of one that may be unknown: all do but tools that check what they are pointed at. */
export function takesTask(program: string): boolean {
  return (
    isManifold(program) ||
    (kindsNamed(program).length === 0 &&
      !LOOKS.has(program) &&
      !moves(program) &&
      !RUNS_SCRIPTS.test(program) &&
      !/[./]/.test(program))
  );
}

/** Whether a word is the name that tasks have: `test`, in `zig build test`. */
export function isTaskWord(word: string): boolean {
  return TASK_WORD.test(word);
}

/** Whether code is a command of a program that is not known: it has options, or tasks with a known name. */
export function isCommandLike([first = '', ...rest]: readonly string[]): boolean {
  return (
    /^(?:\.{1,2}\/[\w./-]+|[a-z][a-z\d_-]+|[A-Z][a-z]+-[A-Z]\w+)$/.test(first) &&
    !KEYWORD.test(first) &&
    (first.startsWith('.') ||
      rest.some((word) => /^--?[a-z]/i.test(word)) ||
      kindsNamed(rest[0] ?? '').length > 0 ||
      TASK_VERB.test(rest[0] ?? ''))
  );
}

const TASK_VERB =
  /^(?:run|migrate|generate|gen|apply|install|deploy|start|up|down|push|pull|plan|sync|init|lock|update|upgrade|publish|seed|exec|import|export|add|remove|validate|analy[sz]e|doctor|audit|prune|dedupe|clean)$/;
/** First words of code that is no command. */
const KEYWORD =
  /^(?:const|let|var|function|func|fn|def|class|return|if|for|while|import|export|from|public|private|static|async|await|new|type|interface|enum|struct|select|insert|update|delete|create|alter|drop|throw|raise|use|using|package|module|with|the|an?|pub|impl|int|void|string|in|not|and|or|test|build|lint|types?|format)$/;

/** Whether code in an answer is a command: it starts with a program that is known here. */
export function isProgram(word: string): boolean {
  const name = baseName(word);
  return (
    RUNNER.test(name) ||
    INSIDE.test(name) ||
    RUNS_SCRIPTS.test(name) ||
    COMPILING.test(name) ||
    moves(name) ||
    LOOKS.has(name) ||
    TOOLS.test(name) ||
    LINTER.test(name) ||
    ((byName ??= namesTable()).has(name) && !TASK_WORD.test(name))
  );
}

/** Whether a program checks the files that it is pointed at, or moves them, and runs none of them. */
export function isChecker(program: string): boolean {
  return (
    LOOKS.has(program) ||
    moves(program) ||
    (kindsNamed(program).length > 0 && !RUNS_SCRIPTS.test(program) && !RUNNER.test(program))
  );
}

/** Whether a plain word is the name of a program that checks: `mypy`. */
export function isTool(word: string): boolean {
  return (
    /^(?:valgrind|tox|nox)$/.test(word) ||
    (word.length > 2 &&
      /^[a-z]/.test(word) &&
      kindsNamed(word).length > 0 &&
      !TASK_WORD.test(word) &&
      !PLAIN_WORD.test(word) &&
      !ANY.test(word))
  );
}

const TOOLS =
  /^(?:valgrind|act|npx|bunx|uvx?|poetry|pipenv|pdm|bundle|alembic|prisma|flask|terraform|tofu|helm|ansible-playbook|psql|mysql|sqlite3|systemctl|rsync|scp|django-admin|artisan|wrangler|vercel|aws|gcloud|az|next|vite|ng|astro|pod|gem)$/;
/** Names of tasks, and not of programs. */
const TASK_WORD =
  /^(?:tests?|testing|t|spec|specs|unit|unittest|integration|coverage|cov|build|compile|bundle|package|release|prepare|prepack|dist|assemble|lint|linter|linting|style|format|fmt|typecheck|type-check|types?|typing|typings|typescript|smoke|regression|testsuite|bench|e2e|tst|selenium|robot)$/;
/** Programs with names that are words of English. */
const PLAIN_WORD =
  /^(?:standard|flow|ava|tap|bats|prove|trial|behave|green|newman|cucumber|metro|parcel|elm|zig|meson|waf|clang|black|revive|reek|pint|vet|vale|steep|sorbet|credo|jest|ninja|hugo|next)$/;
