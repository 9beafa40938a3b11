import { splitIdentifier } from '../base/word-stems.ts';
import type { CommandRun } from '../protocol/tool.ts';
import { listCommandShells } from '../protocol/state/owned-work.ts';
import type { TaskState } from '../protocol/state/task-state.ts';

/** The kinds of command that a receipt names. */
type CommandKind = 'test' | 'build' | 'commit';

/**
 * The outcome of one program of a command line, as far as the exit code of the line tells. `unclear`: the program may
 * have passed or failed.
 */
type CommandOutcome = 'passed' | 'failed' | 'unclear';

/**
 * The words that classify a command. `programs`: names of programs, some with the first argument that they need to be
 * of the kind. `tasks`: names of tasks that a program runs, such as scripts and subcommands.
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
const KIND_BY_PROGRAM = new Map(
  WORDS.flatMap(([kind, names]) => names.split(',').map((name) => [name, kind])),
);
const KIND_BY_TASK = new Map(
  WORDS.flatMap(([kind, , names]) => names.split(',').map((name) => [name, kind])),
);
/** Programs whose arguments name tasks. Arguments of other programs are files: `grep test` runs no tests. */
const TASK_RUNNER =
  /^(?:npm|pnpm|yarn|bun|deno|cargo|go|dotnet|swift|zig|mix|sbt|stack|cabal|dune|flutter|dart|g?make|just|task|rake|rails|mage|mvnw?|gradlew?|ant|bazel|nx|turbo|lerna|gulp|grunt|vite|next|nuxt|ng|astro|composer|hatch|pdm|poe|invoke|docker|docker-compose|podman)$/;
/** Task runners of which only the first argument is a task, and task runners that run several tasks in one call. */
const ONE_TASK_RUNNER =
  /^(?:cargo|go|dotnet|swift|mix|flutter|dart|vite|next|docker|docker-compose|podman)$/;
const MANY_TASKS_RUNNER = /^(?:g?make|just|rake|mvnw?|gradlew?|ant|zig|turbo)$/;
const INTERPRETER = /^(?:python[\d.]*|pypy3?|node|ruby|php|perl|tsx|ts-node|bash|sh|zsh|pwsh)$/;
/** Scripts whose first argument is the name of a task. */
const TASK_SCRIPT = /(?:^|\/)(?:manage\.py|setup\.py|artisan)$/;
const CONTAINER = /^(?:docker|docker-compose|podman|kubectl)$/;
/** The maximum number of arguments of a task runner that may name its task, as in `yarn workspace web test`. */
const MAX_TASK_ARGUMENTS = 4;

/** Subcommands after which no task follows. */
const INSTALL_COMMAND = /^(?:install|i|ci|add|remove|rm|uninstall|update|upgrade|get|info|view)$/;
/** Options with which a program runs no tests and builds nothing. */
const NO_RUN_OPTION = /^--(?:help|version|collect-only|list|listTests|list-tests|dry-run|no-run)$/;
/** Options whose value is the next argument. */
const OPTION_WITH_VALUE =
  /^(?:-[CcFfpwe]|--(?:prefix|filter|cwd|dir|workspace|package|project|manifest-path|git-dir))$/;
/** Words before the program that really runs, such as `sudo` and variable assignments. */
const WRAPPER_WORD =
  /^(?:\w+=.*|[{}!]|then|do|else|if|while|until|sudo|env|time|nice|nohup|command|exec|timeout|xvfb-run|npx|bunx|pnpx|uvx|cross-env|--|\d+(?:\.\d+)?[smhd]?)$/s;
/** Pairs of words before the program that really runs. */
const WRAPPER_PAIR =
  /^(?:(?:poetry|uv|pipenv|pdm|rye|hatch) run|bundle exec|(?:npm|pnpm|yarn|bun) (?:exec|dlx|x))$/;

/**
 * Classifies a command that ran by its words and its exit code. A line of several programs can be of several kinds.
 * The exit code of the line is that of the program that ended last, so it says nothing about tests before a pipe.
 */
export function classifyCommand({
  command,
  exitCode,
}: CommandRun): ReadonlyMap<CommandKind, CommandOutcome> {
  const { segments, stopsAtFailure, failsInPipe } = splitCommandLine(command);
  const kinds = segments.map(({ words }) => findKinds(words));
  const found = new Map<CommandKind, CommandOutcome>();
  const passesFailureOn = ({ operator }: LineSegment) =>
    operator === '&&' ||
    (stopsAtFailure && /^[;\n]$/.test(operator)) ||
    (failsInPipe && operator === '|');
  for (const [index, segmentKinds] of kinds.entries()) {
    const isClear =
      exitCode !== null &&
      segments[index - 1]?.operator !== '||' &&
      segments[index]?.words[0] !== '!' &&
      segments.at(-1)?.operator === '' &&
      segments.slice(index, -1).every(passesFailureOn);
    for (const kind of segmentKinds) {
      // Any program from here to the end of the line may be the one that failed.
      const isAlone = kinds.slice(index).every((each) => each.includes(kind));
      const failed = isAlone ? 'failed' : 'unclear';
      found.set(kind, !isClear ? 'unclear' : exitCode === 0 ? 'passed' : failed);
    }
  }
  return found;
}

