import type { Environment } from '../env.ts';

/** Variables that name certificates that the user trusts, in the programs that read them. */
const CERTIFICATES = [
  'SSL_CERT_FILE', // OpenSSL
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
  'npm_config_cafile',
  'CURL_CA_BUNDLE',
  'GIT_SSL_CAINFO',
  'REQUESTS_CA_BUNDLE', // Python
  'PIP_CERT',
  'CARGO_HTTP_CAINFO',
  'DENO_CERT',
  'AWS_CA_BUNDLE',
  'NIX_SSL_CERT_FILE',
];
const PROXIES = ['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'].flatMap((name) => [
  name,
  name.toUpperCase(),
]);

/** Without a network, retries of package managers only waste time. */
const NO_RETRIES: Environment = {
  npm_config_fetch_retries: '0',
  PIP_RETRIES: '0',
  UV_HTTP_RETRIES: '0',
  CARGO_NET_RETRY: '0',
  YARN_HTTP_RETRY: '0',
};

/**
 * Selects the variables of the user's environment that a command needs to reach servers as the user does:
 * certificates, and proxies without a password. Without a network it returns settings that keep package
 * managers from retrying.
 */
export function buildNetworkEnvironment(own: Environment, network: boolean): Environment {
  if (!network) return NO_RETRIES;
  const passed = [...CERTIFICATES, ...PROXIES].flatMap((name) => {
    const value = own[name];
    return value === undefined || (PROXIES.includes(name) && value.includes('@'))
      ? []
      : [[name, value] as const];
  });
  return Object.fromEntries(passed);
}
