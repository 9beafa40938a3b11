import type { RuleChange, RuleInForce, TaskRules } from '../../../../api/index.ts';
import { PERMISSION_MODES } from '../../../../protocol/permission.ts';
import type { AppState } from '../../model/app-state.ts';
import { createPicker, setItems, type PickerItem } from '../../model/picker.ts';
import {
  describeChanges,
  listText,
  originText,
  readPermissionsCommand,
  ruleActions,
} from '../../model/rule-actions.ts';
import { rootRow } from '../../model/task-tree.ts';
import { chooseMode } from '../modes.ts';
import { changePicker, openPicker } from '../open-picker.ts';
import {
  hint,
  next,
  setEditorText,
  type UiEffect,
  type Update,
  type UpdateContext,
} from '../step.ts';
import type { UiMessage } from '../message.ts';
import { showPage } from './pages.ts';

const ELSEWHERE = 'rules and the mode can be changed only where the conversation runs';

/** `/permissions`: lists the rules, changes one of them, or sets the mode. */
export function permissions(state: AppState, argument: string): Update {
  const command = readPermissionsCommand(argument);
  const { isWatched } = state.conversation;
  if (command.kind !== 'list' && isWatched) return hint(state, ELSEWHERE);
  switch (command.kind) {
    case 'list':
      return listRules(state);
    case 'mode': {
      const chosen = chooseMode(state, command.mode);
      return { ...chosen, state: { ...chosen.state, hint: `permission mode: ${command.mode}` } };
    }
    case 'add':
      return next(state, changeRules(state, [command.change]));
    case 'remove':
      return next(state, { type: 'remove-rule', list: command.list, rule: command.rule });
    case 'problem':
      return hint(state, command.text);
  }
}

function listRules(state: AppState): Update {
  const effect = { type: 'list-rules', task: state.openTask } as const;
  return state.surface === 'screen'
    ? openPicker(state, createPicker('rules', null), effect)
    : next(state, effect);
}

/** Returns the effect that changes rules and says so. */
function changeRules(state: AppState, changes: readonly RuleChange[]): UiEffect {
  const mode = state.chosenMode ?? rootRow(state.tree)?.mode;
  const allows = changes.some(({ kind, list }) => kind === 'add' && list === 'allow');
  const note = mode === 'plan' && allows ? '; in plan mode it allows no change' : '';
  return { type: 'change-rules', changes, done: `${describeChanges(changes)}${note}` };
}

type RulesMessage = Extract<UiMessage, { type: 'rules-read' | 'new-rules' | 'rules-taken' }>;

/** Handles a message about the rules of the conversation, or of one that has not begun. */
export function receiveRules(
  state: AppState,
  message: RulesMessage,
  context: UpdateContext,
): Update {
  switch (message.type) {
    case 'rules-read':
      return showRules(state, message, context);
    case 'new-rules':
      return next({ ...state, newRules: message.rules });
    case 'rules-taken': {
      const newRules = state.newRules.filter((each) => !message.rules.includes(each));
      return next({ ...state, newRules });
    }
  }
}

/** Shows the rules that were read: in the open list, or as a page in plain lines. */
function showRules(
  state: AppState,
  { rules, problem }: Extract<UiMessage, { type: 'rules-read' }>,
  context: UpdateContext,
): Update {
  const shown: AppState = { ...state, rules };
  if (state.picker?.kind === 'rules') {
    const items = ruleItems(rules, state.conversation);
    return changePicker(shown, (picker) =>
      setItems(picker, items, { isLoading: false, note: problem }),
    );
  }
  if (state.surface === 'screen') return next(shown);
  const lines = rules.rules.map(
    (rule) => `${rule.list.padEnd(5)} ${rule.text}  (${originText(rule)})`,
  );
  const page = {
    title: `Permissions: mode ${rules.mode}`,
    lines: [
      ...(lines.length === 0 ? ['no rules'] : lines),
      'to change them: /permissions allow|ask|deny RULE, /permissions remove RULE',
      'to change the mode: /permissions mode NAME',
    ],
  };
  return showPage(shown, page, context);
}

const ADDITIONS = ['allow', 'ask', 'deny'] as const;