function findKinds(words: readonly string[]): readonly CommandKind[] {
  const [path = '', ...args] = removeWrappers(words);
  const program = baseName(path).replace(/\.(?:exe|cmd)$/i, '');
  if (args.some((word) => NO_RUN_OPTION.test(word))) return [];
  // The program that a container runs comes after the name of its image, as in `docker run node npm test`.
  const isInContainer = CONTAINER.test(program) && /^(?:run|exec)$/.test(args[0] ?? '');
  const inner = isInContainer ? args.findLastIndex((word) => isProgram(baseName(word))) : -1;
  if (inner !== -1) return findKinds(args.slice(inner));
  const named = args.filter(
    (word, index) => !/^[-+]/.test(word) && !OPTION_WITH_VALUE.test(args[index - 1] ?? ''),
  );
  const keys = [program, `${program} ${args[0]}`, `${program} ${named[0]}`];
  const kind = keys.map((key) => KIND_BY_PROGRAM.get(key)).find((kind) => kind !== undefined);
  if (kind !== undefined) return [kind];
  if (TASK_RUNNER.test(program)) return findKindsOfTasks(program, named);
  const [script = path, task = ''] = INTERPRETER.test(program) ? named : [];
  if (TASK_SCRIPT.test(script)) return findKindsOfNames([task]);
  // A plain name, such as `test`, is a command and not a script.
  return /[/.]/.test(path) || script !== path
    ? findKindsOfNames([baseName(script)]).slice(0, 1)
    : [];
}

function findKindsOfTasks(program: string, named: readonly string[]): readonly CommandKind[] {
  if (/^g?make$/.test(program) && named.every((word) => word.includes('='))) return ['build'];
  const end = named.findIndex((word) => INSTALL_COMMAND.test(word));
  const maxTasks = ONE_TASK_RUNNER.test(program) ? 1 : MAX_TASK_ARGUMENTS;
  const tasks = named.slice(0, Math.min(maxTasks, end === -1 ? maxTasks : end));
  const kinds = findKindsOfNames(tasks.filter((word) => !word.includes('/')));
  return MANY_TASKS_RUNNER.test(program) ? kinds : kinds.slice(0, 1);
}

/** Returns the kinds to which names such as `test:unit` and `run_tests.sh` refer, in order. */
function findKindsOfNames(names: readonly string[]): readonly CommandKind[] {
  const kinds = names
    .flatMap(splitIdentifier)
    .map((word) => KIND_BY_TASK.get(word) ?? KIND_BY_PROGRAM.get(word));
  return [...new Set(kinds)].filter((kind) => kind !== undefined);
}

function isProgram(name: string): boolean {
  return KIND_BY_PROGRAM.has(name) || TASK_RUNNER.test(name) || INTERPRETER.test(name);
}

function removeWrappers(words: readonly string[]): readonly string[] {
  let index = 0;
  for (;;) {
    const [first = '', second = ''] = words.slice(index, index + 2);
    if (`${first} ${second}` === 'docker compose')
      return ['docker-compose', ...words.slice(index + 2)];
    if (WRAPPER_PAIR.test(`${first} ${second}`)) index += 2;
    else if (WRAPPER_WORD.test(first) || (index > 0 && first.startsWith('-'))) index += 1;
    else return words.slice(index);
  }
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** One program of a command line with its arguments, without quotes. */
interface LineSegment {
  readonly words: readonly string[];
  /**
   * The operator after the segment: `&&`, `||`, `|`, `;`, `&`, a line break or a parenthesis. '' at the end of the
   * line, '…' where a long line was cut.
   */
  readonly operator: string;
}

/** The programs of a command line, and the shell options in it that change the meaning of its exit code. */
interface SplitLine {
  readonly segments: readonly LineSegment[];
  /** True after `set -e`: a program that fails ends the line. */
  readonly stopsAtFailure: boolean;
  /** True after `set -o pipefail`: a program that fails in a pipe makes the pipe fail. */
  readonly failsInPipe: boolean;
}

/** The maximum number of UTF-16 units of a command line that are read. */
const MAX_LINE_LENGTH = 4_000;
/** The maximum number of nested shells that are read, as in `bash -c "bash -c …"`. */
const MAX_NESTED_SHELLS = 2;
const HERE_DOCUMENT =
  /<<-?[ \t]*(['"]?)([A-Za-z_]\w*)\1([^\n]*)\n[\s\S]*?(?:\n[ \t]*\2[ \t]*(?=\n|$)|$)/g;
const TOKEN =
  /'[^']*'|"(?:\\.|[^"\\])*"|\$\([^()]*\)|`[^`]*`|\\.|\d*>{1,2}&\d+|\d*[<>]{1,3}[&|-]?|&>{1,2}|&&|\|\|?|[;&\n()]|[^\s'"\\`<>|&;()$]+|[^\S\n]+|./gs;
const SHELL = /^(?:.*\/)?(?:ba|z|da|k)?sh$/;

/**
 * Splits a command line into its programs. The parser is a rough one for receipts and may be wrong about unusual
 * syntax. Permissions are decided with the grammar in `policy/`.
 */
function splitCommandLine(line: string): SplitLine {
  return {
    segments: splitIntoSegments(line, MAX_NESTED_SHELLS),
    stopsAtFailure: /\bset -\w*e/.test(line),
    failsInPipe: /\bpipefail\b/.test(line),
  };
}

function splitIntoSegments(line: string, shells: number): readonly LineSegment[] {
  const segments: { words: readonly string[]; operator: string }[] = [];
  let words: string[] = [];
  let word: string | null = null;
  let isTarget = false;
  let isComment = false;
  const endWord = () => {
    if (word !== null && !isTarget) words.push(word);
    if (word !== null) isTarget = false;
    word = null;
  };
  const endSegment = (operator: string) => {
    endWord();
    isTarget = false;
    const last = segments.at(-1);
    if (words.length > 0) segments.push({ words, operator });
    else if (last !== undefined && /^[)\n]$/.test(last.operator) && operator !== '')
      last.operator = operator;
    words = [];
  };
  const text = line.slice(0, MAX_LINE_LENGTH).replace(HERE_DOCUMENT, '$3\n');
  for (const [token] of text.matchAll(TOKEN)) {
    if (isComment && token !== '\n') continue;
    isComment = word === null && token.startsWith('#');
    if (isComment || token === '\\\n') continue;
    if (/^(?:&&|\|\|?|[;&\n()])$/.test(token)) endSegment(token);
    else if (/^\s+$/.test(token)) endWord();
    else if (/^(?:\d*[<>]|&>)/.test(token)) {
      endWord();
      isTarget = !/\d$/.test(token);
    } else word = (word ?? '') + removeQuotes(token);
  }
  // The part of a long line that is not read may determine the exit code.
  endSegment(line.length > MAX_LINE_LENGTH ? '…' : '');
  const last = segments.at(-1);
  if (last !== undefined && /^[;\n)]$/.test(last.operator)) last.operator = '';
  return segments.flatMap((segment) => expandShell(segment, shells));
}

