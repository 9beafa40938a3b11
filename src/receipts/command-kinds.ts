import { splitIdentifier } from '../base/word-stems.ts';
import type { CommandRun } from '../protocol/tool.ts';
import { splitCommandLine, type LineSegment } from './command-line.ts';

/** The kinds of command that a receipt names. */
export type CommandKind = 'test' | 'build' | 'commit';

/** The meaning of an exit code for one program of a command line. `unclear`: it may have passed or failed. */
export type CommandOutcome = 'passed' | 'failed' | 'unclear';

/**
 * The words that classify a command: programs, some with the first argument that makes them of the kind, and names of
 * tasks that a program runs, such as scripts and subcommands.
 */
const WORDS: readonly (readonly [kind: CommandKind, programs: string, tasks: string])[] = [
  [
    'test',
    'ava,bats,behave,busted,cucumber,ctest,cypress,ginkgo,gotestsum,jest,karma,minitest,mocha,nose2,nosetests,nox,pest,phpunit,playwright,prove,py.test,pytest,rspec,testcafe,tox,trial,vitest,wdio,npm t,node --test,make check,gradle check,gradlew check,mvn verify,mvnw verify',
    'test,tests,testing,spec,specs,e2e,unittest,nextest',
  ],
  [
    'build',
    'cc,clang,clang++,cmake,esbuild,g++,gcc,javac,kotlinc,meson,msbuild,ninja,parcel,rolldown,rollup,rustc,scalac,swiftc,tsc,tsdown,tsup,vue-tsc,webpack,xcodebuild,cargo check,mvn package,mvnw package,mvn install,mvnw install',
    'build,compile,bundle,assemble',
  ],
  ['commit', 'git commit,git cherry-pick,git revert,git am,hg commit,jj commit', ''],
];
const PROGRAMS = new Map(
  WORDS.flatMap(([kind, names]) => names.split(',').map((name) => [name, kind])),
);
const TASKS = new Map(
  WORDS.flatMap(([kind, , names]) => names.split(',').map((name) => [name, kind])),
);
/** Programs whose arguments name tasks. Those of other programs are files: `grep test` tests nothing. */
const RUNNER =
  /^(?:npm|pnpm|yarn|bun|deno|cargo|go|dotnet|swift|zig|mix|sbt|stack|cabal|dune|flutter|dart|g?make|just|task|rake|rails|mage|mvnw?|gradlew?|ant|bazel|nx|turbo|lerna|gulp|grunt|vite|next|nuxt|ng|astro|composer|hatch|pdm|poe|invoke|docker|docker-compose|podman)$/;
/** Runners whose first argument alone is a task, and runners that do several tasks in one call. */
const ONE_TASK =
  /^(?:cargo|go|dotnet|swift|mix|flutter|dart|vite|next|docker|docker-compose|podman)$/;
const MANY_TASKS = /^(?:g?make|just|rake|mvnw?|gradlew?|ant|zig|turbo)$/;
const INTERPRETER = /^(?:python[\d.]*|pypy3?|node|ruby|php|perl|tsx|ts-node|bash|sh|zsh|pwsh)$/;
/** Scripts that take the name of a task. */
const TASK_SCRIPT = /(?:^|\/)(?:manage\.py|setup\.py|artisan)$/;
const CONTAINER = /^(?:docker|docker-compose|podman|kubectl)$/;
/** How many arguments of a runner may name its task: `yarn workspace web test`. */
const TASK_ARGUMENTS = 4;

const INSTALLS = /^(?:install|i|ci|add|remove|rm|uninstall|update|upgrade|get|info|view)$/;
const RUNS_NOTHING = /^--(?:help|version|collect-only|list|listTests|list-tests|dry-run|no-run)$/;
const TAKES_VALUE =
  /^(?:-[CcFfpwe]|--(?:prefix|filter|cwd|dir|workspace|package|project|manifest-path|git-dir))$/;
const WRAPPER =
  /^(?:\w+=.*|[{}!]|then|do|else|if|while|until|sudo|env|time|nice|nohup|command|exec|timeout|xvfb-run|npx|bunx|pnpx|uvx|cross-env|--|\d+(?:\.\d+)?[smhd]?)$/s;
const WRAPPER_PAIR =
  /^(?:(?:poetry|uv|pipenv|pdm|rye|hatch) run|bundle exec|(?:npm|pnpm|yarn|bun) (?:exec|dlx|x))$/;

