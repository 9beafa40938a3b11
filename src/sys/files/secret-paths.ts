import { listNames } from '../../base/text.ts';
import { foldFileName } from './folded-name.ts';
import { PathParts } from './path-parts.ts';

/** Directories whose files are all secret, wherever they are; most lie below the home directory. */
const SECRET_DIRECTORIES: readonly string[] = [
  ...listNames(
    '.ssh .gnupg .password-store .local/share/keyrings .gnome2/keyrings library/keychains',
  ),
  // Clouds and clusters.
  ...listNames(`
    .aws .azure .oci .aliyun .config/gcloud .config/doctl .config/linode-cli .config/netlify
    .config/.wrangler .local/share/com.vercel.cli .terraform.d .step
  `),
  // Code hosts and password managers.
  ...listNames(`
    .config/gh .config/hub .config/glab-cli .config/github-copilot .config/op .config/sops
    .config/rclone
  `),
  // Browsers, which store sessions.
  ...listNames('.mozilla .config/google-chrome .config/chromium .config/bravesoftware'),
  'library/application support/google/chrome',
  'library/application support/firefox',
  // Wallets.
  ...listNames('.bitcoin .ethereum .electrum .config/solana'),
  // The system.
  ...listNames('etc/sudoers.d etc/ssl/private'),
];

/** Files that are secret only in a certain directory, as partial paths. */
const SECRET_FILES_IN: readonly string[] = listNames(`
  .docker/config.json .config/containers/auth.json .kube/config .gem/credentials
  .cargo/credentials .cargo/credentials.toml .m2/settings.xml .m2/settings-security.xml
  .composer/auth.json .config/composer/auth.json .config/git/credentials
  .claude/.credentials.json .codex/auth.json .gemini/oauth_creds.json
  .local/share/opencode/auth.json .fly/config.yml etc/shadow etc/shadow- etc/gshadow
  etc/gshadow- etc/sudoers etc/krb5.keytab
`);

const SECRET_NAMES: readonly string[] = listNames(`
  .authinfo .authinfo.gpg .bash_history .boto .dev.vars .dockercfg .envrc .git-credentials
  .htpasswd .my.cnf .mylogin.cnf .mysql_history .netrc .node_repl_history .pgpass .psql_history
  .pypirc .python_history .s3cfg .secret .secrets .terraformrc .vault-token .vault_pass
  .vault_password .zsh_history _netrc credentials.json htpasswd local.settings.json mcp-credentials.json
  terraform.tfstate terraform.tfstate.backup wallet.dat
`);

const DIRECTORIES = new PathParts(SECRET_DIRECTORIES);
const FILES = new PathParts([...SECRET_FILES_IN, ...SECRET_NAMES]);

/** `.env` and similar files, except examples, which are meant to be read and copied. */
const ENVIRONMENT_FILE = /^(?:\.env(?:[._-].*)?|.+\.env)$/;
const EXAMPLE = /(?:^|[._-])(?:example|sample|template|tmpl|dist|defaults?|schema)(?:[._-]|$)/;

const SECRET_PATTERNS: readonly RegExp[] = [
  /\.(?:pem|key|p8|p12|pfx|pkcs12|jks|keystore|kdb|kdbx|ppk|keytab|ovpn|keychain|keychain-db|agekey)$/,
  /^id_(?:rsa|dsa|ecdsa|ed25519|xmss)(?:[._-].*)?(?<!\.pub)$/,
  /^ssh_host_.*_key$/,
  /^client_secret.*\.json$/,
  /^service[-_]?account.*\.json$/,
  /^(?:secrets?|credentials?)\.(?:ya?ml|toml|ini|properties|txt)$/,
  /^secrets?\.json$/,
  // A new version of Muster's own file that is being written.
  /^(?:mcp-)?credentials\.json\..+\.new$/,
];

/**
 * Tells whether a file at this path usually contains credentials. The path must be absolute; test both the requested
 * and the real path. A person is asked before such a file is read, and searches skip its content. Names are compared
 * in the way of the most tolerant file system.
 */
export function isSecretPath(path: string): boolean {
  const parts = path
    .split('/')
    .filter((part) => part !== '')
    .map(foldFileName);
  const name = parts.at(-1);
  if (name === undefined) return false;
  if (isEnvironmentFile(name) || SECRET_PATTERNS.some((pattern) => pattern.test(name))) return true;
  if (FILES.endAt(parts, parts.length - 1)) return true;
  return parts.some((_, index) => DIRECTORIES.endAt(parts, index));
}

function isEnvironmentFile(name: string): boolean {
  return ENVIRONMENT_FILE.test(name) && !EXAMPLE.test(name);
}

/**
 * Lists the usual locations of secrets in a home directory and in the system, for uses that cannot test each path
 * with `isSecretPath`.
 */
export function listSecretPaths(home: string): readonly string[] {
  const atHome = [...SECRET_DIRECTORIES, ...SECRET_FILES_IN, ...SECRET_NAMES];
  return [...atHome.map((path) => `${home}/${path}`), ...SECRET_FILES_IN.map((path) => `/${path}`)];
}
