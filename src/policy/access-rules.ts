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

const NOTHING = { reads: [], writes: [], commands: [], hosts: [] } as const;

/**
 * Lists a call of a program's tool, or a step of a remote agent, as calls of the built-in tools that touch the same files,
 * commands and hosts.
 */
export function listAsBuiltinCalls(call: ResolvedCall): readonly ResolvedCall[] {
  const { access } = call;
  if (access.isInProcess !== true && access.isClaimed !== true) return [];
  return TOOLS_OF_ACCESS.flatMap(([tool, field]) => {
    if (access[field].length === 0) return [];
    const only = { ...access, ...NOTHING, [field]: access[field] };
    return [{ ...call, tool, access: only }];
  });
}
