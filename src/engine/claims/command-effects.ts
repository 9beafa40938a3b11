import { isNeutral, kindsOf } from './check-kinds.ts';
import { programName, segmentsOf, type Segment } from './shell-lines.ts';

/** Which files a command may have changed. */
type Effect =
  | { readonly kind: 'none' | 'artifacts' | 'manifests' | 'anything' }
  /** These, and what lies below them. */
  | { readonly kind: 'named'; readonly words: readonly string[] };

const NONE: Effect = { kind: 'none' };
const ANYTHING: Effect = { kind: 'anything' };

/** What writes only where its words say. */
const POINTED = new Set(
  'touch rm rmdir mkdir cp mv tee chmod ln install truncate unlink'.split(' '),
);
/** Programs of the table of check kinds that are neutral there, and may write anything. */
const WRITERS = new Set(
  `tar unzip gzip gunzip zip dd open code vim nano psql mysql sqlite3 terraform tofu ansible ansible-playbook helm
   aws gcloud az heroku vercel netlify fly flyctl wrangler svn hg trap`.split(/\s+/),
);
const INSTALLERS = new Set(
  'pip pip3 apt apt-get brew apk dnf yum nvm rustup pyenv rbenv asdf gem'.split(' '),
);
const MANAGERS =
  /^(?:npm|pnpm|yarn|bun|cargo|go|poetry|pdm|uv|bundle|composer|dotnet|pod|mix|gem|npx)$/;
const MANAGES =
  /^(?:install|i|ci|add|remove|rm|uninstall|update|upgrade|get|mod|lock|sync|require|init|tidy|audit|outdated|ls|list|why|deps\.get|restore)$/;
const CREATES = /^(?:create|init|new|exec|dlx|x|generate|g|pkg|version|codemod)$/;
const GIT_QUIET = new Set(
  `status diff log show blame branch tag config add commit push fetch remote rev-parse ls-files ls-tree cat-file
   grep describe shortlog reflog rev-list for-each-ref init name-rev merge-base symbolic-ref --version version help`.split(
    /\s+/,
  ),
);
/** Makes a check write what it checks. */
const WRITING_FLAG =
  /^(?:--fix\S*|--write|-w|-u|-i|--update\S*|--apply|--unsafe-fixes|-a|-A|--autocorrect\S*|--in-place|--output\S*|-o|--out\S*|--snapshot-update|--inline-snapshot\S*|--emit\S*)$/;

/** Where tests, builds and linters leave what they make. */
const ARTIFACT =
  /(?:^|\/)(?:dist|build|out|output|target|coverage|htmlcov|generated|gen|node_modules|\.next|\.nuxt|__snapshots__|snapshots?|\.cache|tmp|temp|reports?|artifacts|results?|bin|obj|lib|public|www|_?site|logs?|__pycache__|[^/]*\.egg-info|playwright-report|test-results|screenshots?|__generated__)\/|\.(?:snap|lock|log|map|d\.ts|o|a|so|dll|wasm|xml|html?|png|pdf|svg|tsbuildinfo|lcov|out|pyc|jar|class|exe|tgz|gz|zip|whl|css|min\.js|sarif|tap|cov|db|sqlite)$|(?:^|\/)(?:coverage|report|results?|output)[^/]*$/i;
const MANIFEST =
  /(?:^|\/)(?:package(?:-lock)?\.json|npm-shrinkwrap\.json|go\.(?:mod|sum)|Cargo\.toml|pyproject\.toml|requirements[^/]*\.txt|Pipfile|Gemfile|composer\.json|mix\.exs|setup\.(?:py|cfg)|deno\.jsonc?|pnpm-workspace\.yaml|\.npmrc|tsconfig\.json|[^/]*\.csproj|Podfile|main\.\w+|lib\.rs|\.gitignore)$/;

/** Whether a command may have changed a file. `path`: as an answer names it. */
export function mayHaveWritten(command: string, path: string): boolean {
  return segmentsOf(command).some(
    (segment) => covers(effectOf(segment), path) || covers(redirected(segment), path),
  );
}

/** Whether a command may have changed any file but what tests and builds leave. */
export function mayHaveWrittenAny(command: string): boolean {
  return segmentsOf(command).some(
    (segment) =>
      segment.targets.length > 0 || !['none', 'artifacts'].includes(effectOf(segment).kind),
  );
}

function redirected({ targets }: Segment): Effect {
  return targets.length === 0 ? NONE : named(targets);
}

