/** A URL of the web in its normal form, or the reason why a text is not one, as a text that follows the URL. */
export type ParsedWebUrl =
  | { readonly ok: true; readonly url: URL }
  | { readonly ok: false; readonly problem: string };

/** The maximum length of a URL in characters. Many servers accept no longer ones. */
const MAX_URL_LENGTH = 8_192;
const MAX_HOST_LENGTH = 253;
const MAX_LABEL_LENGTH = 63;

/**
 * The ports that no browser connects to (https://fetch.spec.whatwg.org/#port-blocking). A request to a server of mail or
 * chat would be read as commands of its protocol.
 */
const BLOCKED_PORTS: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
  103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465,
  512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993,
  995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668,
  6669, 6679, 6697, 10080,
]);

/**
 * Parses the address of a web page or web service. Every spelling of an address becomes its normal form: `127.1` and
 * `0x7f000001` become `127.0.0.1`, international names become punycode, and a dot at the end of the host is removed.
 */
export function parseWebUrl(text: string): ParsedWebUrl {
  const trimmed = text.trim();
  if (trimmed.length > MAX_URL_LENGTH) return refuse(`is longer than ${MAX_URL_LENGTH} characters`);
  // The parser would remove line ends and tabs, so that the URL would not be the one that a person reads.
  if (/\p{Cc}/u.test(trimmed)) return refuse('contains a control character');
  if (!/^https?:\/\//i.test(trimmed)) return refuse('must begin with https:// or http://');
  const url = URL.parse(trimmed);
  if (url === null) return refuse('is not a valid URL');
  if (url.username !== '' || url.password !== '') {
    return refuse('contains a user name or a password, which are not sent; leave them out');
  }
  const host = url.hostname.replace(/\.$/, '');
  if (!isHost(host)) return refuse(`contains "${host}", which is not a valid host`);
  url.hostname = host;
  if (url.port !== '' && BLOCKED_PORTS.has(Number(url.port))) {
    return refuse(`names port ${url.port}, which belongs to another service than the web`);
  }
  return { ok: true, url };
}

function refuse(problem: string): ParsedWebUrl {
  return { ok: false, problem };
}

function isHost(host: string): boolean {
  if (host.startsWith('[')) return true;
  const labels = host.split('.');
  return (
    host.length <= MAX_HOST_LENGTH &&
    labels.every((label) => label !== '' && label.length <= MAX_LABEL_LENGTH)
  );
}

/** Returns a URL as messages show it: without its query, which may contain a secret, and shortened. */
export function displayWebUrl({ origin, pathname, search }: URL): string {
  const text = `${origin}${pathname}${search === '' ? '' : '?…'}`;
  return text.length <= MAX_SHOWN_LENGTH ? text : `${text.slice(0, MAX_SHOWN_LENGTH)}…`;
}

const MAX_SHOWN_LENGTH = 200;
