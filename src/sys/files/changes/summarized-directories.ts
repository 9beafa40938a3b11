/** A directory whose files are not listed one by one, because they are copies from elsewhere or caches. */
interface SummarizedDirectory {
  readonly name: string;
  /** A file beside the directory, of which at least one must exist. Default: the name alone is sufficient. */
  readonly besides?: readonly string[];
  /** True if it holds results and copies, and nothing that the code of the project uses. */
  readonly isCache?: true;
}

/** The directories of dependencies and caches. */
const SUMMARIZED_DIRECTORIES: readonly SummarizedDirectory[] = [
  { name: 'node_modules' },
  { name: 'bower_components' },
  { name: '.venv' },
  { name: 'venv', besides: ['pyproject.toml', 'requirements.txt', 'setup.py'] },
  { name: '__pycache__', isCache: true },
  { name: '.tox', isCache: true },
  { name: '.nox', isCache: true },
  { name: '.mypy_cache', isCache: true },
  { name: '.pytest_cache', isCache: true },
  { name: '.ruff_cache', isCache: true },
  { name: '.gradle', isCache: true },
  { name: '.next', besides: ['package.json'] },
  { name: '.turbo', isCache: true },
  { name: '.parcel-cache', isCache: true },
  { name: 'target', besides: ['Cargo.toml', 'pom.xml'] },
];

const BY_NAME = new Map(SUMMARIZED_DIRECTORIES.map((each) => [each.name, each]));

/** Tells whether the files of a directory are not listed one by one. `exists` looks for a name beside the directory. */
export function isSummarizedDirectory(name: string, exists: (name: string) => boolean): boolean {
  const found = BY_NAME.get(name);
  return found !== undefined && (found.besides?.some(exists) ?? true);
}

/** Tells whether a directory whose files are not listed holds nothing that the code of a project uses. */
export function isCacheDirectory(name: string): boolean {
  return BY_NAME.get(name)?.isCache === true;
}
