import { hint, next } from '../step.ts';
import { applyTask, discardTask, showTaskDiff } from '../landing.ts';
import { redo, undo } from '../rewind.ts';
import { openSetup, restart, WANTED } from '../dialogs.ts';
import { pickAgent, pickModel, pickTask } from '../open-picker.ts';
import { mcp } from './mcp.ts';
import { memory } from './memory.ts';
import { sendTaskMessage, stopNamedTask, taskPage } from './one-task.ts';
import { permissions } from './permissions.ts';
import { shells } from './shells.ts';
import { startNewConversation, switchConversation } from './conversations.ts';
import { EFFORTS } from '../../../../protocol/model.ts';
import { DEFAULT_EFFORT } from '../picker-items.ts';
import { configure } from '../settings.ts';
import { chooseThinking, chooseTheme, copyAnswer, exportConversation } from './screen-commands.ts';
import { THEME_CHOICES, THINKING_DISPLAYS } from '../../../../protocol/terminal-settings.ts';
import { does, page, pickOrPage, type SlashCommand } from './slash-command.ts';
import { agentsPage, showHelp, modelPage, tasksPage, usagePage } from './pages.ts';
import { offeredCommands } from './offered-commands.ts';
import { promptCommands } from './server-prompts.ts';
import {
  modelCompletions,
  shellCompletions,
  taskCompletions,
  workspaceCompletions,
} from './completions.ts';

/**
 * All slash commands, in the order of the help. To add a command, add a row to this table; the code of a larger command
 * has a file of its own in this folder. `run` is pure: everything that a command does outside of the state is an effect.
 */
