/** The modes, the widest last. If several apply, the first of them in this order is used. */
export const PERMISSION_MODES = ['plan', 'default', 'acceptEdits', 'autonomous'] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number];

/** The origin of a rule, for the reason of a decision. */
export interface RuleSource {
  readonly kind: 'config' | 'flag' | 'env' | 'definition' | 'answer' | 'builtin';
  /** A file with line, a flag's name, an agent's name. */
  readonly where: string;
}

/** A parsed rule, `Tool` or `Tool(specifier)`; `text` is what the user wrote. */
export interface PermissionRule {
  readonly text: string;
  readonly tool: string;
  readonly specifier?: string;
  readonly source: RuleSource;
}

export interface RuleSet {
  readonly allow: readonly PermissionRule[];
  readonly ask: readonly PermissionRule[];
  readonly deny: readonly PermissionRule[];
}

/** Tools of which a definition granted only some calls, which also binds every task below its own. */
export interface CallLimit {
  /** Canonical names of the limited tools. */
  readonly tools: readonly string[];
  /** The calls that may run: those of which some rule covers every part. */
  readonly rules: readonly PermissionRule[];
  /** Limited tools that may also write files that do not exist yet. */
  readonly newFiles: readonly string[];
  /** Tools of the same definition that it does not limit. */
  readonly unlimited: readonly string[];
  /** The definition, as a reason names it: `agent reviewer`. */
  readonly where: string;
}

/**
 * The rights of a task, as data. They are fixed in its specification, narrowed for each child, and checked for
 * each call.
 */
export interface Rights {
  readonly mode: PermissionMode;
  readonly rules: RuleSet;
  /** Canonical names that this task or an ancestor must not use, whatever a list says. */
  readonly disallowedTools: readonly string[];
  /** Limits on calls; all of them apply. Default: none. */
  readonly callLimits?: readonly CallLimit[];
  /** Absolute real paths. The first is the working directory. */
  readonly roots: readonly string[];
  /** True if commands in the sandbox can use the network. */
  readonly network: boolean;
  /** Set if calls that need a person's permission are refused. Default: a person is asked. */
  readonly refusesQuestions?: true;
  readonly depth: number;
  readonly maxDepth: number;
}

/** A definition that a grant is bound to. */
export interface GrantedDefinition {
  /** Absolute path of its file, or `builtin:NAME`, or `session:NAME`. */
  readonly path: string;
  /** SHA-256 (hex) of its content; null if any content is accepted, as for the user's own files. */
  readonly sha256: string | null;
}

/** A user's permission for one agent to run in a wider mode than the task that delegates to it. */
export interface ModeGrant {
  /** The name of the agent. Compared without case. */
  readonly agent: string;
  /** The widest mode that the agent gets by this grant. */
  readonly mode: PermissionMode;
  /** The definition that it applies to; null for the user's own definitions of that name. */
  readonly definition: GrantedDefinition | null;
  /** The place where the user granted it. */
  readonly source: RuleSource;
}

/** The access of a call, described by the tool before it runs. Policy decides on this alone. */
export interface Access {
  /** Paths as the tool would open them, absolute, links not yet resolved. */
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** Shell command lines, verbatim. */
  readonly commands: readonly string[];
  /** True if the commands continue after the call. Default: false. */
  readonly background?: boolean;
  /** Names of environment variables that the call sets or unsets for later commands. Default: none. */
  readonly variables?: readonly string[];
  /** Host names that would be contacted. */
  readonly hosts: readonly string[];
  /** The name of the agent type, for Task and for a skill that runs as a task. */
  readonly agent?: string;
  /** Other names of the agent. A deny or ask rule for one of them applies too. */
  readonly agentWords?: readonly string[];
  /** The name of the skill, for Skill. */
  readonly skill?: string;
}

export const NO_ACCESS: Access = { reads: [], writes: [], commands: [], hosts: [] };

/** An agent whose definition asks for a wider mode than it has, which a user could grant. */
export interface ModeToGrant {
  readonly agent: string;
  /** The mode that its definition asks for. */
  readonly mode: PermissionMode;
  /**
   * True if the definition is the user's own, so that its name in the user's configuration suffices for a
   * grant.
   */
  readonly isOwn: boolean;
}

export type Verdict = 'allow' | 'ask' | 'deny';

/** The step of the decision that gave the verdict (docs/permissions.md). */
export type DecisionStep =
  | 'tool_set'
  | 'deny_rule'
  | 'floor'
  | 'ask_rule'
  | 'allow_rule'
  | 'mode'
  | 'tool_default'
  /** A person was asked. */
  | 'answer';

export interface Decision {
  readonly verdict: Verdict;
  readonly step: DecisionStep;
  /** The reason for people and for the model: what decided, and why. */
  readonly reason: string;
  readonly rule?: PermissionRule;
  /** A rule that would allow the call, if there is one. */
  readonly wouldAllow?: string;
  /** A grant of a mode to its agent that would allow the call, if there is one. */
  readonly modeToGrant?: ModeToGrant;
  /**
   * Set if only the lack of a sandbox prevents autonomous mode from allowing the call. On a machine that seems
   * to be a container, the user may declare it to be the sandbox.
   */
  readonly lacksSandbox?: 'here' | 'in_container';
  /** An alternative for the model, if there is one. */
  readonly instead?: string;
  /** For commands that may run: whether they can change nothing, or files in the workspace. */
  readonly confinement?: 'read-only' | 'workspace';
}
