import type { ResolvedAccess, ResolvedCall } from './call.ts';

/**
 * The built-in tools whose deny and ask rules also hold for a tool of a program that touches the same things. Otherwise
 * `Read(secret.txt)` in the deny rules would not keep such a tool from reading the file.
 */
const TOOLS_OF_ACCESS = [
  ['Read', 'reads'],
  ['Edit', 'writes'],
  ['Write', 'writes'],
  ['Bash', 'commands'],
  ['WebFetch', 'hosts'],
  ['HttpRequest', 'hosts'],
] as const satisfies readonly (readonly [string, keyof ResolvedAccess])[];

/** Lists a call of a program's tool as calls of the built-in tools that touch the same files, commands and hosts. */
export function listAsBuiltinCalls(call: ResolvedCall): readonly ResolvedCall[] {
  const { access } = call;
  if (access.isInProcess !== true) return [];
  const nothing = { reads: [], writes: [], commands: [], hosts: [] };
  return TOOLS_OF_ACCESS.filter(([, field]) => access[field].length > 0).map(([tool, field]) => ({
    ...call,
    tool,
    access: { ...access, ...nothing, [field]: access[field] },
  }));
}
