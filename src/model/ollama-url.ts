import { isIP } from 'node:net';
import { withoutQuotes } from '../base/text.ts';
import { parseBaseUrl } from './base-url.ts';
import { OLLAMA_PORT } from './defaults.ts';
import { beforeOllamaApi, hasVersion } from './known-paths.ts';

/**
 * `OLLAMA_HOST` in any of its spellings (host, host:port, :port, URL) as a URL. It is the server's
 * setting too, where `0.0.0.0` means every address: for a client that is this machine.
 */
export function ollamaUrl(host: string): URL {
  const text = withoutQuotes(host.trim());
  const withScheme = /^[a-z]+:\/\//i.test(text) ? text : `http://${bracketed(text)}`;
  const hostless = withScheme.replace(/^(https?:\/\/):/i, '$1127.0.0.1:');
  const { url } = parseBaseUrl(hostless, 'OLLAMA_HOST');
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = '127.0.0.1';
  const names = /^[a-z]+:\/\/(\[[^\]]*\]|[^/:]*):\d+/i.test(hostless);
  // With a scheme Ollama takes the scheme's own port.
  if (!names && withScheme !== text) url.port = OLLAMA_PORT;
  return ollamaApi(url);
}

/** Ollama's OpenAI-compatible API, which stands beside its own one under `/api`. */
export function ollamaApi(url: URL): URL {
  const given = url.pathname.replace(/\/$/, '');
  const path = beforeOllamaApi(given) ?? given;
  url.pathname = hasVersion(path) ? path : `${path}/v1`;
  return url;
}

function bracketed(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}
