import { domainToASCII } from 'node:url';
import { specifierKind } from '../../protocol/specifier-kind.ts';
import { findPathPatternProblem } from './path-pattern.ts';
import { lazy } from '../../base/lazy.ts';

const DOMAIN = lazy(() => /^domain:(?:\*\.)?[\p{L}\p{N}_[\]:-]+(?:\.[\p{L}\p{N}_-]+)*\.?$/u);

/** What is wrong with a specifier, as a sentence; undefined when it is right. `*` is right anywhere. */
export function findSpecifierProblem(tool: string, specifier: string): string | undefined {
  if (specifier === '') return 'the brackets are empty; leave them out to mean every call.';
  if (specifier === '*') return undefined;
  switch (specifierKind(tool)) {
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

/** Whether a host is the domain of a `domain:…` specifier or below it; with `*.`, only below it. */
export function matchesDomain(specifier: string, host: string): boolean {
  const named = specifier.slice('domain:'.length);
  const onlyBelow = named.startsWith('*.');
  const domain = plainHost(onlyBelow ? named.slice(2) : named);
  const asked = plainHost(host);
  return (!onlyBelow && asked === domain) || asked.endsWith(`.${domain}`);
}

/** As URLs have it: lower case, international names in their ASCII form, no dot at the end. */
function plainHost(host: string): string {
  return (domainToASCII(host) || host.toLowerCase()).replace(/\.$/, '');
}
