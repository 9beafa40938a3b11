import type { Session } from '../../../api/index.ts';

/** The part of the library that pages, the start screen and the status line show. Reading it has no effect. */
export type LibraryInfo = Pick<
  Session,
  | 'agents'
  | 'configFiles'
  | 'cwd'
  | 'mainEffort'
  | 'mainModel'
  | 'mode'
  | 'models'
  | 'offlineByDefault'
  | 'rules'
  | 'servers'
  | 'serverContent'
  | 'slashCommands'
  | 'templates'
  | 'terminal'
>;

/** The part of the library that the terminal UI uses. */
export type UiLibrary = LibraryInfo &
  Pick<
    Session,
    | 'answer'
    | 'background'
    | 'changeRule'
    | 'contextFiles'
    | 'contextOf'
    | 'contextWindow'
    | 'enclose'
    | 'findModel'
    | 'hintUses'
    | 'interrupt'
    | 'keyBindings'
    | 'listAwaitedServers'
    | 'listFiles'
    | 'listHooks'
    | 'listModels'
    | 'listRules'
    | 'lookAtImage'
    | 'planRewind'
    | 'prepareServers'
    | 'refreshSlashCommands'
    | 'resume'
    | 'resumeBelow'
    | 'rewind'
    | 'sandboxState'
    | 'send'
    | 'setMode'
    | 'setModel'
    | 'start'
    | 'stopShell'
    | 'stopTask'
    | 'store'
    | 'typed'
    | 'watchSignals'
    | 'withdraw'
    | 'workspaces'
  >;
