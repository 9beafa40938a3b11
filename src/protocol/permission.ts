/** The modes, widest last: the order is the ladder that attenuation takes the minimum on. */
export const PERMISSION_MODES = ['plan', 'default', 'acceptEdits', 'autonomous'] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number];

/** Where a rule stood, for the reason that a decision gives. */
export interface RuleSource {
  readonly kind: 'config' | 'flag' | 'env' | 'definition' | 'answer' | 'builtin';
  /** A file with line, a flag's name, an agent's name. */
  readonly where: string;
}

/** `Tool` or `Tool(specifier)`, parsed; `text` is what the user wrote. */
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
 * What a task may do, as data: frozen in its specification, narrowed for each child, judged for each
 * call.
 */
export interface Rights {
  readonly mode: PermissionMode;
  readonly rules: RuleSet;
  /** Canonical names that this task or an ancestor must not use, whatever a list says. */
  readonly disallowedTools: readonly string[];
  /** Each of them holds. Absent: none. */
  readonly callLimits?: readonly CallLimit[];
  /** Absolute real paths. The first is the working directory. */
  readonly roots: readonly string[];
  /** Whether commands in the sandbox reach the network. */
  readonly network: boolean;
  /** Set: what would be asked of a person is refused. Absent: it is asked. */
  readonly refusesQuestions?: true;
  readonly depth: number;
  readonly maxDepth: number;
}

/** A definition that a grant is bound to. */
export interface GrantedDefinition {
  /** Absolute path of its file, or `builtin:NAME`, or `session:NAME`. */
  readonly path: string;
  /** SHA-256 (hex) of what it says. Null: whatever it says, as for the user's own files. */
  readonly sha256: string | null;
}

/** A user's permission for one agent to run in a wider mode than the task that delegates to it. */
export interface ModeGrant {
  /** The name of the agent. Compared without case. */
  readonly agent: string;
  /** The widest mode that the agent gets by this grant. */
  readonly mode: PermissionMode;
  /** The one definition that it holds for. Null: the user's own definitions of that name. */
  readonly definition: GrantedDefinition | null;
  /** The place where the user granted it. */
  readonly source: RuleSource;
}

/** What a call would touch, told by the tool itself before it runs; policy judges this alone. */
export interface Access {
  /** Paths as the tool would open them, absolute, links not yet resolved. */
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** Shell command lines, verbatim. */
  readonly commands: readonly string[];
  /** Whether the commands go on after the call. Default false. */
  readonly background?: boolean;
  /** Names of environment variables that the call sets or unsets for later commands. Default: none. */
  readonly variables?: readonly string[];
  /** Host names that would be contacted. */
  readonly hosts: readonly string[];
  /** For Task, and a skill that runs as a task: the agent type, by its name. */
  readonly agent?: string;
  /** What else it is called by: a rule that forbids it or asks by one of these holds, too. */
  readonly agentWords?: readonly string[];
  /** For Skill: its name. */
  readonly skill?: string;
}

export const NO_ACCESS: Access = { reads: [], writes: [], commands: [], hosts: [] };

/** An agent whose definition asks for a wider mode than it has, which a user could grant. */
export interface ModeToGrant {
  readonly agent: string;
  /** The mode that its definition asks for. */
  readonly mode: PermissionMode;
  /** Whether the name alone grants it in the user's configuration: the definition is the user's own. */
  readonly isOwn: boolean;
}

export type Verdict = 'allow' | 'ask' | 'deny';

/** Which step of the decision gave the verdict (docs/permissions.md). */
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
  /** For a person and for the model: what decided, and why. */
  readonly reason: string;
  readonly rule?: PermissionRule;
  /** A rule that would allow the call, where one could. */
  readonly wouldAllow?: string;
  /** The grant of its agent's mode that would allow the call, where one could. */
  readonly modeToGrant?: ModeToGrant;
  /**
   * Set: only the lack of a sandbox keeps autonomous mode from allowing the call. In what seems to be a container
   * the user may say that it is the sandbox.
   */
  readonly lacksSandbox?: 'here' | 'in_container';
  /** What the model may do in place of the call, where there is something. */
  readonly instead?: string;
  /**
   * For commands that run, or may be asked about: whether they can change anything at all, or what lies in
   * the workspace.
   */
  readonly confinement?: 'read-only' | 'workspace';
}