export const COMMANDS: readonly SlashCommand[] = [
  {
    name: 'help',
    help: 'commands and keys',
    run: (state, _argument, context) =>
      showHelp(
        state,
        {
          commands: COMMANDS,
          offered: offeredCommands(context.library),
          prompts: context.library.serverContent === null ? null : promptCommands(context.library),
        },
        context,
      ),
  },
  {
    name: 'tasks',
    help: 'all tasks of this conversation',
    run: pickOrPage(pickTask, page(tasksPage)),
  },
  {
    name: 'shells',
    argument: '[[stop] ID]',
    help: 'the commands that tasks run in the background; stop one',
    completions: shellCompletions,
    run: shells,
  },
  {
    name: 'task-status',
    argument: 'ID',
    help: 'one task: what it is, what it does and what it has used',
    completions: taskCompletions,
    run: page(taskPage),
  },
  {
    name: 'task-send',
    argument: 'ID MESSAGE',
    help: 'send a message to a task; an ended one continues with it',
    completions: taskCompletions,
    run: sendTaskMessage,
  },
  {
    name: 'task-stop',
    argument: 'ID',
    help: 'stop a task with all tasks below it',
    completions: taskCompletions,
    run: stopNamedTask,
  },
  {
    name: 'task-diff',
    argument: 'ID',
    help: 'what a task has changed in its own worktree or copy',
    completions: workspaceCompletions,
    run: showTaskDiff,
  },
  {
    name: 'task-apply',
    argument: 'ID [HOW]',
    help: 'merge these changes into your files; HOW: squash or no-commit',
    completions: workspaceCompletions,
    run: applyTask,
  },
  {
    name: 'task-discard',
    argument: 'ID',
    help: 'delete these changes',
    completions: workspaceCompletions,
    run: discardTask,
  },
  {
    name: 'board',
    argument: '[ID]',
    help: 'the findings that the tasks share; ID: one of them',
    run: (state, argument) => {
      const task = state.openTask ?? state.conversation.id;
      if (task === null) return hint(state, 'there is no conversation yet');
      return next(state, { type: 'show-board', task, finding: argument === '' ? null : argument });
    },
  },
  {
    name: 'agents',
    help: 'the agents that tasks can be delegated to',
    run: pickOrPage(pickAgent, page(agentsPage)),
  },
  {
    name: 'model',
    argument: '[NAME [EFFORT]]',
    help: 'choose the model, and how much it thinks',
    needsOwnConversation: true,
    completions: (_state, library) => modelCompletions(library),
    run: (state, argument, context) =>
      argument === ''
        ? pickOrPage(pickModel, page(modelPage))(state, argument, context)
        : next(state, { type: 'set-model', ...parseModel(argument) }),
  },
  {
    name: 'resume',
    argument: '[ID]',
    help: 'continue an earlier conversation',
    needsOwnConversation: true,
    run: switchConversation,
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
    argument: '[KIND RULE]',
    help: 'the permission mode and the rules; KIND: allow, ask, deny, remove or mode',
    completions: () => PERMISSIONS_WORDS.map((text) => ({ text, help: '' })),
    run: permissions,
  },
  {
    name: 'hooks',
    help: 'the hooks that run here',
    run: does({ type: 'show-hooks' }),
  },
  {
    name: 'memory',
    help: 'the files that agents read: AGENTS.md and others; edit one',
    run: memory,
  },
  {
    name: 'thinking',
    argument: '[HOW]',
    help: 'show thinking short, full or hidden, until you leave',
    completions: () => THINKING_DISPLAYS.map((text) => ({ text, help: '' })),
    run: chooseThinking,
  },
  {
    name: 'editor',
    argument: '[TEXT]',
    help: 'write the message in $VISUAL or $EDITOR; in plain lines it is sent when the editor ends',
    run: (state, text) => next(state, { type: 'edit-text', text }),
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
    argument: '[--all] [FILE]',
    help: 'write the conversation to a file: Markdown, or HTML for a name that ends with .html; --all: with tasks',
    run: exportConversation,
  },
  {
    name: 'theme',
    argument: '[NAME]',
    help: 'choose the colors: auto, dark or light',
    completions: () => THEME_CHOICES.map((text) => ({ text, help: '' })),
    run: chooseTheme,
  },
  {
    name: 'config',
    argument: '[KEY [VALUE]]',
    help: 'show and change your settings',
    needsOwnConversation: true,
    run: configure,
  },
  {
    name: 'status',
    help: 'version, model and key, context, cost, mode, sandbox, and the files of the configuration',
    run: does({ type: 'show-status' }),
  },
  {
    name: 'init',
    help: 'write AGENTS.md for this project, or improve it',
    needsOwnConversation: true,
    run: (state) => next(state, { type: 'send-message', text: INIT_PROMPT, to: null }),
  },
  {
    name: 'login',
    argument: '[PROVIDER]',
    help: 'test the API key of a provider, and save it',
    needsOwnConversation: true,
    run: (state, argument) => openSetup(state, 'login', argument),
  },
  {
    name: 'logout',
    argument: '[PROVIDER]',
    help: 'how to remove a saved key',
    run: page((_source, argument) => ({
      title: '/logout',
      lines: [`type !!muster logout ${argument === '' ? 'PROVIDER' : argument}, then /restart`],
    })),
  },
  {
    name: 'trust',
    help: 'what files of this project would do; trust them',
    needsOwnConversation: true,
    run: (state) => openSetup(state, 'trust', WANTED),
  },
  {
    name: 'mcp',
    argument: '[[DO] NAME]',
    help: 'the MCP servers, with their tools and errors; DO: restart, accept, enable or disable',
    completions: (_state, library) =>
      library.servers.list().map(({ id, target }) => ({ text: id, help: target })),
    run: mcp,
  },
  {
    name: 'restart',
    help: 'open Muster again with this conversation, so that changed settings apply',
    needsOwnConversation: true,
    run: (state) => restart(state, 'Muster was opened again'),
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

const PERMISSIONS_WORDS = ['allow', 'ask', 'deny', 'remove', 'mode'];

/** Reads the argument of `/model`: a name, and perhaps an effort. */
function parseModel(argument: string) {
  const [, name = argument, word = ''] = /^(\S+)\s+(\S+)$/.exec(argument) ?? [];
  if (word === DEFAULT_EFFORT) return { name, effort: null };
  const effort = EFFORTS.find((each) => each === word);
  return effort === undefined ? { name: argument, effort } : { name, effort };
}

/** The message of `/init`. Reading a project takes much context, so a child does it. */
const INIT_PROMPT = `Write AGENTS.md for this project: the page that a coding agent reads before each task.

First delegate to Explore: purpose, layout, the exact commands to build, run, lint and test (all tests, and one), conventions, and traps, each with the file that shows it. Then write AGENTS.md at the root of the repository in at most 60 lines. Leave out what is obvious from the file names, and do not guess.

If there is an AGENTS.md or CLAUDE.md, read it first: keep what is true, correct what is not, add what is missing.`;
