import type { AgentDefinition } from '../../src/protocol/agent.ts';
import type {
  McpConfinement,
  PermissionMode,
  Rights,
  RuleSet,
} from '../../src/protocol/permission.ts';
import type { ToolKind } from '../../src/protocol/tool.ts';
import type { ResolvedCall, CallPath } from '../../src/policy/call.ts';
import { isInside } from '../../src/base/path-inside.ts';
import type { DecisionContext } from '../../src/policy/decision-input.ts';
import { parseRules } from '../../src/policy/rules/rules.ts';
import { parseShellLine } from '../../src/policy/shell/parse-line.ts';

export const ROOT = '/srv/project';
export const HOME = '/home/someone';

export const CONTEXT: DecisionContext = {
  home: HOME,
  stateDirectories: [`${HOME}/.config/muster`],
  shellParser: parseShellLine,
  isSandboxed: true,
};

export interface RuleTexts {
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
}

/** Rules from flags; a mistake in one fails the test. */
export function rules({ allow = [], ask = [], deny = [] }: RuleTexts): RuleSet {
  const from = (texts: readonly string[], flag: string) =>
    texts.map((text) => ({ text, source: { kind: 'flag' as const, where: flag } }));
  const parsed = parseRules({
    allow: from(allow, '--allow'),
    ask: from(ask, '--ask'),
    deny: from(deny, '--deny'),
  });
  if (parsed.problems.length > 0) throw new Error(parsed.problems[0]?.message);
  return parsed.rules;
}

export function rights(mode: PermissionMode = 'default', texts: RuleTexts = {}): Rights {
  return {
    mode,
    rules: rules(texts),
    disallowedTools: [],
    roots: [ROOT],
    network: false,
    depth: 0,
    maxDepth: 2,
  };
}

/** A path below the root when relative; a link when `real` is given. */
export function path(asked: string, real = asked): CallPath {
  const absolute = (text: string): string => (text.startsWith('/') ? text : `${ROOT}/${text}`);
  return {
    asked: absolute(asked),
    real: absolute(real),
    insideRoots: isInside(ROOT, absolute(real)),
  };
}

interface CallParts {
  readonly reads?: readonly CallPath[];
  readonly writes?: readonly CallPath[];
  readonly commands?: readonly string[];
  readonly hosts?: readonly string[];
  readonly alsoNeeds?: readonly string[];
  readonly onlyFetches?: true;
  readonly server?: McpConfinement;
  readonly agent?: string;
  readonly agentWords?: readonly string[];
  readonly skill?: string;
  readonly variables?: readonly string[];
}

export function call(tool: string, kind: ToolKind, parts: CallParts = {}): ResolvedCall {
  const access = { reads: [], writes: [], commands: [], hosts: [], ...parts };
  return { tool, kind, access, inToolSet: true };
}

export const bash = (line: string): ResolvedCall => call('Bash', 'execute', { commands: [line] });
/** A command that was proved to change nothing, and to read these paths. */
export const proved = (line: string, ...reads: readonly string[]): ResolvedCall => ({
  ...bash(line),
  proof: { proven: true, reads: reads.map((each) => path(each)) },
});
/** One that was not, and why. */
export const unproved = (line: string, reason: string): ResolvedCall => ({
  ...bash(line),
  proof: { proven: false, reason },
});
export const read = (file: string): ResolvedCall => call('Read', 'read', { reads: [path(file)] });
export const edit = (file: string): ResolvedCall =>
  call('Edit', 'edit', { reads: [path(file)], writes: [path(file)] });
export const write = (file: string): ResolvedCall =>
  call('Write', 'edit', { writes: [path(file)] });
export const fetchFrom = (host: string): ResolvedCall =>
  call('WebFetch', 'network', { hosts: [host], onlyFetches: true });
export const spawn = (agent: string, ...agentWords: readonly string[]): ResolvedCall =>
  call('Task', 'delegate', { agent, agentWords });

export function agent(parts: Partial<AgentDefinition> = {}): AgentDefinition {
  return {
    name: 'worker',
    aliases: [],
    description: '',
    prompt: '',
    tools: { mode: 'all', names: [] },
    disallowedTools: [],
    permissionMode: null,
    mode: null,
    limits: {},
    origin: { scope: 'session', vendor: 'muster', path: 'session:worker' },
    extra: {},
    problems: [],
    ...parts,
  };
}
