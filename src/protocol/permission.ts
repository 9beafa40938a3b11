import type { WorkspaceInUse } from './workspace-paths.ts';

/** The permission modes, from the narrowest to the widest. If several modes apply, the narrowest of them is used. */
export const PERMISSION_MODES = ['plan', 'default', 'acceptEdits', 'autonomous'] as const;
/** The permission modes, from the narrowest to the widest. If several modes apply, the narrowest of them is used. */
export type PermissionMode = (typeof PERMISSION_MODES)[number];

/** The origin of a rule, for the reason of a decision. */
export interface RuleSource {
  readonly kind: 'config' | 'flag' | 'env' | 'definition' | 'answer' | 'builtin';
  /** The file with the line, the name of the flag, or the name of the agent. */
  readonly where: string;
}

/** A parsed rule: `Tool` or `Tool(specifier)`. `text`: the rule as the user wrote it. */
export interface PermissionRule {
  /** The rule as the user wrote it. */
  readonly text: string;
  /** The canonical name of the tool. */
  readonly tool: string;
  /** The text in the parentheses. Absent if the rule is for all calls of the tool. */
  readonly specifier?: string;
  /** The origin of the rule. */
  readonly source: RuleSource;
}

/** The permission rules of a task. */
export interface RuleSet {
  /** The rules for calls that run without a question. */
  readonly allow: readonly PermissionRule[];
  /** The rules for calls that are asked about. */
  readonly ask: readonly PermissionRule[];
  /** The rules for calls that never run. */
  readonly deny: readonly PermissionRule[];
}

/** The name of a list of rules: what its rules do. */
export type RuleList = keyof RuleSet;

/** The limits of one definition to certain calls of some tools. They also apply to all tasks below. */
export interface CallLimit {
  /** Canonical names of the limited tools. */
  readonly tools: readonly string[];
  /** The rules for the calls that may run. Every part of such a call must be covered by one of the rules. */
  readonly rules: readonly PermissionRule[];
  /** The limited tools that may also create files that do not exist yet. */
  readonly newFiles: readonly string[];
  /** The tools of the same definition that are not limited. */
  readonly unlimited: readonly string[];
  /** The name of the definition in the reasons of decisions: `agent reviewer`. */
  readonly where: string;
}

/**
 * The rights of a task, as data. They are part of its specification, are narrowed for each child, and are checked for each
 * call.
 */
export interface Rights {
  /** The permission mode. */
  readonly mode: PermissionMode;
  /** The permission rules. */
  readonly rules: RuleSet;
  /** The canonical names of tools that the task must not use, even if a tool list contains them. */
  readonly disallowedTools: readonly string[];
  /** Limits on calls; all of them apply. Default: none. */
  readonly callLimits?: readonly CallLimit[];
  /** The directories in which the task may work, as absolute real paths. The first is the working directory. */
  readonly roots: readonly string[];
  /** The workspace in which the task works. The roots lie in `tree`, which stands for `source`. Default: none. */
  readonly workspace?: WorkspaceInUse;
  /** True if commands in the sandbox can use the network. */
  readonly network: boolean;
  /** Set if calls that need a person's permission are refused. Default: a person is asked. */
  readonly refusesQuestions?: true;
  /** The depth of the task in its tree. The main agent is at 0. */
  readonly depth: number;
  /** The depth at which tasks can delegate no more. */
  readonly maxDepth: number;
}

/** The definition to which a grant is limited. */
export interface GrantedDefinition {
  /** The absolute path of the file, or `builtin:NAME`, or `session:NAME`. */
  readonly path: string;
  /** The SHA-256 of the content in hex; null if any content is accepted, as for files of the user. */
  readonly sha256: string | null;
}

/** A user's permission for one agent to run in a wider mode than the task that delegates to it. */
export interface ModeGrant {
  /** The name of the agent. Compared without case. */
  readonly agent: string;
  /** The widest mode that the agent gets because of the grant. */
  readonly mode: PermissionMode;
  /** The definition to which the grant applies; null: it applies to the user's own definitions with this name. */
  readonly definition: GrantedDefinition | null;
  /** The file, flag or answer in which the user granted the mode. */
  readonly source: RuleSource;
}

