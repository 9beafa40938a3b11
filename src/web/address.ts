import ipaddr from 'ipaddr.js';

/** A kind of IP addresses. Only `public` ones are reached without a rule that names them. */
export type AddressKind =
  | 'public'
  | 'loopback'
  | 'private'
  | 'link-local'
  /** The services of cloud providers that give a machine its credentials. */
  | 'metadata'
  | 'unspecified'
  | 'multicast'
  /** IPv6 addresses that a network translates into IPv4 addresses (NAT64, 6to4, Teredo). */
  | 'translated'
  /** Networks that are for documentation, tests or later use. */
  | 'reserved'
  /** A text that is not an IP address. */
  | 'invalid';

/** The kinds that the ranges of ipaddr.js have. All other ranges are `reserved`. */
const KINDS: Readonly<Record<string, AddressKind>> = {
  unicast: 'public',
  loopback: 'loopback',
  private: 'private',
  uniqueLocal: 'private',
  carrierGradeNat: 'private',
  deprecatedSiteLocal: 'private',
  linkLocal: 'link-local',
  unspecified: 'unspecified',
  multicast: 'multicast',
  broadcast: 'multicast',
  rfc6052: 'translated',
  rfc6145: 'translated',
  '6to4': 'translated',
  teredo: 'translated',
};

/** Metadata services of AWS, Azure, Google, Oracle, Alibaba and others. One of Azure's addresses would be public. */
const METADATA_ADDRESSES: ReadonlySet<string> = new Set([
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
]);

/** An IPv4 address in the last part of an IPv6 address. ipaddr.js reads it as the IPv4 address. */
const COMPATIBLE_ADDRESS = /^::\d+\.\d+\.\d+\.\d+$/;
const FIRST_PUBLIC_PART = 0x2000;
const LAST_PUBLIC_PART = 0x3fff;

/** Returns the kind of an IP address. An IPv6 address that maps an IPv4 address is judged as that one. */
export function classifyAddress(text: string): AddressKind {
  const address = parseAddress(text);
  if (address === null) return 'invalid';
  if (METADATA_ADDRESSES.has(formatAddress(address))) return 'metadata';
  const kind = KINDS[address.range()] ?? 'reserved';
  return kind === 'public' && !isAssigned(address) ? 'reserved' : kind;
}

/** Tells whether public addresses are assigned from the part of the address space to which an address belongs. */
function isAssigned(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (!(address instanceof ipaddr.IPv6)) return true;
  const [first = 0] = address.parts;
  return first >= FIRST_PUBLIC_PART && first <= LAST_PUBLIC_PART;
}

/** Returns an IP address in its shortest form, and a mapped IPv4 address as that address. Returns other text unchanged. */
export function normalizeAddress(text: string): string {
  const address = parseAddress(text);
  return address === null ? text : formatAddress(address);
}

function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  const [plain = ''] = withoutBrackets(text).split('%');
  const hex = COMPATIBLE_ADDRESS.test(plain) ? URL.parse(`http://[${plain}]`)?.hostname : plain;
  const address = withoutBrackets(hex ?? '');
  // Other forms, such as `0x7f.1`, are not addresses but hosts, of which the parser of URLs makes addresses.
  const isAddress = ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address);
  return isAddress ? ipaddr.process(address) : null;
}

function formatAddress(address: ipaddr.IPv4 | ipaddr.IPv6): string {
  return address.toString();
}

/** Returns the host of a URL without the brackets of an IPv6 address. */
export function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}

/** Tells whether a host is `localhost` or a name below it, which always mean this machine (RFC 6761). */
export function isLocalhost(host: string): boolean {
  return /(?:^|\.)localhost$/i.test(host);
}
