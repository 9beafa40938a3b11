import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { WebFetch } from '../../sys/http/web-fetch.ts';
import { A2aError, formatServerText, toFailureKind } from './failure.ts';

/** The place to which the messages for an agent are sent, as its card says. */
export interface A2aEndpoint {
  readonly url: URL;
  readonly binding: (typeof BINDINGS)[number];
  /** The version of the protocol, such as `1.0`. */
  readonly version: string;
  /** The tenant that requests name; empty if there is none. */
  readonly tenant: string;
  /** True if the server sends updates as a stream. Otherwise it is asked again and again. */
  readonly isStreaming: boolean;
}

/** The bindings that are supported. gRPC is not. */
const BINDINGS = ['JSONRPC', 'HTTP+JSON'] as const;
const MAX_INTERFACES = 50;
const SUPPORTED_VERSION = /^(?:0\.[23]|1)(?:\.|$)/;

/** The header by which a client says which version of the protocol it knows. */
const VERSION_HEADER = { 'A2A-Version': '1.0' };

/**
 * Reads the card at a URL. `fetchCard` sends no credentials; `fetchWithAuth` sends them, and is used if the server refuses
 * to show the card without.
 */
export async function fetchCard(
  url: URL,
  [fetchCard, fetchWithAuth]: readonly [WebFetch, WebFetch],
  signal: AbortSignal,
): Promise<unknown> {
  const request = { headers: VERSION_HEADER, signal };
  let response = await fetchCard(url, request);
  if (response.status === 401 || response.status === 403)
    response = await fetchWithAuth(url, request);
  const text = await response.text();
  if (!response.ok)
    throw new A2aError(
      toFailureKind(response.status),
      `the server answered ${response.status} instead of the agent card at ${showUrl(url)}: ${formatServerText(text)}`,
    );
  try {
    return JSON.parse(text);
  } catch (thrown) {
    const message = `the agent card at ${showUrl(url)} is not JSON: ${formatServerText(text)}`;
    throw new A2aError('malformed', message, { cause: thrown });
  }
}

/**
 * Chooses the first endpoint of a card that is supported and may be used. The card of a server may name only that server
 * and the origins in `allowedOrigins`, because a card must not send credentials and work elsewhere. `cardUrl`: null if the
 * card stands in the definition, which the user trusts. Throws an A2aError that says why there is none.
 */
export function chooseEndpoint(
  card: unknown,
  cardUrl: URL | null,
  allowedOrigins: readonly string[],
): A2aEndpoint {
  if (!isJsonObject(card)) throw new A2aError('malformed', 'the agent card is not an object');
  const { capabilities } = card;
  const listed = listInterfaces(card).slice(0, MAX_INTERFACES);
  const reasons: string[] = [];
  for (const item of listed) {
    const found = isJsonObject(item) ? readInterface(item, cardUrl) : 'it is not an object';
    if (typeof found === 'string') {
      reasons.push(found);
      continue;
    }
    const { origin } = found.url;
    if (cardUrl !== null && origin !== cardUrl.origin && !allowedOrigins.includes(origin)) {
      reasons.push(
        `${origin} is not the origin of the card; add it to \`remote.a2a_origins\` in your configuration if you trust it`,
      );
      continue;
    }
    const streams = isJsonObject(capabilities) && capabilities['streaming'] === true;
    // The stream parser of the SDK for HTTP+JSON prints the garbage that a server sends, so it is not used.
    return { ...found, isStreaming: streams && found.binding === 'JSONRPC' };
  }
  const cause = reasons.length === 0 ? 'it names none' : reasons.join('; ');
  throw new A2aError(
    'bad_request',
    `the agent card has no usable interface: ${formatServerText(cause)}`,
  );
}

/** Lists the interfaces of a card of version 1 or 0.3 in the form of version 1. */
function listInterfaces(card: JsonObject): readonly JsonValue[] {
  const { supportedInterfaces, additionalInterfaces, protocolVersion, url } = card;
  if (Array.isArray(supportedInterfaces)) return supportedInterfaces;
  if (typeof url !== 'string') return [];
  const first = { url, transport: card['preferredTransport'] ?? BINDINGS[0] };
  const others: readonly JsonValue[] = Array.isArray(additionalInterfaces)
    ? additionalInterfaces
    : [];
  return [first, ...others].map((item) => {
    if (!isJsonObject(item)) return item;
    const { url, transport = null } = item;
    const version = protocolVersion ?? '0.3';
    return { url: url ?? null, protocolBinding: transport, protocolVersion: version };
  });
}

/** Reads an interface. Returns the reason why it can't be used as a text. */
function readInterface(
  item: JsonObject,
  cardUrl: URL | null,
): Omit<A2aEndpoint, 'isStreaming'> | string {
  const [address, named, version] = [
    textOf(item['url']),
    textOf(item['protocolBinding']),
    textOf(item['protocolVersion']) || '1.0',
  ];
  const binding = BINDINGS.find((each) => each === named.toUpperCase());
  if (binding === undefined) return `the binding ${formatServerText(named)} is not supported`;
  if (!SUPPORTED_VERSION.test(version))
    return `version ${formatServerText(version)} is not supported`;
  const url = address === '' ? null : URL.parse(address, cardUrl?.href);
  if (url === null || !isPlainWebUrl(url))
    return `${formatServerText(address)} is not a URL that begins with http:// or https://`;
  // For the SDK, version 0.2 would be newer than 0.3.
  const known = version.startsWith('0.') ? '0.3' : version;
  return { url, binding, version: known, tenant: textOf(item['tenant']) };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Tells whether a URL is one of the web and holds no password. */
function isPlainWebUrl({ protocol, username, password }: URL): boolean {
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

/** Formats a URL without its query, which may hold a key. */
export function showUrl({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}
