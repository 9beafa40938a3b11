import type { Vendor } from './defaults.ts';

/** The protocol in which a provider is spoken to. */
export type Protocol = 'anthropic' | 'openai-responses' | 'openai-chat' | 'google';

/** Returns the vendor whose server a base URL belongs to; null: another one's, or not known. */
export function vendorOf(url: URL): Vendor | null {
  if (url.hostname === 'api.openai.com') return 'openai';
  if (url.hostname === 'api.anthropic.com' || /\/anthropic(\/v1)?$/.test(url.pathname)) {
    return 'anthropic';
  }
  if (url.hostname === 'generativelanguage.googleapis.com') {
    return url.pathname.endsWith('/openai') ? null : 'google';
  }
  return null;
}

/** Whether Google itself answers there: the Gemini API or Vertex AI. */
export function isGoogleHost(baseUrl: string): boolean {
  return /(?:^|[.-])(?:generativelanguage|aiplatform)\.googleapis\.com$/.test(
    new URL(baseUrl).hostname,
  );
}

/** Loopback, private and link-local addresses and names: a model there may be slow to start. */
export function isPrivateHost(baseUrl: string): boolean {
  const { hostname } = new URL(baseUrl);
  // A URL's host is normalised: brackets mean IPv6, four numbers IPv4. `net.isIP` costs 5 ms at
  // its first call.
  if (hostname.startsWith('[')) return /^\[(::1\]|f[cd]|fe[89ab]|::ffff:)/i.test(hostname);
  if (!/^\d+(\.\d+){3}$/.test(hostname)) {
    // Only a local network knows names without a dot, such as those of containers.
    return !hostname.includes('.') || /\.(localhost|local|internal|lan)$/.test(hostname);
  }
  return /^(127|10|192\.168|169\.254|172\.(1[6-9]|2\d|3[01]))\./.test(hostname);
}