/**
 * How an MCP server is confined:
 * - `sandbox`: its process always runs in the sandbox.
 * - `workspace`: its process runs in the sandbox if it was started for a workspace and there is a sandbox.
 * - `remote`: it is reached over HTTP, so nothing on this machine confines it.
 */
export type McpConfinement = 'sandbox' | 'workspace' | 'remote';

/** The access that a call needs. The tool describes it before the call runs, and policy decides only on this description. */
export interface Access {
  /** The absolute paths that the tool would open, in which links are not resolved yet. */
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** Other tools whose rights the call needs, too: a patch that deletes files needs those of DeleteFile. Default: none. */
  readonly alsoNeeds?: readonly string[];
  /** The shell command lines, verbatim. */
  readonly commands: readonly string[];
  /** Command lines that Muster runs to check the work of the call. They need the rights of Bash. Default: none. */
  readonly checks?: readonly string[];
  /** True if the commands continue to run after the end of the call. Default: false. */
  readonly background?: boolean;
  /** The names of the environment variables that the call sets or unsets for later commands. Default: none. */
  readonly variables?: readonly string[];
  /** The names of the hosts that would be contacted. */
  readonly hosts: readonly string[];
  /** True if the requests to these hosts only fetch and should change nothing there. Default: false. */
  readonly onlyFetches?: true;
  /** True if code of a program runs in Muster's own process, so that no sandbox confines it. Default: false. */
  readonly isInProcess?: true;
  /**
   * True if a program says what it accesses, and nothing proves that it is so. The deny and ask rules of Muster's own tools
   * apply to what it says. Default: false.
   */
  readonly isClaimed?: true;
  /** How the MCP server of the tool is confined. Default: nothing confines it. */
  readonly server?: McpConfinement;
  /** The name of the agent type, for the tool Task and for a skill that runs as a task. */
  readonly agent?: string;
  /** Other names of the agent. A deny or ask rule for one of them applies too. */
  readonly agentWords?: readonly string[];
  /** The name of the skill, for the tool Skill. */
  readonly skill?: string;
}

export const NO_ACCESS: Access = { reads: [], writes: [], commands: [], hosts: [] };

/** An agent whose definition requests a wider mode than the agent has. The user could grant this mode. */
export interface ModeToGrant {
  /** The name of the agent. */
  readonly agent: string;
  /** The mode that the definition requests. */
  readonly mode: PermissionMode;
  /**
   * True if the definition belongs to the user, so that a grant in the user's configuration needs only the name of the
   * agent.
   */
  readonly isOwn: boolean;
}

/** The outcome of the decision about a call: it runs, a person is asked, or it is refused. */
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
  /** A hook: it refuses the call, wants it to be asked about, or is one of the user and answers the question. */
  | 'hook'
  /** The answer of a person. */
  | 'answer';

/** The verdict about a call, and its reason. */
export interface Decision {
  /** Whether the call runs, is asked about or is refused. */
  readonly verdict: Verdict;
  /** The step of the decision that gave the verdict. */
  readonly step: DecisionStep;
  /** The reason for the verdict, for people and for the model. */
  readonly reason: string;
  /** The rule that gave the verdict, if a rule did. */
  readonly rule?: PermissionRule;
  /** A rule that would allow the call, if there is such a rule. */
  readonly wouldAllow?: string;
  /** For a compound command: the rules that would together allow it, one for each part that no rule allows yet. */
  readonly wouldAllowParts?: readonly string[];
  /** Set if the call would be allowed in the mode acceptEdits. */
  readonly isAcceptedEdit?: true;
  /** The mode that would allow the call if the user granted it to the agent, if there is such a mode. */
  readonly modeToGrant?: ModeToGrant;
  /**
   * Set if autonomous mode would allow the call, but the machine has no sandbox. `in_container`: the machine seems to be
   * a container, which the user may declare to be the sandbox.
   */
  readonly lacksSandbox?: 'here' | 'in_container';
  /** An alternative that is suggested to the model, if there is one. */
  readonly instead?: string;
  /** The confinement of commands that may run: they can change nothing, or only files in the workspace. */
  readonly confinement?: 'read-only' | 'workspace';
}
