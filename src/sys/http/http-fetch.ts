import type { Environment } from '../env.ts';
import { DirectClient } from './direct-client.ts';
import type { ProxyClient } from './proxy-client.ts';
import { ProxiedRequestError, type HttpFetch, type HttpResponse } from './http-types.ts';

/**
 * Creates the HTTP client for model providers. It uses the proxies and certificates that the environment names
 * (`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY` in both cases, `SSL_CERT_FILE`; `NODE_EXTRA_CA_CERTS`
 * is handled by Node). The global `fetch` is not used because loading it takes 30 ms, half of the time of a start
 * (docs/decisions/0004). The client has no time limit, because a slow local model may need minutes for its first
 * byte. Callers have limits of their own.
 */
export function createHttpFetch(env: Environment): HttpFetch {
  const direct = new DirectClient();
  // Without a proxy in the environment, as is usual, the code for proxies is not loaded.
  const mayBeProxied = Object.keys(env).some((name) => /_proxy$/i.test(name));
  let proxied: Promise<ProxyClient> | null = null;
  let trusted: Promise<void> | null = null;
  return async (address, request = {}, observer) => {
    const url = new URL(address);
    if (url.protocol === 'https:' && env.SSL_CERT_FILE) {
      trusted ??= trustNamedCertificates(env.SSL_CERT_FILE);
      await trusted;
    }
    const proxy = mayBeProxied ? await findProxy(url, env) : null;
    const check = (response: HttpResponse): HttpResponse =>
      request.redirect === 'manual' ? response : rejectRedirect(url, response);
    if (proxy === null) return check(await direct.fetch(url, request, observer));
    proxied ??= import('./proxy-client.ts').then(({ createProxyClient }) => createProxyClient());
    try {
      return check(await (await proxied)(url, proxy, { request, observer }));
    } catch (thrown) {
      if (request.signal?.aborted === true) throw thrown;
      throw new ProxiedRequestError(proxy, thrown);
    }
  };
}

async function trustNamedCertificates(file: string): Promise<void> {
  const { trustCertificates } = await import('./trusted-certificates.ts');
  await trustCertificates(file);
}

async function findProxy(url: URL, env: Environment): Promise<URL | null> {
  const { selectProxy, readProxySettings } = await import('./proxy-settings.ts');
  const settings = readProxySettings(env);
  return settings === null ? null : selectProxy(url, settings);
}

function rejectRedirect(url: URL, response: HttpResponse): HttpResponse {
  const target = response.headers.get('location');
  if (response.status < 300 || response.status >= 400 || target === null) return response;
  void response.body?.cancel();
  // The query may contain a key or a token of a login.
  const address = URL.parse(target, url.href);
  const shown = address === null ? '' : ` to ${address.origin}${address.pathname}`;
  throw new TypeError('fetch failed', { cause: new Error(`unexpected redirect${shown}`) });
}
