import { errorMessage, UsageError } from '../base/errors.ts';
import type { Environment } from './env.ts';
import { DirectClient } from './http-direct.ts';
import type {
  HttpFetch,
  HttpRequest,
  HttpResponse,
  ProxySettings,
  TrafficObserver,
} from './http-types.ts';

type Client = (
  url: URL,
  request: HttpRequest,
  observer: TrafficObserver | undefined,
) => Promise<HttpResponse>;

/**
 * The network for model providers, over the proxies and certificates that the environment names
 * (`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY` in both cases, `SSL_CERT_FILE`;
 * `NODE_EXTRA_CA_CERTS` is Node's own). Not the global `fetch`: what stands behind it takes 30 ms to
 * load, half of a start (docs/decisions/0004). No time limit here: a slow local model may think for
 * minutes before its first byte, and whoever asks has limits of its own.
 */
export function createHttpFetch(env: Environment): HttpFetch {
  const direct = new DirectClient();
  let proxied: Promise<Client> | null = null;
  let trusted: Promise<void> | null = null;
  return async (address, request = {}, observer) => {
    const url = new URL(address);
    if (url.protocol === 'https:' && env.SSL_CERT_FILE) {
      trusted ??= trustCertificates(env.SSL_CERT_FILE);
      await trusted;
    }
    const proxies = isLoopback(url) ? null : proxySettings(env);
    if (proxies === null) return withoutRedirect(await direct.fetch(url, request, observer));
    proxied ??= import('./http-proxied.ts').then(({ proxyClient }) => proxyClient(proxies));
    return withoutRedirect(await (await proxied)(url, request, observer));
  };
}

function withoutRedirect(response: HttpResponse): HttpResponse {
  const target = response.headers.get('location');
  if (response.status < 300 || response.status >= 400 || target === null) return response;
  void response.body?.cancel();
  throw new TypeError('fetch failed', { cause: new Error('unexpected redirect') });
}

/** The proxies that the environment names, lower case first; null for none. Empty: no proxy. */
export function proxySettings(env: Environment): ProxySettings | null {
  const all = env.all_proxy || env.ALL_PROXY || '';
  const http = env.http_proxy || env.HTTP_PROXY || all;
  const https = env.https_proxy || env.HTTPS_PROXY || all;
  if (http === '' && https === '') return null;
  return { http, https, none: env.no_proxy || env.NO_PROXY || '' };
}

/** Loopback never goes through a proxy: there is no other way to a model on this machine. */
function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

const MOST_CERTIFICATE_BYTES = 16 * 1024 * 1024;

/** Adds the certificates of a PEM file to those that this process trusts. */
async function trustCertificates(file: string): Promise<void> {
  const [tls, { readNamedFile }] = await Promise.all([
    import('node:tls'),
    import('./named-file.ts'),
  ]);
  let pem: string;
  try {
    const bytes = await readNamedFile(file, { maxBytes: MOST_CERTIFICATE_BYTES });
    pem = bytes.toString('latin1');
  } catch (thrown) {
    throw new UsageError(`SSL_CERT_FILE cannot be read: ${errorMessage(thrown)}`, {
      cause: thrown,
    });
  }
  const own = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g);
  if (own === null) throw new UsageError(`SSL_CERT_FILE holds no PEM certificate: ${file}`);
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), ...own]);
}
