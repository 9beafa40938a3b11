import { kindsOf } from './check-kinds.ts';
import type { ClaimFacts, ClaimRun } from './facts.ts';
import { looksOnly } from './possible.ts';
import { programName, segmentsOf, type Segment } from './shell-lines.ts';

/** Programs whose first words say what they do; of others their name does. */
const TOLD_WHAT =
  /^(?:npm|pnpm|yarn|bun|deno|cargo|go|git|gh|docker|podman|docker-compose|make|gmake|just|task|mix|rails|rake|dotnet|kubectl|helm|terraform|tofu|composer|mvnw?|gradlew?|sbt|swift|flutter|dart|prisma|bundle|poetry|uv|pip3?|brew|apt|apt-get|systemctl|cmake|bazel|nx|turbo|hatch|pdm|alembic|flask|artisan|manage\.py|lerna|vite|next|vitest|playwright|cypress|golangci-lint|ruff|husky|changeset|stack|cabal|lein|zig|supabase|firebase|wrangler|vercel|aws|gcloud|az)$/;

/** The program of a command and what it is told to do; options, and words that name something, are left out. */
function whatItDoes({ words }: Segment): readonly string[] {
  const [first = '', ...rest] = words;
  const program = programName(first);
  if (program === 'python' || program === 'python3') {
    const module = rest.indexOf('-m');
    if (module !== -1) return whatItDoes({ words: rest.slice(module + 1), targets: [], joint: '' });
    return [
      program,
      ...rest
        .filter((word) => word.endsWith('.py'))
        .map(programName)
        .slice(0, 1),
    ];
  }
  const own: string[] = [];
  if (TOLD_WHAT.test(program)) {
    for (const word of rest) {
      if (word === '--') break;
      if (word.startsWith('-')) continue;
      if (!/^[a-z][\w-]*(?::[\w:-]+)*$/i.test(word)) break;
      own.push(word);
      if (own.length === (/^(?:run|exec)$/.test(own[0] ?? '') || program === 'npm' ? 2 : 1)) break;
    }
  }
  return [program, ...own].filter((word) => word !== 'run' && word !== 'exec');
}

/** Whether a segment that ran is the one that is named. */
function isSame(named: Segment, ran: Segment): boolean {
  const words = new Set(ran.words.flatMap((word) => [word, programName(word)]));
  return whatItDoes(named).every(
    (word) => words.has(word) || ALIASES.get(word)?.some((each) => words.has(each)) === true,
  );
}

const ALIASES: ReadonlyMap<string, readonly string[]> = new Map([
  ['install', ['i', 'add', 'ci']],
  ['i', ['install', 'add']],
  ['add', ['install', 'i']],
  ['uninstall', ['remove', 'rm']],
  ['python', ['python3']],
  ['python3', ['python']],
  ['gradlew', ['gradle']],
  ['gradle', ['gradlew']],
  ['mvn', ['mvnw']],
  ['test', ['t', 'tst']],
  ['pip', ['pip3']],
]);

/** What tools of the task do as well. */
const BY_TOOLS = new Set(
  `cat head tail less ls ll tree find fd grep egrep rg ag sed awk wc stat file cd pwd echo printf cp mv rm rmdir mkdir
   touch test which sort uniq cut diff jq yq bat tee ln curl wget basename dirname realpath du`.split(
    /\s+/,
  ),
);

/** Whether the receipt may hold a command that an answer names: it, or what checks the same. */
export function mayHaveRun(command: string, facts: ClaimFacts): boolean {
  const ran = facts.runs.flat().flatMap((run) => segmentsOf(run.command));
  return segmentsOf(command).every((named) => {
    const program = programName(named.words[0] ?? '');
    if (program === '' || BY_TOOLS.has(program)) return facts.tools.size > 0;
    return ran.some((each) => isSame(named, each) || mayStandFor(each, named));
  });
}

/** A script or task runner may have run what is named; a tool of another name has not. */
function mayStandFor(ran: Segment, named: Segment): boolean {
  const did = kindsOf(ran);
  const says = kindsOf(named);
  const program = programName(named.words[0] ?? '');
  const other = programName(ran.words[0] ?? '');
  if (did.isOpen)
    return program !== other && !/^(?:-n|--check|--syntax-check)$/.test(ran.words[1] ?? '');
  const primary = says.kinds.has('test') ? ['test' as const] : [...says.kinds];
  return primary.some((kind) => did.kinds.has(kind)) && !(isTool(program) && isTool(other));
}

/** A check by itself, not one that runs others. */
function isTool(program: string): boolean {
  return !TOLD_WHAT.test(program) && kindsOf({ words: [program] }).kinds.size > 0;
}

/** Whether the last run of a command that an answer names ended badly, as far as its exit code can tell. */
export function hasFailed(command: string, { runs }: ClaimFacts): boolean {
  const segments = segmentsOf(command);
  const named = segments.at(-1);
  if (named === undefined || looksOnly(named)) return false;
  let failed = false;
  for (const group of runs) {
    const last = group.findLast((run) =>
      segmentsOf(run.command).some((each) => isSame(named, each)),
    );
    if (last === undefined) continue;
    if (!endedBadly(last, named)) return false;
    failed = true;
  }
  return failed;
}

function endedBadly({ command, exitCode }: ClaimRun, named: Segment): boolean {
  if (exitCode === 0 || exitCode === 'unknown') return false;
  const segments = segmentsOf(command);
  const at = segments.findLastIndex((each) => isSame(named, each));
  const behind = segments.slice(at + 1);
  return behind.length === 0
    ? segments[at]?.joint !== '||'
    : exitCode === 'killed' && behind.every(({ joint }) => joint === '&&');
}
