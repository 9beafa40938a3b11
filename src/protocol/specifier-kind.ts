import { FILE_CHANGING_TOOLS, FILE_READING_TOOLS } from './file-tools.ts';

type SpecifierKind = 'command' | 'path' | 'domain' | 'agent' | 'skill';

const KINDS: ReadonlyMap<string, SpecifierKind> = new Map<string, SpecifierKind>([
  ...[...FILE_READING_TOOLS, ...FILE_CHANGING_TOOLS].map((tool) => [tool, 'path'] as const),
  ['Bash', 'command'],
  ['WebFetch', 'domain'],
  ['HttpRequest', 'domain'],
  ['Task', 'agent'],
  ['Skill', 'skill'],
]);

/** Finds the kind of specifier in the rules of a tool; undefined: its rules have no specifier. */
export function findSpecifierKind(tool: string): SpecifierKind | undefined {
  return KINDS.get(tool);
}
