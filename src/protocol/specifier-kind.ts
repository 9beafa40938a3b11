import { listNames } from '../base/text.ts';

type SpecifierKind = 'command' | 'path' | 'domain' | 'agent' | 'skill';

const FILE_TOOLS = listNames(
  'Read Write Edit MultiEdit LS Glob Grep FileInfo FindPlaces MoveFile DeleteFile',
);

const KINDS: ReadonlyMap<string, SpecifierKind> = new Map<string, SpecifierKind>([
  ...FILE_TOOLS.map((tool) => [tool, 'path'] as const),
  ['Bash', 'command'],
  ['WebFetch', 'domain'],
  ['HttpRequest', 'domain'],
  ['Task', 'agent'],
  ['Skill', 'skill'],
]);

/** Returns the kind of text in the brackets of a tool's rules; undefined if its rules take none. */
export function specifierKind(tool: string): SpecifierKind | undefined {
  return KINDS.get(tool);
}
