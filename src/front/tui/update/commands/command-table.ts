import type { AppState } from '../../model/app-state.ts';
import { type UpdateContext, hint, next, type UiEffect, type Update } from '../step.ts';
import { redo, undo } from '../rewind.ts';
import { pickAgent, pickModel, pickTask } from '../open-picker.ts';
import { startNewConversation, switchConversation } from './conversations.ts';
import { chooseTheme, copyAnswer, exportConversation } from './screen-commands.ts';
import { THEME_CHOICES } from '../../../../protocol/terminal-settings.ts';
import {
  agentsPage,
  helpPage,
  modelPage,
  permissionsPage,
  showPage,
  taskPage,
  tasksPage,
  usagePage,
  type Page,
  type PageSource,
  type CommandHelp,
} from './pages.ts';
import { sanitizeLine, sanitizeForTerminal } from '../../../../base/terminal-text.ts';
import { collapseWhitespace } from '../../../../base/text.ts';
import type { LibraryInfo } from '../../model/ui-library.ts';

/** A command that is typed after a slash. */
export interface SlashCommand extends CommandHelp {
  /** Set if the command is refused for a watched conversation, which another process runs. */
  readonly needsOwnConversation?: true;
  /** Returns the completions of the argument. */
  readonly completions?: (
    state: AppState,
    library: UpdateContext['library'],
  ) => readonly Completion[];
  readonly run: (state: AppState, argument: string, context: UpdateContext) => Update;
}

/**
 * All slash commands, in the order of the help. To add a command, add a row to this table; the code of a larger command
 * has a file of its own in this folder. `run` is pure: everything that a command does outside of the state is an effect.
 */
export const COMMANDS: readonly SlashCommand[] = [
  {
    name: 'help',
    help: 'commands and keys',
    run: page(({ bindings }) => helpPage(bindings, COMMANDS)),
  },
  {
    name: 'tasks',
    help: 'all tasks of this conversation',
    run: pickOrPage(pickTask, page(tasksPage)),
  },
  {
    name: 'task-status',
    argument: 'ID',
    help: 'one task: what it is, what it does and what it has used',
    completions: taskCompletions,
    run: page(taskPage),
  },
  {
    name: 'agents',
    help: 'the agents that tasks can be delegated to',
    run: pickOrPage(pickAgent, page(agentsPage)),
  },
  {
    name: 'model',
    argument: '[NAME]',
    help: 'choose the model',
    needsOwnConversation: true,
    completions: (_state, library) => modelCompletions(library),
    run: (state, argument, context) =>
      argument === ''
        ? pickOrPage(pickModel, page(modelPage))(state, argument, context)
        : next(state, { type: 'set-model', name: argument }),
  },
  {
    name: 'undo',
    argument: '[N] [PART]',
    help: 'go back to before one of your messages; N: that many; PART: files or conversation',
    needsOwnConversation: true,
    run: undo,
  },
  {
    name: 'redo',
    help: 'undo the last /undo',
    needsOwnConversation: true,
    run: redo,
  },
  {
    name: 'take-back',
    help: 'take back the messages that wait for the next turn',
    needsOwnConversation: true,
    run: (state) => next(state, { type: 'withdraw-messages', from: state.openTask }),
  },
  {
    name: 'usage',
    help: 'tokens and cost of this conversation',
    run: page(usagePage),
  },
  {
    name: 'context',
    help: 'what the context of this conversation holds',
    run: (state) => {
      const task = state.openTask ?? state.conversation.id;
      if (task === null) return hint(state, 'there is no conversation yet');
      return next(state, { type: 'show-context', task });
    },
  },
  {
    name: 'permissions',
    help: 'the permission mode and the rules',
    run: page(permissionsPage),
  },
  {
    name: 'compact',
    argument: '[WHAT TO KEEP]',
    help: 'summarize the conversation to free context',
    needsOwnConversation: true,
    run: (state, argument) => {
      const { id, isAtWork } = state.conversation;
      if (id === null || isAtWork) {
        return hint(state, 'there is no idle conversation to compact: stop it first');
      }
      return next(state, { type: 'send-command', text: `/compact ${argument}`.trimEnd() });
    },
  },
  {
    name: 'copy',
    help: 'copy the last answer to the clipboard',
    run: (state) => copyAnswer(state),
  },
  {
    name: 'export',
    argument: '[FILE]',
    help: 'write the conversation to a file: Markdown, or HTML for a name that ends with .html',
    run: exportConversation,
  },
  {
    name: 'theme',
    argument: '[NAME]',
    help: 'show the colors, or choose others: auto, dark or light',
    completions: () => THEME_CHOICES.map((text) => ({ text, help: '' })),
    run: chooseTheme,
  },
  {
    name: 'resume',
    argument: '[ID]',
    help: 'continue an earlier conversation',
    needsOwnConversation: true,
    run: switchConversation,
  },
  {
    name: 'new',
    help: 'start another conversation; this one can be resumed',
    needsOwnConversation: true,
    run: startNewConversation,
  },
  {
    name: 'quit',
    help: 'stop everything and leave; it can be resumed',
    run: does({ type: 'leave' }),
  },
];

/** Returns the `run` function of a command that only has an effect. */
function does(effect: UiEffect): SlashCommand['run'] {
  return (state) => next(state, effect);
}

/** Returns the `run` function of a command that shows a page. */
function page(build: (source: PageSource, argument: string) => Page): SlashCommand['run'] {
  return (state, argument, context) =>
    showPage(state, build({ ...context, tree: state.tree }, argument), context);
}

/** Returns the `run` function of a command that opens a picker on the screen, and shows a page in plain lines. */
function pickOrPage(
  pick: (state: AppState, context: UpdateContext) => Update,
  inLines: SlashCommand['run'],
): SlashCommand['run'] {
  return (state, argument, context) =>
    state.surface === 'screen' ? pick(state, context) : inLines(state, argument, context);
}

/** A text that the editor offers as a completion: `/help`, `@Explore`. */
export interface Completion {
  readonly text: string;
  readonly help: string;
}

function taskCompletions({ tree }: AppState): readonly Completion[] {
  return [...tree.rows.values()].map(({ id, agent, description }) => ({
    text: id.slice(0, 8),
    help: collapseWhitespace(sanitizeForTerminal(`${agent} ${description}`, 'prose')),
  }));
}

/** Returns the tiers, and the models that the configuration names. */
function modelCompletions({ models }: Pick<LibraryInfo, 'models'>): readonly Completion[] {
  const { fast, balanced, powerful, default: standard, flag } = models.settings;
  const tiers = Object.entries({ fast, balanced, powerful }).map(([text, model]) => ({
    text,
    help: sanitizeLine(model ?? 'the tier'),
  }));
  const named = [standard, flag].flatMap((model) =>
    model === undefined ? [] : [{ text: sanitizeLine(model), help: '' }],
  );
  return [...tiers, ...named];
}

export function agentCompletions({ agents }: LibraryInfo['agents']): readonly Completion[] {
  return agents.map(({ name, description }) => ({
    text: sanitizeLine(`@${name}`),
    help: collapseWhitespace(sanitizeForTerminal(description, 'prose')),
  }));
}
