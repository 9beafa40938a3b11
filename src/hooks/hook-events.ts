import { HOOK_EVENTS, type HookEventName } from '../protocol/hook.ts';

/** The meaning of an event of Claude Code's settings in Muster. */
export interface HookEventSupport {
  /** `acts`: hooks run. `no meaning here`: Muster has no such moment. `later`: hooks are not run yet. */
  readonly support: 'acts' | 'no meaning here' | 'later';
  /** One sentence about the moment, or about the reason why hooks do not run. */
  readonly note: string;
}

const ACTS: Readonly<Record<HookEventName, string>> = {
  SessionStart: 'A conversation starts or is resumed.',
  InstructionsLoaded: 'A context file is in the system prompt of a new conversation.',
  UserPromptExpansion:
    'A person sends a slash command or a prompt of an MCP server, before the model gets it.',
  UserPromptSubmit: 'A person sends a message, before the model gets it.',
  PreModelSwitch:
    'The first request to another model is about to be sent, because a person or a command chose it.',
  PostModelSwitch: 'The first request to another model is about to be sent.',
  PreToolUse: 'The model has called a tool, and the permission is not decided yet.',
  PermissionRequest: 'A person is about to be asked whether a call may run.',
  PermissionDenied: 'A call was refused by a rule, a mode, a person or a hook.',
  PostToolUse: 'A call has ended well.',
  PostToolUseFailure: 'A call has failed.',
  PostToolBatch: 'All calls of an answer have ended.',
  Elicitation: 'An MCP server is about to ask a person something.',
  ElicitationResult: 'A person has answered an MCP server, which has not got the answer yet.',
  Notification: 'Muster tells the person something, for example that a question waits.',
  SubagentStart: 'A task starts a child.',
  SubagentStop: 'A child is about to end.',
  Stop: 'The main agent is about to end its work.',
  StopFailure: 'An error has ended the main agent.',
  PreCompact: 'A conversation is about to be compacted.',
  PostCompact: 'A conversation was compacted.',
  SessionEnd: 'A conversation ends.',
};

const LATER: Readonly<Record<string, string>> = {
  ConfigChange: 'Settings are read once, when Muster starts, and nobody watches their files yet.',
  FileChanged: 'Nobody watches files on the disk yet. PostToolUse comes after each call.',
  PreSkillShellCommand: 'Hooks are not asked yet about commands in the text of a skill.',
};

const NO_MEANING: Readonly<Record<string, string>> = {
  Setup: 'Muster has no separate run that sets up a project.',
  TeammateIdle: 'Muster has tasks and their children, and no teams of equal agents.',
  TaskCreated:
    'The event is about a task list that several agents share, which Muster does not have.',
  TaskCompleted:
    'The event is about a task list that several agents share, which Muster does not have.',
  CwdChanged: 'The working directory of a task never changes.',
  WorktreeCreate:
    'Its hooks create the tree of a task themselves, and Muster merges only trees that it has created.',
  WorktreeRemove:
    'Its hooks remove what hooks of WorktreeCreate have created, and would destroy the work of a task.',
  DirectoryAdded: 'The roots of a task are fixed when it starts.',
  MessageDisplay: 'Hooks cannot change what the screen shows.',
};

/** All events of Claude Code's settings and their meaning in Muster, for the documentation and for lists of hooks. */
export const HOOK_EVENT_SUPPORT: ReadonlyMap<string, HookEventSupport> = new Map([
  ...listSupport(ACTS, 'acts'),
  ...listSupport(LATER, 'later'),
  ...listSupport(NO_MEANING, 'no meaning here'),
]);

function listSupport(
  notes: Readonly<Record<string, string>>,
  support: HookEventSupport['support'],
): readonly (readonly [string, HookEventSupport])[] {
  return Object.entries(notes).map(([event, note]) => [event, { support, note }] as const);
}

/** Tells whether hooks run at an event of this name. */
export function isHookEvent(name: string): name is HookEventName {
  return HOOK_EVENTS.some((event) => event === name);
}
