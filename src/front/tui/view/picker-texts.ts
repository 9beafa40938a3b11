import type { PickerKind } from '../model/picker.ts';

/** A column of the details of a list. The last columns are left out first if there is no room. */
export interface Column {
  readonly width: number;
  readonly isNumber?: true;
  /** Set if the column is shown only while items of elsewhere are. */
  readonly isWideOnly?: true;
}

interface PickerText {
  readonly title: string;
  /** Says that the list is empty. */
  readonly none: string;
  readonly take: string;
  readonly columns: readonly Column[];
  /** Says what the key that stops does; absent if it does nothing. */
  readonly stop?: string;
  /** The names of the two states of the toggle key; absent if there is no toggle. */
  readonly scopes?: readonly [narrow: string, wide: string];
}

/** The texts and columns of each list. */
export const PICKER_TEXTS: Readonly<Record<PickerKind, PickerText>> = {
  conversations: {
    title: 'Resume a conversation',
    none: 'no conversations yet',
    take: 'resumes',
    columns: [
      { width: 14, isNumber: true },
      { width: 8, isNumber: true },
      { width: 9, isNumber: true },
      { width: 30, isWideOnly: true },
    ],
    scopes: ['this directory', 'all directories'],
  },
  models: {
    title: 'Choose a model',
    none: 'no provider is configured: /login',
    take: 'chooses',
    columns: [{ width: 6, isNumber: true }, { width: 13, isNumber: true }, { width: 20 }],
  },
  efforts: { title: 'How much shall it think?', none: '', take: 'chooses', columns: [] },
  agents: {
    title: 'Agents',
    none: 'no agents',
    take: 'names it in the message',
    columns: [{ width: 9 }],
  },
  tasks: {
    title: 'Tasks of this conversation',
    none: 'no tasks yet',
    take: 'opens',
    columns: [{ width: 8 }, { width: 7, isNumber: true }, { width: 8, isNumber: true }],
  },
  messages: {
    title: 'Go back to before a message',
    none: 'no messages yet',
    take: 'goes on',
    columns: [{ width: 14, isNumber: true }],
  },
  'undo-scope': { title: 'What shall go back?', none: '', take: 'shows what it does', columns: [] },
  history: {
    title: 'Messages that you typed',
    none: 'nothing was typed here yet',
    take: 'edits it',
    columns: [],
    scopes: ['this directory', 'all directories'],
  },
  rules: {
    title: 'Permissions',
    none: 'no rules',
    take: 'offers what can be done',
    columns: [{ width: 24 }],
  },
  'rule-actions': {
    title: 'What shall happen to the rule?',
    none: '',
    take: 'does it',
    columns: [],
  },
  shells: {
    title: 'Background shells',
    none: 'no shells yet',
    take: 'shows its output',
    stop: 'stops it',
    columns: [{ width: 7, isNumber: true }, { width: 12 }, { width: 24 }],
  },
  memory: {
    title: 'What agents read',
    none: 'no files',
    take: 'opens it in your editor',
    columns: [{ width: 9, isNumber: true }, { width: 15 }],
  },
  modes: { title: 'Permission mode', none: '', take: 'chooses', columns: [] },
  settings: {
    title: 'Settings',
    none: 'no settings',
    take: 'changes it',
    columns: [{ width: 20 }, { width: 16 }],
  },
  'setting-values': { title: 'Choose a value', none: '', take: 'saves it', columns: [] },
  servers: {
    title: 'MCP servers',
    none: 'no servers: muster mcp add NAME -- COMMAND adds one',
    take: 'opens',
    columns: [{ width: 13 }, { width: 9, isNumber: true }, { width: 14 }],
  },
  server: {
    title: 'MCP server',
    none: 'it is gone',
    take: 'does it, or shows the tool',
    columns: [{ width: 40 }],
  },
  themes: { title: 'Choose the colors', none: '', take: 'uses them', columns: [] },
};
