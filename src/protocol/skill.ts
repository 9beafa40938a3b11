import type { JsonObject } from '../base/json.ts';
import type { AgentProblem, AgentScope, Effort, LimitedTools } from './agent.ts';

/** A `SKILL.md` with its folder: instructions that are read when they are needed. */
export interface SkillDefinition {
  /** Its folder's, of a plugin `PLUGIN:FOLDER`; unique after shadowing. Compared without case. */
  readonly name: string;
  /** What it does and when to use it: what the model chooses by. Empty where the file says nothing. */
  readonly description: string;
  /** The instructions, with `\n` line ends, trimmed. */
  readonly body: string;
  /** Its folder: absolute, links resolved. Files that the instructions name lie there. */
  readonly directory: string;
  /** Its file as it was found, absolute. */
  readonly path: string;
  readonly scope: AgentScope;
  /** Canonical names that its run as a task is narrowed to; absent: no narrowing. */
  readonly allowedTools?: readonly string[];
  /** The calls to which that list limits some of these tools; absent: to none. */
  readonly limitedTools?: LimitedTools;
  /** Canonical names that its run as a task, and all below it, is denied. */
  readonly disallowedTools: readonly string[];
  /** It runs as a task of its own; absent: whoever calls it follows it. */
  readonly context?: 'fork';
  /** The type of that task. */
  readonly agent?: string;
  /** The model of that task, as written. */
  readonly model?: string;
  readonly effort?: Effort;
  /** Whether the model may call it, and a definition preload it. */
  readonly modelInvocable: boolean;
  /** What arguments it takes, in its own words. */
  readonly argumentHint?: string;
  /** Names of its arguments, in order, by which its instructions refer to them. */
  readonly argumentNames: readonly string[];
  /** Fields that do nothing here, kept as they stood. */
  readonly extra: JsonObject;
  readonly problems: readonly AgentProblem[];
}
