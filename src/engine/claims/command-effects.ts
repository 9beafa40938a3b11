import { checksOf, isManifold, isPlainCode, looksOnly } from './check-kinds.ts';
import { baseName, type Segment } from './shell-lines.ts';

/**
 * Which files a command may have changed. `artifacts`: what tests and builds leave; `manifests`: that, and
 * what an installer writes; a list: these words, and what lies below them.
 */
export type Effect = 'none' | 'artifacts' | 'manifests' | 'anything' | readonly string[];

/** Programs that write only where their words say. */
const POINTED =
  /^(?:touch|rm|rmdir|mkdir|cp|mv|tee|chmod|chown|ln|truncate|unlink|curl|wget|sort)$/;
const GIT_QUIET = /^(?:add|branch|commit|push|tag|config|init|symbolic-ref)$/;
/** What they change is elsewhere. */
const REMOTE =
  /^(?:kubectl|gh|glab|docker|docker-compose|podman|psql|mysql|mongosh|redis-cli|systemctl|ping)$/;
const INSTALLER = /^(?:pip\d?|apt|apt-get|brew|apk|dnf|yum|nvm|rustup|pyenv|gem)$/;
const MANAGER = /^(?:npm|pnpm|yarn|bun|cargo|go|poetry|pdm|uv|bundle|composer|dotnet|pod|mix)$/;
/** What they change is elsewhere, but for what they format, import or generate. */
const PROVISIONER = /^(?:terraform|tofu)$/;
const QUIET =
  /^(?:list|ls|show|info|view|status|tool|env|doc|why|outdated|audit|tree|search|describe|logs|ps|top|inspect)$/;
const MANAGES =
  /^(?:install|i|ci|add|remove|rm|uninstall|update|upgrade|get|mod|lock|sync|require|tidy|audit|outdated|ls|list|why|deps\.get|restore)$/;
/** Makes a check write what it checks. */
const WRITES =
  /^(?:--fix.*|--write|-w|-u|-i|--update.*|--apply|-a|-A|--autocorrect.*|--in-place|--out.*|-o|--snapshot-update|--emit.*)$|fix|format$|fmt|generate/;
const CHECKS_ONLY = /^--?(?:check|l|list-different|diff)$/;
/** Formatters write unless they are told to check. */
const FORMATTER = /^(?:black|isort|rustfmt|clang-format|yapf|prettier|gofmt|goimports)$/;

const ARTIFACT =
  /(?:^|\/)(?:dist|build|out|target|\.terraform|coverage|htmlcov|node_modules|\.next|\.nuxt|__snapshots__|\.cache|artifacts|_?site|__pycache__|playwright-report|test-results)\/|\.(?:snap|lock(?:\.hcl)?|log|map|d\.ts|o|a|so|dll|wasm|tsbuildinfo|lcov|out|pyc|jar|class|exe|tgz|whl|cov|db|sqlite|pdf)$|(?:^|\/)(?:coverage|report|results?)(?:[-_.][^/]*)?$/i;
const MANIFEST =
  /(?:^|\/)(?:package(?:-lock)?\.json|go\.(?:mod|sum)|Cargo\.toml|pyproject\.toml|requirements[^/]*\.txt|Pipfile|Gemfile|composer\.json|mix\.exs|pnpm-workspace\.yaml|[^/]*\.csproj|Podfile|\.gitignore|tsconfig\.json)$/;

export function effectOf(segment: Segment): Effect {
  const { words, targets } = segment;
  if (words.some((word) => /`|\$\(/.test(word))) return 'anything';
  const effect = looksOnly({ ...segment, targets: [] }) ? 'none' : ofProgram(segment);
  if (targets.length === 0 || effect === 'anything') return effect;
  if (typeof effect === 'string') return effect === 'none' ? named(targets) : 'anything';
  return named([...effect, ...targets]);
}

function ofProgram(segment: Segment): Effect {
  const [first = '', ...args] = segment.words;
  const program = baseName(first);
  if (program === '') return 'none';
  // What it hands on is not known.
  if (program === 'xargs') return 'anything';
  if (POINTED.test(program)) return named(args);
  if (program === 'sed' || program === 'perl')
    return named(args.filter((word) => !/^s(\W).*\1/.test(word)));
  if (program === 'git') return ofGit(args);
  if (INSTALLER.test(program)) return 'manifests';
  if (isManifold(program) && QUIET.test(args[0] ?? '')) return 'none';
  if (PROVISIONER.test(program))
    return args.some((word) => /fmt|import|generate|from-module/.test(word))
      ? 'anything'
      : 'manifests';
  if (MANAGER.test(program) && MANAGES.test(args[0] ?? '')) return 'manifests';
  // Code that stands in the line itself changes what it names.
  if (isPlainCode(segment)) return named(args, { isCode: true });
  const { kinds, isOpen } = checksOf(segment);
  if (!isOpen && kinds.size === 0) return REMOTE.test(program) ? 'none' : 'anything';
  if (isOpen && kinds.size === 0) return 'anything';
  const isWriting = FORMATTER.test(program) || args.some((word) => WRITES.test(word));
  return isWriting && !args.some((word) => CHECKS_ONLY.test(word)) ? 'anything' : 'artifacts';
}

function ofGit(args: readonly string[]): Effect {
  const words = args.filter((word, at) => !word.startsWith('-') && args[at - 1] !== '-C');
  const verb = words[0] ?? '';
  if (verb === 'mv' || verb === 'rm') return named(words.slice(1));
  return GIT_QUIET.test(verb) || args.includes('-b') || args.includes('-c') ? 'none' : 'anything';
}

function named(words: readonly string[], { isCode = false } = {}): Effect {
  const isOpen = !isCode && words.some((word) => /[$`*?{[]|^\.?\.?\/?$/.test(word));
  return isOpen ? 'anything' : words.filter((word) => !word.startsWith('-'));
}

/** Whether a file, as an answer names it, is among what was changed. */
export function covers(effect: Effect, path: string): boolean {
  if (effect === 'anything') return true;
  if (effect === 'none') return false;
  if (effect === 'artifacts') return ARTIFACT.test(path);
  if (effect === 'manifests') return ARTIFACT.test(path) || MANIFEST.test(path);
  return effect.some((word) => word.includes(baseName(path)) || isBelow(path, word));
}

function isBelow(path: string, directory: string): boolean {
  const bare = (each: string) => each.replace(/^[./]+|\/+$/g, '');
  return bare(directory) !== '' && `/${bare(path)}/`.includes(`/${bare(directory)}/`);
}
