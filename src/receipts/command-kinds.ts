import { splitIdentifier } from '../base/word-stems.ts';
import type { CommandRun } from '../protocol/tool.ts';
import type { TaskState } from '../protocol/state/task-state.ts';

/** The kinds of command that a receipt names. */
type CommandKind = 'test' | 'build' | 'commit';

/** The meaning of an exit code for one program of a command line. `unclear`: it may have passed or failed. */
type CommandOutcome = 'passed' | 'failed' | 'unclear';

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

/** One program of a command line with its arguments, quotes taken off. */
interface LineSegment {
  readonly words: readonly string[];
  /** The operator behind it: `&&`, `||`, `|`, `;`, `&`, a line break or a bracket. '' at the end, '…' where it is cut. */
  readonly next: string;
}

/** The programs of a command line, and the shell options in it that change what its exit code says. */
interface SplitLine {
  readonly segments: readonly LineSegment[];
  /** `set -e`: a program that fails ends the line. */
  readonly stopsAtFailure: boolean;
  /** `set -o pipefail`: a program that fails in a pipe makes the pipe fail. */
  readonly failsInPipe: boolean;
}

/** UTF-16 units of a command line that are read. */
const READ_LENGTH = 4_000;
/** How often a shell within a shell is read: `bash -c "bash -c …"`. */
const READ_SHELLS = 2;
const HERE_DOCUMENT =
  /<<-?[ \t]*(['"]?)([A-Za-z_]\w*)\1([^\n]*)\n[\s\S]*?(?:\n[ \t]*\2[ \t]*(?=\n|$)|$)/g;
const TOKEN =
  /'[^']*'|"(?:\\.|[^"\\])*"|\$\([^()]*\)|`[^`]*`|\\.|\d*>{1,2}&\d+|\d*[<>]{1,3}[&|-]?|&>{1,2}|&&|\|\|?|[;&\n()]|[^\s'"\\`<>|&;()$]+|[^\S\n]+|./gs;
const SHELL = /^(?:.*\/)?(?:ba|z|da|k)?sh$/;

/**
 * Splits a command line into its programs. This is a rough reading for receipts, which may be wrong about unusual
 * syntax; permissions are decided by the grammar in `policy/`.
 */
function splitCommandLine(line: string): SplitLine {
  return {
    segments: segmentsOf(line, READ_SHELLS),
    stopsAtFailure: /\bset -\w*e/.test(line),
    failsInPipe: /\bpipefail\b/.test(line),
  };
}

function segmentsOf(line: string, shells: number): readonly LineSegment[] {
  const segments: { words: readonly string[]; next: string }[] = [];
  let words: string[] = [];
  let word: string | null = null;
  let isTarget = false;
  let isComment = false;
  const endWord = () => {
    if (word !== null && !isTarget) words.push(word);
    if (word !== null) isTarget = false;
    word = null;
  };
  const endSegment = (next: string) => {
    endWord();
    isTarget = false;
    const last = segments.at(-1);
    if (words.length > 0) segments.push({ words, next });
    else if (last !== undefined && /^[)\n]$/.test(last.next) && next !== '') last.next = next;
    words = [];
  };
  const text = line.slice(0, READ_LENGTH).replace(HERE_DOCUMENT, '$3\n');
  for (const [token] of text.matchAll(TOKEN)) {
    if (isComment && token !== '\n') continue;
    isComment = word === null && token.startsWith('#');
    if (isComment || token === '\\\n') continue;
    if (/^(?:&&|\|\|?|[;&\n()])$/.test(token)) endSegment(token);
    else if (/^\s+$/.test(token)) endWord();
    else if (/^(?:\d*[<>]|&>)/.test(token)) {
      endWord();
      isTarget = !/\d$/.test(token);
    } else word = (word ?? '') + unquoted(token);
  }
  // The part of a long line that is not read may decide about its exit code.
  endSegment(line.length > READ_LENGTH ? '…' : '');
  const last = segments.at(-1);
  if (last !== undefined && /^[;\n)]$/.test(last.next)) last.next = '';
  return segments.flatMap((segment) => withinShell(segment, shells));
}

/** Returns what `bash -c "…"` runs in the place of the shell. */
function withinShell(segment: LineSegment, shells: number): readonly LineSegment[] {
  const { words, next } = segment;
  const at = words.findIndex((word) => SHELL.test(word));
  const option = words.findIndex((word, index) => index > at && /^-\w*c$/.test(word));
  const inner = words[option + 1];
  if (at === -1 || option === -1 || inner === undefined || shells === 0) return [segment];
  const segments = segmentsOf(inner, shells - 1);
  const last = segments.at(-1);
  return last === undefined ? [] : [...segments.slice(0, -1), { ...last, next: last.next || next }];
}

function unquoted(token: string): string {
  if (token.startsWith('\\')) return token.slice(1);
  return /^['"]/.test(token) && token.length > 1 ? token.slice(1, -1) : token;
}

export type CheckKind = Exclude<CommandKind, 'commit'>;

interface LastRun extends CommandRun {
  readonly outcome: CommandOutcome;
}

/** The last runs of the tests or the build. Those of subagents and background shells have no order among them. */
interface LastRuns {
  /** The last one among the task's own foreground commands; null: there was none. */
  readonly own: LastRun | null;
  readonly others: readonly LastRun[];
}

/** Whether a task, or a child of it, is known to have run a command. */
export function hasCommands({ commands, shells, children }: TaskState): boolean {
  if (commands.length > 0 || shells.size > 0) return true;
  return [...children.values()].some(
    ({ receipt }) => receipt === null || receipt.commands.length + receipt.commandsLeftOut > 0,
  );
}

/** Finds the last runs of one kind, in the task and in each of its children and background shells. */
export function lastRuns({ commands, shells, children }: TaskState, kind: CheckKind): LastRuns {
  const groups = [
    ...[...shells.values()].map(({ command, end }) => [
      { command, exitCode: end?.exitCode ?? null },
    ]),
    ...[...children.values()].map(({ receipt }) => receipt?.commands ?? []),
  ];
  const others = groups.map((group) => lastRun(group, kind)).filter((run) => run !== null);
  return { own: lastRun(commands, kind), others };
}

/** Finds the run to name where all last runs of a kind failed; null: one may have passed, or there was none. */
export function failedRun(state: TaskState, kind: CheckKind): CommandRun | null {
  const { own, others } = lastRuns(state, kind);
  const all = own === null ? others : [own, ...others];
  return all.every(({ outcome }) => outcome === 'failed') ? (all[0] ?? null) : null;
}

function lastRun(commands: readonly CommandRun[], kind: CheckKind): LastRun | null {
  for (const run of commands.toReversed()) {
    const outcome = classifyCommand(run).get(kind);
    if (outcome !== undefined) return { ...run, outcome };
  }
  return null;
}
