import { BlockList, isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { findSpecifierKind } from '../../protocol/specifier-kind.ts';
import { findPathPatternProblem } from './path-pattern.ts';
import { lazy } from '../../base/lazy.ts';

const DOMAIN = lazy(() => /^domain:(?:\*\.)?[\p{L}\p{N}_[\]:-]+(?:\.[\p{L}\p{N}_-]+)*\.?$/u);
/** A network in CIDR form. */
const NETWORK = lazy(() => /^domain:\[?([\da-f.:]+)\]?\/(\d{1,3})$/i);

/**
 * Explains in a sentence what is wrong with a specifier. Returns undefined if it is valid. `*` is valid for every tool.
 */
export function findSpecifierProblem(tool: string, specifier: string): string | undefined {
  if (specifier === '') return 'the brackets are empty; leave them out to mean every call.';
  if (specifier === '*') return undefined;
  switch (findSpecifierKind(tool)) {
    case 'command':
      return /^[\s:*]*$/.test(specifier)
        ? 'it names no command, as in `Bash(npm test)` or `Bash(git log:*)`.'
        : undefined;
    case 'path':
      return findPathPatternProblem(specifier);
    case 'domain':
      return DOMAIN().test(specifier) || readNetwork(specifier) !== undefined
        ? undefined
        : `write \`${tool}(domain:example.com)\`.`;
    case 'agent':
    case 'skill':
      return undefined;
    case undefined:
      return `${tool} takes no specifier; write \`${tool}\` alone.`;
  }
}

/**
 * Tells whether a host is the domain of a `domain:…` specifier or a subdomain of it; with `*.`, only a subdomain. For a
 * network such as `domain:10.0.0.0/8`, tells whether the host is an address in it.
 */
export function matchesDomain(specifier: string, host: string): boolean {
  const network = readNetwork(specifier);
  if (network !== undefined) return isInNetwork(network, host);
  const pattern = specifier.slice('domain:'.length);
  const isSubdomainOnly = pattern.startsWith('*.');
  const domain = normalizeHost(isSubdomainOnly ? pattern.slice(2) : pattern);
  const name = normalizeHost(host);
  // An address has no subdomains: `0.0.1` must not match `127.0.0.1`.
  if (isIP(removeBrackets(name)) !== 0) return removeBrackets(name) === removeBrackets(domain);
  return (!isSubdomainOnly && name === domain) || name.endsWith(`.${domain}`);
}

/** Normalizes a host: lower case, international names in their ASCII form, no dot at the end. */
function normalizeHost(host: string): string {
  return (domainToASCII(host) || host.toLowerCase()).replace(/\.$/, '');
}

/** A range of addresses. */
interface Network {
  readonly address: string;
  /** The number of leading bits that all addresses of the network share. */
  readonly bits: number;
}

/** Reads a specifier that names a network in CIDR form. Returns undefined for any other specifier. */
function readNetwork(specifier: string): Network | undefined {
  const [, address = '', bits = ''] = NETWORK().exec(specifier) ?? [];
  const family = isIP(address);
  const isValid = family !== 0 && Number(bits) <= (family === 4 ? 32 : 128);
  return isValid ? { address, bits: Number(bits) } : undefined;
}

function isInNetwork({ address, bits }: Network, host: string): boolean {
  const bare = removeBrackets(host);
  const family = isIP(bare);
  if (family === 0 || family !== isIP(address)) return false;
  const type = family === 4 ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(address, bits, type);
  return list.check(bare, type);
}

/** Tells whether a host of a URL is an IP address or `localhost`, rather than a name of the public web. */
export function isAddress(host: string): boolean {
  const name = removeBrackets(normalizeHost(host));
  return name === 'localhost' || name.endsWith('.localhost') || isIP(name) !== 0;
}

function removeBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}
