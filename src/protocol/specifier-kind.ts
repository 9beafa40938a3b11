type SpecifierKind = 'command' | 'path' | 'domain' | 'agent' | 'skill';

const KINDS: ReadonlyMap<string, SpecifierKind> = new Map<string, SpecifierKind>([
  ['Bash', 'command'],
  ['Read', 'path'],
  ['Write', 'path'],
  ['Edit', 'path'],
  ['MultiEdit', 'path'],
  ['LS', 'path'],
  ['Glob', 'path'],
  ['Grep', 'path'],
  ['FileInfo', 'path'],
  ['FindPlaces', 'path'],
  ['MoveFile', 'path'],
  ['DeleteFile', 'path'],
  ['WebFetch', 'domain'],
  ['HttpRequest', 'domain'],
  ['Task', 'agent'],
  ['Skill', 'skill'],
]);

/** The kind of text in the brackets of a tool's rules; undefined if its rules take none. */
export function specifierKind(tool: string): SpecifierKind | undefined {
  return KINDS.get(tool);
}
