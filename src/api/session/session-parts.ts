import type { StateOptions } from '../../trust/state-directory.ts';
import type { HookRunner } from '../../hooks/hook-runner.ts';
import type { ConfigFile } from '../../config/files.ts';
import type { ModelChooser } from '../../engine/task/deps.ts';
import type { SessionWorkspacePort } from '../workspaces/session-workspaces.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Inbox } from '../../engine/task/inbox.ts';
import { type ModelSetup } from '../../model/selection/choose-model.ts';
import { type RootGrant } from '../../policy/attenuate.ts';
import type { TerminalSettings } from '../../protocol/terminal-settings.ts';
import type { HintUses } from './hint-uses.ts';
import type { CommandChangesSource } from './command-changes.ts';
import type { ScreenMark } from './screen-mark.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import type { TaskStore } from '../../store/task-store.ts';
import type { Sandbox } from '../../sys/sandbox/sandbox.ts';
import type { KeyBinding } from '../../config/key-bindings.ts';
import type { ControlChannel } from './control-channel.ts';
import type { EventRouter } from './event-router.ts';
import type { TreeRerun } from '../../replay/rerun-tree.ts';
import type { PromptHistory } from './prompt-history.ts';
import type { SessionRemoteAgents } from '../remote/open-remote-agents.ts';
import type { SessionServers } from '../mcp/open-servers.ts';
import type { SessionLanguages } from '../setup/languages.ts';
import type { WorkspacesToOpen } from '../workspaces/open-later.ts';
import type { SessionLogFile } from '../setup/log-file.ts';
import type { Retention } from '../setup/retention.ts';
import type { SessionTelemetry } from '../setup/telemetry.ts';
import type { ModelListDeps } from './session-model-lists.ts';
import type { SignalRouter } from './event-router.ts';
import type { DiscoveryResult } from '../../agents/loader/discovery-result.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { SlashCommandDefinition } from '../../protocol/slash-command.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';
import type { TemplateDefinition } from '../../protocol/template.ts';

/** The parts of a session. */
export interface SessionParts {
  readonly engine: Engine;
  readonly workspaces: SessionWorkspacePort;
  /** Set if new conversations work in worktrees. */
  readonly worktree: { readonly name: string | null } | null;
  readonly inbox: Inbox;
  /** True if a flag, an option or the configuration determines how questions are treated. */
  readonly hasExplicitOnAsk: boolean;
  readonly store: TaskStore;
  /** Reads the tree of a task from the store of the program. Does nothing if the program has none. */
  readonly load: (id: string, options: { readonly takesOver: boolean }) => Promise<void>;
  /** Finds what commands change. */
  readonly changes: CommandChangesSource;
  readonly router: EventRouter;
  readonly signals: SignalRouter;
  readonly sandbox: Pick<Sandbox, 'state'>;
  /** The settings and providers from which `models` chooses. */
  readonly modelSetup: ModelSetup;
  readonly models: ModelChooser;
  readonly modelListing: ModelListDeps;
  readonly agents: { readonly current: DiscoveryResult<AgentDefinition> };
  readonly skills: {
    readonly current: DiscoveryResult<SkillDefinition>;
    refresh(): Promise<void>;
  };
  readonly slashCommands: {
    readonly current: DiscoveryResult<SlashCommandDefinition>;
    refresh(): Promise<void>;
  };
  /** The templates that the tool RunTemplate can run. */
  readonly toolTemplates: readonly TemplateDefinition[];
  /** Loads the templates that can be used now. */
  readonly templates: () => Promise<DiscoveryResult<TemplateDefinition>>;
  readonly grant: RootGrant;
  /**
   * The control channel, through which other processes reach the tasks. Null if the session keeps its tasks only in
   * memory, where other processes cannot see them.
   */
  readonly channel: ControlChannel | null;
  readonly servers: SessionServers;
  readonly languages: SessionLanguages;
  readonly remoteAgents: SessionRemoteAgents;
  /** The options that locate the state directory. */
  readonly state: StateOptions;
  /** The hooks of the session. */
  readonly hooks: HookRunner;
  /** The export of traces and metrics; null if there is none. */
  readonly telemetry: SessionTelemetry | null;
  /** The log file; null if there is none. */
  readonly logFile: SessionLogFile | null;
  readonly retention: Retention;
  readonly storedWorkspaces: WorkspacesToOpen;
  /** The turn limit of the main agent, or null if there is none. */
  readonly maxTurns: number | null;
  /** The permission mode that a flag requests, or null. */
  readonly modeFlag: PermissionMode | null;
  readonly verbose: boolean;
  readonly hasUntrustedFiles: boolean;
  readonly promptHistory: PromptHistory;
  readonly keyBindings: ReadonlyMap<string, KeyBinding>;
  readonly terminal: TerminalSettings;
  readonly configFiles: readonly ConfigFile[];
  readonly hintUses: HintUses;
  readonly screenMark: ScreenMark;
  /** Reruns a task and its descendants from their logs alone. */
  readonly rerun: (id: string) => Promise<TreeRerun>;
  readonly onNotice: (line: string) => void;
}
