import type { JsonObject } from '../base/json.ts';
import type { AgentProblem, AgentScope } from './agent.ts';

/** A slash command: a prompt in a file, which a person sends by typing `/NAME ARGUMENTS`. */
export interface SlashCommandDefinition {
  /**
   * The name of the file without its ending, after the names of the directories that it lies in: `git:commit`. In a
   * plugin, the name of the plugin comes first. Names are compared without case.
   */
  readonly name: string;
  /** A description for people. Empty if the file has none. */
  readonly description: string;
  /** A description of the arguments for people, as in the file. */
  readonly argumentHint?: string;
  /** The text with its placeholders, with `\n` line ends. */
  readonly body: string;
  /** The product whose rules for placeholders the text follows. */
  readonly syntax: CommandSyntax;
  /** The absolute path of the file, in which links are not resolved. */
  readonly path: string;
  readonly scope: AgentScope;
  /** The product in whose directory the file lies, or the name of the plugin. */
  readonly source: string;
  /** The directory of the plugin, which the text can name; absent if the command belongs to none. */
  readonly pluginDirectory?: string;
  /** The names of the arguments in order. The text can refer to the arguments by these names. */
  readonly argumentNames: readonly string[];
  /** The rules for Bash in `allowed-tools`. They allow only the shell parts of this command. */
  readonly shellRules: readonly string[];
  /**
   * The rules for other tools in `allowed-tools`. They allow calls until the next message of the person. Only commands of the
   * user have any.
   */
  readonly turnRules: readonly string[];
  /** The name of the model that answers until the next message of the person. Default: that of the conversation. */
  readonly model?: string;
  /** Set if the command runs as a task of its own. Default: the agent of the conversation follows the text. */
  readonly context?: 'fork';
  /** The agent type of that task. */
  readonly agent?: string;
  /** One sentence for each field of the file that a person may rely on but that has no effect. */
  readonly withoutEffect: readonly string[];
  /** The fields of the file that were not read, unchanged. */
  readonly extra: JsonObject;
  readonly problems: readonly AgentProblem[];
}

/** The products with rules of their own for the placeholders in a command. */
export type CommandSyntax = 'claude' | 'opencode' | 'gemini' | 'codex';