function covers(effect: Effect, path: string): boolean {
  switch (effect.kind) {
    case 'none':
      return false;
    case 'anything':
      return true;
    case 'artifacts':
      return ARTIFACT.test(path);
    case 'manifests':
      return ARTIFACT.test(path) || MANIFEST.test(path);
    case 'named':
      return effect.words.some((word) => isNamed(word, path));
    default:
      return effect satisfies never;
  }
}

function isNamed(word: string, path: string): boolean {
  const name = programName(path);
  if (programName(word) === name || word.includes(name)) return true;
  const bare = (each: string) => each.replace(/^(?:\.?\/)+/, '').replace(/\/+$/, '');
  return bare(word) !== '' && `/${bare(path)}/`.includes(`/${bare(word)}/`);
}

function named(words: readonly string[]): Effect {
  const isOpen = words.some((word) => /[$`*?{[]/.test(word) || word === '.' || word === './');
  return isOpen ? ANYTHING : { kind: 'named', words };
}

/** Where some of the words are an expression, and no file. */
function namedLoosely(words: readonly string[]): Effect {
  const files = words.filter(
    (word) => !word.startsWith('-') && !/^(?:s|y)?([/|#,!]).*\1.*\1/.test(word),
  );
  return named(files);
}

function effectOf(segment: Segment): Effect {
  const [first = '', ...args] = segment.words;
  const program = programName(first);
  // What runs within its words is not seen.
  if (segment.words.some((word) => /`|\$\(/.test(word))) return ANYTHING;
  if (program === '') return NONE;
  if (POINTED.has(program)) return named(args.filter((word) => !word.startsWith('-')));
  if (program === 'git') return effectOfGit(args);
  if (program === 'sed' || program === 'yq' || program === 'perl') {
    return args.some((word) => /^-[a-zE]*i|^--in-place/.test(word))
      ? namedLoosely(args.slice(1))
      : NONE;
  }
  if (program === 'find') {
    return args.some((word) => /^-(?:exec|ok|delete|fprint|fls)/.test(word)) ? ANYTHING : NONE;
  }
  if (program === 'sort')
    return args.some((word) => /^-o|^--output/.test(word)) ? named(args) : NONE;
  if (program === 'curl' || program === 'wget') return effectOfFetch(program, args);
  if (program === 'xargs')
    return effectOf({ ...segment, words: args.filter((word) => !word.startsWith('-')) }).kind ===
      'none'
      ? NONE
      : ANYTHING;
  if (INSTALLERS.has(program)) return { kind: 'manifests' };
  if (MANAGERS.test(program) && args.some((word) => MANAGES.test(word)))
    return { kind: 'manifests' };
  if (MANAGERS.test(program) && CREATES.test(args[0] ?? '')) return ANYTHING;
  if (WRITERS.has(program)) return ANYTHING;
  if (isNeutral(program)) return NONE;
  const { kinds, isOpen } = kindsOf(segment);
  if (isOpen) return ANYTHING;
  if (kinds.size === 0) return isQuiet(args) ? NONE : ANYTHING;
  return args.some((word) => WRITING_FLAG.test(word) || /fix|format\b|fmt|generate/.test(word)) &&
    !args.some((word) => /^--?(?:check|l)$|^--list-different$/.test(word))
    ? ANYTHING
    : { kind: 'artifacts' };
}

function isQuiet(args: readonly string[]): boolean {
  return args.length === 1 && /^(?:--version|-v|-V|--help|-h|version|help)$/.test(args[0] ?? '');
}

function effectOfGit(args: readonly string[]): Effect {
  const words = args.filter((_, at) => args[at - 1] !== '-C' && args[at - 1] !== '-c');
  const verb = words.findIndex((word) => !word.startsWith('-') || word === '--version');
  const command = words[verb] ?? '';
  if (GIT_QUIET.has(command)) return NONE;
  const rest = words.slice(verb + 1);
  if (command === 'mv' || command === 'rm')
    return named(rest.filter((word) => !word.startsWith('-')));
  if ((command === 'checkout' || command === 'switch') && /^-[bc]$/.test(rest[0] ?? ''))
    return NONE;
  if (command === 'stash' && /^(?:list|show)$/.test(rest[0] ?? '')) return NONE;
  return ANYTHING;
}

function effectOfFetch(program: string, args: readonly string[]): Effect {
  const writes = args.some((word) => /^-[a-zA-Z]*[oOJ]|^--(?:output|remote-name)/.test(word));
  return writes || program === 'wget' ? named(args) : NONE;
}