/** The rows of the list: the mode, the rules, and the lines that add a rule. */
function ruleItems(
  { mode, rules }: TaskRules,
  { isWatched }: Pick<AppState['conversation'], 'isWatched'>,
): readonly PickerItem[] {
  const additions = ADDITIONS.map((list) => ({
    id: list,
    sign: '+    ',
    title: `${list} …`,
    cells: ['add a rule'],
    preview: [{ label: '', text: `A new rule for this conversation, which ${listText(list)}.` }],
  }));
  return [
    {
      id: 'mode',
      sign: 'mode ',
      title: mode,
      cells: [],
      preview: [
        {
          label: '',
          text: `The permission mode is ${mode}. It decides about calls without a rule.`,
        },
      ],
    },
    ...rules.map(ruleItem),
    ...(isWatched ? [] : additions),
  ];
}

function ruleItem(rule: RuleInForce, index: number): PickerItem {
  const { list, text } = rule;
  const actions = ruleActions(rule).map(({ title }) => title.toLowerCase());
  return {
    id: String(index),
    sign: list.padEnd(5),
    title: text,
    cells: [shortOrigin(originText(rule))],
    searched: list,
    preview: [
      { label: '', text: `${text} ${listText(list)}.` },
      { label: 'from', text: originText(rule) },
      ...(actions.length === 0 ? [] : [{ label: 'enter', text: actions.join('\n') }]),
    ],
  };
}

const MAX_ORIGIN = 24;

/** Cuts an origin at its beginning, because the end of a path says more. */
function shortOrigin(text: string): string {
  return text.length <= MAX_ORIGIN ? text : `…${text.slice(1 - MAX_ORIGIN)}`;
}

/** Does what the selected row of the list is for. */
export function takeRule(state: AppState, item: PickerItem): Update {
  if (state.conversation.isWatched) return hint(state, ELSEWHERE);
  if (item.id === 'mode') return openPicker(state, createPicker('modes', modeItems(state)));
  const list = ADDITIONS.find((each) => each === item.id);
  if (list !== undefined) return setEditorText(state, `/permissions ${list} `);
  const rule = state.rules?.rules[Number(item.id)];
  if (rule === undefined) return next(state);
  const items = ruleActions(rule).map(({ id, title, help }) => ({
    id,
    title,
    cells: [],
    preview: [{ label: '', text: help }],
  }));
  if (items.length === 0) {
    return hint(state, `this rule is of ${originText(rule)}, and can be changed only there`);
  }
  return openPicker(state, createPicker('rule-actions', items, { subject: item }));
}

function modeItems({ rules }: AppState): readonly PickerItem[] {
  return PERMISSION_MODES.map((mode) => ({
    id: mode,
    title: mode,
    ...(mode === rules?.mode ? { mark: 'now' } : {}),
    cells: [],
    preview: [{ label: '', text: MODE_TEXTS[mode] }],
  }));
}

const MODE_TEXTS = {
  plan: 'Changes nothing: commands must be proved to change nothing, and no rule allows an edit.',
  default: 'Asks about every edit, and about every command that is not proved to change nothing.',
  acceptEdits: 'Edits in the workspace run; commands are asked about as in default mode.',
  autonomous:
    'Edits run, and commands run in the sandbox. Without a sandbox, commands are asked about.',
} as const;

/** Sets the chosen mode. */
export function takeMode(state: AppState, item: PickerItem): Update {
  const mode = PERMISSION_MODES.find((each) => each === item.id);
  return mode === undefined ? next(state) : chooseMode(state, mode);
}

/** Carries out the chosen action, and shows the list again. */
export function takeRuleAction(
  state: AppState,
  subject: PickerItem | null,
  item: PickerItem,
): Update {
  const rule = subject === null ? undefined : state.rules?.rules[Number(subject.id)];
  const action = rule && ruleActions(rule).find(({ id }) => id === item.id);
  if (action === undefined) return next(state);
  const { effect } = action;
  if (effect.kind === 'open') {
    const { path } = effect;
    return next(state, {
      type: 'open-file',
      path,
      done: `changes in ${path} apply after /restart`,
    });
  }
  return openPicker(state, createPicker('rules', null), changeRules(state, effect.changes));
}