/**
 * Classifies a command that ran by its words and its exit code alone. A line of several programs can be of several
 * kinds. Its exit code is that of the program that ended last, so it does not tell about tests before a pipe.
 */
export function classifyCommand({
  command,
  exitCode,
}: CommandRun): ReadonlyMap<CommandKind, CommandOutcome> {
  const { segments, stopsAtFailure, failsInPipe } = splitCommandLine(command);
  const kinds = segments.map(({ words }) => kindsOf(words));
  const found = new Map<CommandKind, CommandOutcome>();
  const passesOn = ({ next }: LineSegment) =>
    next === '&&' || (stopsAtFailure && /^[;\n]$/.test(next)) || (failsInPipe && next === '|');
  for (const [index, own] of kinds.entries()) {
    const isSure =
      exitCode !== null &&
      segments[index - 1]?.next !== '||' &&
      segments[index]?.words[0] !== '!' &&
      segments.at(-1)?.next === '' &&
      segments.slice(index, -1).every(passesOn);
    for (const kind of own) {
      // Any program up to the end of the line may be the one that failed.
      const isAlone = kinds.slice(index).every((each) => each.includes(kind));
      const failed = isAlone ? 'failed' : 'unclear';
      found.set(kind, !isSure ? 'unclear' : exitCode === 0 ? 'passed' : failed);
    }
  }
  return found;
}

function kindsOf(words: readonly string[]): readonly CommandKind[] {
  const [path = '', ...args] = withoutWrappers(words);
  const program = baseName(path).replace(/\.(?:exe|cmd)$/i, '');
  if (args.some((word) => RUNS_NOTHING.test(word))) return [];
  // The program that a container runs stands behind the name of its image: `docker run node npm test`.
  const isInContainer = CONTAINER.test(program) && /^(?:run|exec)$/.test(args[0] ?? '');
  const inner = isInContainer ? args.findLastIndex((word) => isProgram(baseName(word))) : -1;
  if (inner !== -1) return kindsOf(args.slice(inner));
  const named = args.filter(
    (word, index) => !/^[-+]/.test(word) && !TAKES_VALUE.test(args[index - 1] ?? ''),
  );
  const keys = [program, `${program} ${args[0]}`, `${program} ${named[0]}`];
  const known = keys.map((key) => PROGRAMS.get(key)).find((kind) => kind !== undefined);
  if (known !== undefined) return [known];
  if (RUNNER.test(program)) return kindsOfTasks(program, named);
  const [script = path, task = ''] = INTERPRETER.test(program) ? named : [];
  if (TASK_SCRIPT.test(script)) return kindsOfNames([task]);
  // A plain name, such as that of the shell's own `test`, is no script.
  return /[/.]/.test(path) || script !== path ? kindsOfNames([baseName(script)]).slice(0, 1) : [];
}

function kindsOfTasks(program: string, named: readonly string[]): readonly CommandKind[] {
  if (/^g?make$/.test(program) && named.every((word) => word.includes('='))) return ['build'];
  const end = named.findIndex((word) => INSTALLS.test(word));
  const most = ONE_TASK.test(program) ? 1 : TASK_ARGUMENTS;
  const tasks = named.slice(0, Math.min(most, end === -1 ? most : end));
  const kinds = kindsOfNames(tasks.filter((word) => !word.includes('/')));
  return MANY_TASKS.test(program) ? kinds : kinds.slice(0, 1);
}

/** Returns the kinds that names such as `test:unit` and `run_tests.sh` tell, in their order. */
function kindsOfNames(names: readonly string[]): readonly CommandKind[] {
  const kinds = names.flatMap(splitIdentifier).map((word) => TASKS.get(word) ?? PROGRAMS.get(word));
  return [...new Set(kinds)].filter((kind) => kind !== undefined);
}

function isProgram(name: string): boolean {
  return PROGRAMS.has(name) || RUNNER.test(name) || INTERPRETER.test(name);
}

function withoutWrappers(words: readonly string[]): readonly string[] {
  let at = 0;
  for (;;) {
    const [first = '', second = ''] = words.slice(at, at + 2);
    if (`${first} ${second}` === 'docker compose')
      return ['docker-compose', ...words.slice(at + 2)];
    if (WRAPPER_PAIR.test(`${first} ${second}`)) at += 2;
    else if (WRAPPER.test(first) || (at > 0 && first.startsWith('-'))) at += 1;
    else return words.slice(at);
  }
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
