/** Directories whose files are all secret, as trailing parts of a directory path. */
const SECRET_DIRECTORIES = [
  ['.ssh'],
  ['.gnupg'],
  ['.aws'],
  ['.azure'],
  ['.config', 'gh'],
  ['.config', 'gcloud'],
  ['.password-store'],
];

/** Files that are secret only in that directory. */
const SECRET_FILES_IN = [
  ['.docker', 'config.json'],
  ['.kube', 'config'],
  ['etc', 'shadow'],
  ['etc', 'gshadow'],
];

const SECRET_NAMES = new Set([
  '.dockercfg',
  '.git-credentials',
  '.htpasswd',
  '.netrc',
  '.pgpass',
  '.pypirc',
  '.vault-token',
  '_netrc',
  'credentials.json',
  'id_dsa',
  'id_ecdsa',
  'id_ed25519',
  'id_rsa',
]);

const SECRET_PATTERNS = [
  /^\.envrc$/,
  /^\.env(\..*)?(?<!\.(example|sample|template|dist|defaults?|schema))$/,
  /\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk)$/,
  /^client_secret.*\.json$/,
  /^service[-_]account.*\.json$/,
];

/**
 * Whether a file by its path (absolute, asked or real: test both) usually holds credentials: even
 * reading it is asked of a person, and searches leave its contents out. Case is ignored, because
 * file systems may.
 */
export function isSecretPath(path: string): boolean {
  const parts = path
    .toLowerCase()
    .split('/')
    .filter((part) => part !== '');
  const name = parts.at(-1);
  if (name === undefined) return false;
  if (SECRET_NAMES.has(name) || SECRET_PATTERNS.some((pattern) => pattern.test(name))) return true;
  if (SECRET_FILES_IN.some((file) => endsWith(parts, file))) return true;
  return SECRET_DIRECTORIES.some((directory) => holds(parts, directory));
}

function endsWith(parts: readonly string[], tail: readonly string[]): boolean {
  return tail.every((part, index) => parts[parts.length - tail.length + index] === part);
}

function holds(parts: readonly string[], run: readonly string[]): boolean {
  return parts.some((_, start) => run.every((part, index) => parts[start + index] === part));
}
