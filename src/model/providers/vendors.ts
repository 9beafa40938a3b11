/** A vendor whose API and models are known. */
export type Vendor = 'anthropic' | 'openai' | 'google';

/** The vendors, in the order in which their keys are looked for. */
export const VENDOR_NAMES: readonly Vendor[] = ['anthropic', 'openai', 'google'];

/** Returns true if a name is that of a known vendor. */
export function isVendor(name: string | null): name is Vendor {
  return VENDOR_NAMES.some((vendor) => vendor === name);
}

export const OLLAMA_PORT = '11434';
export const LM_STUDIO_PORT = '1234';

/** Finds the vendor whose server a base URL belongs to; null: it belongs to none of them. */
export function findVendorByUrl(url: URL): Vendor | null {
  if (url.hostname === 'api.openai.com') return 'openai';
  if (url.hostname === 'api.anthropic.com' || /\/anthropic(\/v1)?$/.test(url.pathname)) {
    return 'anthropic';
  }
  if (url.hostname === 'generativelanguage.googleapis.com') {
    return url.pathname.endsWith('/openai') ? null : 'google';
  }
  return null;
}

/** Returns true if a base URL belongs to Google itself: the Gemini API or Vertex AI. */
export function isGoogleHost(baseUrl: string): boolean {
  return /(?:^|[.-])(?:generativelanguage|aiplatform)\.googleapis\.com$/.test(
    new URL(baseUrl).hostname,
  );
}

/**
 * Returns true for loopback, private and link-local addresses and for names of a local network. A model on such a
 * host may be slow to start.
 */
export function isPrivateHost(baseUrl: string): boolean {
  const { hostname } = new URL(baseUrl);
  // `URL` normalizes the host: brackets mean IPv6, and four numbers IPv4. `net.isIP` is not used, because its first
  // call takes 5 ms.
  if (hostname.startsWith('[')) return /^\[(::1\]|f[cd]|fe[89ab]|::ffff:)/i.test(hostname);
  if (!/^\d+(\.\d+){3}$/.test(hostname)) {
    // A name without a dot, such as the name of a container, exists only in a local network.
    return !hostname.includes('.') || /\.(localhost|local|internal|lan)$/.test(hostname);
  }
  return /^(127|10|192\.168|169\.254|172\.(1[6-9]|2\d|3[01]))\./.test(hostname);
}
