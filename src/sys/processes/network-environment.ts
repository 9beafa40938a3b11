import type { Environment } from '../env.ts';

/** Files of certificates that the user trusts, by the programs that are told of them so. */
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

/** Where no server can be reached, trying again is only waiting. */
const NO_RETRIES: Environment = {
  npm_config_fetch_retries: '0',
  PIP_RETRIES: '0',
  UV_HTTP_RETRIES: '0',
  CARGO_NET_RETRY: '0',
  YARN_HTTP_RETRY: '0',
};

/**
 * What of the user's own environment a command needs to reach servers as the user does: certificates, and
 * proxies without a password. Without a network: what keeps package managers from trying again.
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
