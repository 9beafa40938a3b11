import { domainToASCII } from 'node:url';
import { findSpecifierKind } from '../../protocol/specifier-kind.ts';
import { findPathPatternProblem } from './path-pattern.ts';
import { lazy } from '../../base/lazy.ts';

const DOMAIN = lazy(() => /^domain:(?:\*\.)?[\p{L}\p{N}_[\]:-]+(?:\.[\p{L}\p{N}_-]+)*\.?$/u);

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
      return DOMAIN().test(specifier) ? undefined : `write \`${tool}(domain:example.com)\`.`;
    case 'agent':
    case 'skill':
      return undefined;
    case undefined:
      return `${tool} takes no specifier; write \`${tool}\` alone.`;
  }
}

/** Tells whether a host is the domain of a `domain:…` specifier or a subdomain of it; with `*.`, only a subdomain. */
export function matchesDomain(specifier: string, host: string): boolean {
  const pattern = specifier.slice('domain:'.length);
  const isSubdomainOnly = pattern.startsWith('*.');
  const domain = normalizeHost(isSubdomainOnly ? pattern.slice(2) : pattern);
  const name = normalizeHost(host);
  return (!isSubdomainOnly && name === domain) || name.endsWith(`.${domain}`);
}

/** Normalizes a host: lower case, international names in their ASCII form, no dot at the end. */
function normalizeHost(host: string): string {
  return (domainToASCII(host) || host.toLowerCase()).replace(/\.$/, '');
}
