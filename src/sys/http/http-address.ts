/** The address on which the server listens. */
export interface HttpAddress {
  /** A host name or an IP address, without brackets. */
  readonly host: string;
  /** 0 for a free port. */
  readonly port: number;
}

const LOOPBACK = '127.0.0.1';
const MAX_PORT = 65_535;
/** The addresses of IPv4 that belong to the machine itself. A name such as `127.example.org` may belong to any machine. */
const LOOPBACK_IPV4 = /^127(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/;
const FORM = /^(?:(?:\[(?<six>[0-9a-fA-F:.]+)\]|(?<name>[\w.-]+)):)?(?<digits>\d{1,5})$/;

/**
 * Parses `[HOST:]PORT`, in which an IPv6 address stands in brackets. Returns null if the text has another form.
 *
 * @returns with the host 127.0.0.1 if the text names none
 */
export function parseHttpAddress(text: string): HttpAddress | null {
  const { six, name, digits } = FORM.exec(text)?.groups ?? {};
  const port = Number(digits);
  if (digits === undefined || port > MAX_PORT || (six !== undefined && !isIpv6(six))) return null;
  return { host: six ?? name ?? LOOPBACK, port };
}

/** Writes a host as a URL has it. */
export function toUrlHost(host: string): string {
  return isIpv6(host) ? `[${host}]` : host;
}

/** Checks whether only programs of this machine reach an address. */
export function isLoopback({ host }: HttpAddress): boolean {
  return LOOPBACK_IPV4.test(host) || host === '::1' || host.toLowerCase() === 'localhost';
}

/** Checks an address without `node:net`, because the command line reads this module at each start of a command. */
function isIpv6(text: string): boolean {
  return text.includes(':') && URL.canParse(`http://[${text}]/`);
}
