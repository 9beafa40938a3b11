import { isKnownProgram } from './check-kinds.ts';
import { programName } from './shell-lines.ts';

/**
 * Commands that are named outside of code: programs that are no English word, and those that are one
 * only with a word behind them.
 */
export const PLAIN_COMMAND =
  /(?<![\w/.‹`-])(?:(?:npm|pnpm|yarn|bun) (?:run |-\w+ )?(?:test|build|lint|typecheck|type-check|tsc|check|ci|format|install|verify|e2e|start|dev|coverage|run)(?:[:-][\w:-]+)?|npx \w[\w-]*(?: --?[\w-]+| run| test| check)*|(?:cargo|go|dotnet|mvn|mix|swift|deno|flutter|dart|sbt|stack|cabal|rails|bazel|composer|gradle|\.\/gradlew) (?:nextest run|test|build|check|clippy|vet|fmt|verify|package|install|analyze)(?: \.\/\.\.\.| -\w+)?|make (?:test|tests|build|lint|check|all|ci|install)|python3? -m (?:pytest|unittest|mypy|ruff|flake8|compileall)(?: [\w./-]+)?|(?:pytest|mypy|pyright|eslint|oxlint|ruff check|ruff|flake8|pylint|vitest run|vitest|rspec|tox|phpunit|golangci-lint run|golangci-lint|rubocop|tsc --noEmit|tsc|shellcheck|phpstan)(?: --?[\w-]+)*|git (?:status|diff|log|commit|push|add|rebase|merge|checkout|stash|pull|fetch|tag|bisect)|docker(?:-compose| compose)? (?:build|up|run)|terraform (?:plan|apply|validate|init|fmt)|kubectl (?:apply|get|rollout)|bundle exec \w+|poetry run \w+|uv run \w+)(?![\w›-])/g;

/** The command that a piece of code is; null: it is none, as far as one can tell. */
export function commandNamed(code: string): string | null {
  const text = code.replace(/^[$%>]\s+/, '').trim();
  if (text === '' || text.length > 300 || /^[A-Z]/.test(text) || /[;{]\s*$|=>|\(\)|^\//.test(text))
    return null;
  const words = text.split(/\s+/).filter((word) => !/^[A-Z_]+=/.test(word));
  const [first = '', second] = words;
  if (/^\.{1,2}\/[\w./-]+$/.test(first))
    return second === undefined && !/\.\w+$|gradlew|mvnw/.test(first) ? null : text;
  if (/[(){}=]/.test(first)) return null;
  if (!isKnownProgram(first)) return isCommandLine(text) ? text : null;
  return second === undefined && !ALONE.has(programName(first)) ? null : text;
}

/** Programs whose bare name in code is a command, and no word for something else. */
const ALONE = new Set(
  `pytest tsc mypy pyright eslint oxlint ruff flake8 pylint vitest jest mocha rspec tox nox phpunit golangci-lint rubocop
   shellcheck phpstan make ctest prettier black biome stylelint clippy gofmt rustfmt pre-commit isort staticcheck`.split(
    /\s+/,
  ),
);

/** A program that nobody knows, told to do something: `busted spec`, `vendor/bin/phpunit`. */
function isCommandLine(text: string): boolean {
  if (/^(?:vendor\/bin|node_modules\/\.bin|bin|script|scripts)\/[\w.-]+$/.test(text))
    return !/\.\w+$/.test(text);
  return (
    /^(?:[a-z][a-z\d_-]+|(?:[\w.-]+\/)+[\w.-]+)(?: (?:--?[a-z][\w-]*(?:[= ][\w./:@-]+)?|[a-z][\w-]*:[\w:-]+|\.|(?:[\w@.*-]*\/)?[\w@*-]+\.[a-z]{1,5}|[\w@.*-]+\/[\w@.*/-]*))+$/.test(
      text,
    ) && !KEYWORD.test(text)
  );
}

const KEYWORD =
  /^(?:const|let|var|import|export|from|def|class|return|public|private|static|if|else|for|while|function|async|await|type|interface|select|insert|update|delete|create|alter|drop|order|group|where|with|fn|use|mod|pub|struct|enum|new|throw|null|void|int|string|and|or|not|include|require|extends|implements|package)\b/;