/** Replaces `bash -c "…"` by the programs that the inner shell runs. */
function expandShell(segment: LineSegment, shells: number): readonly LineSegment[] {
  const { words, operator } = segment;
  const shellIndex = words.findIndex((word) => SHELL.test(word));
  const option = words.findIndex((word, index) => index > shellIndex && /^-\w*c$/.test(word));
  const inner = words[option + 1];
  if (shellIndex === -1 || option === -1 || inner === undefined || shells === 0) return [segment];
  const segments = splitIntoSegments(inner, shells - 1);
  const last = segments.at(-1);
  return last === undefined
    ? []
    : [...segments.slice(0, -1), { ...last, operator: last.operator || operator }];
}

function removeQuotes(token: string): string {
  if (token.startsWith('\\')) return token.slice(1);
  return /^['"]/.test(token) && token.length > 1 ? token.slice(1, -1) : token;
}

/** The kinds of command that check something. */
export type CheckKind = Exclude<CommandKind, 'commit'>;

/** A run of a command with its outcome. */
interface LastRun extends CommandRun {
  readonly outcome: CommandOutcome;
}

/** The last runs of the tests or the build. The order among runs of subagents and background shells is not known. */
interface LastRuns {
  /** The last run among the task's own foreground commands; null if there is none. */
  readonly own: LastRun | null;
  readonly others: readonly LastRun[];
}

/** Returns true if a task or one of its children may have run a command. */
export function hasCommands(state: TaskState): boolean {
  const { commands, children } = state;
  if (commands.length > 0 || listCommandShells(state).length > 0) return true;
  return [...children.values()].some(
    ({ receipt }) => receipt === null || receipt.commands.length + receipt.commandsLeftOut > 0,
  );
}

/** Finds the last runs of one kind: of the task, of each of its children, and of each background shell. */
export function findLastRuns(state: TaskState, kind: CheckKind): LastRuns {
  const { commands, children } = state;
  const groups = [
    ...listCommandShells(state).map(({ command, end }) => [
      { command, exitCode: end?.exitCode ?? null },
    ]),
    ...[...children.values()].map(({ receipt }) => receipt?.commands ?? []),
  ];
  const others = groups.map((group) => findLastRun(group, kind)).filter((run) => run !== null);
  return { own: findLastRun(commands, kind), others };
}

/**
 * Finds a failed run if all last runs of a kind have failed; null if one of them may have passed or there was none.
 */
export function findFailedRun(state: TaskState, kind: CheckKind): CommandRun | null {
  const { own, others } = findLastRuns(state, kind);
  const all = own === null ? others : [own, ...others];
  return all.every(({ outcome }) => outcome === 'failed') ? (all[0] ?? null) : null;
}

function findLastRun(commands: readonly CommandRun[], kind: CheckKind): LastRun | null {
  for (const run of commands.toReversed()) {
    const outcome = classifyCommand(run).get(kind);
    if (outcome !== undefined) return { ...run, outcome };
  }
  return null;
}
