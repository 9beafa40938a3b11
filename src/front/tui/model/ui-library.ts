import type { Muster } from '../../../api/index.ts';

/** What the UI needs of the library. */
export type UiMuster = Pick<
  Muster,
  | 'agents'
  | 'answer'
  | 'background'
  | 'contextOf'
  | 'enclose'
  | 'interrupt'
  | 'listFiles'
  | 'lookAtImage'
  | 'planRewind'
  | 'rewind'
  | 'setModel'
  | 'typed'
  | 'cwd'
  | 'keyBindings'
  | 'mainModel'
  | 'mode'
  | 'models'
  | 'offlineByDefault'
  | 'resume'
  | 'resumeBelow'
  | 'rules'
  | 'sandboxState'
  | 'send'
  | 'setMode'
  | 'start'
  | 'stopTask'
  | 'store'
  | 'watchSignals'
>;
