import { THEME_CHOICES, THINKING_DISPLAYS } from '../../../../protocol/terminal-settings.ts';
import { transcriptInView, type AppState } from '../../model/app-state.ts';
import { lastAnswerText } from '../../view/last-answer.ts';
import { changeTerminal, hint, next, type Update } from '../step.ts';
import { pickTheme } from '../open-picker.ts';

/** `/theme [NAME]`: lists the choices, or uses other colors for this session. */
export function chooseTheme(state: AppState, name: string): Update {
  if (state.surface === 'lines') return hint(state, 'plain lines have no colors');
  const choices = THEME_CHOICES.join(', ');
  if (name === '') return pickTheme(state);
  const theme = THEME_CHOICES.find((each) => each === name);
  if (theme === undefined) return hint(state, `there is no theme ${name}: ${choices}`);
  return next(
    {
      ...changeTerminal(state, { theme }),
      hint: `theme: ${theme}; /config terminal.theme ${theme} keeps it`,
    },
    { type: 'use-theme', theme },
  );
}

/** `/copy`: copies the last answer of the conversation in view. */
export function copyAnswer(state: AppState): Update {
  const text = lastAnswerText(transcriptInView(state));
  return text === null
    ? hint(state, 'there is no answer to copy yet')
    : next(state, { type: 'copy-text', text });
}

/**
 * `/export [--all] [FILE]`: writes the conversation in view to a file: HTML by its ending, otherwise Markdown. With `--all`,
 * the conversations of the tasks below are written, too.
 */
export function exportConversation(state: AppState, argument: string): Update {
  const task = state.openTask ?? state.conversation.id;
  if (task === null) return hint(state, 'there is no conversation yet');
  const [, option, file = ''] = /^(--\S*)?\s*(.*)$/s.exec(argument) ?? [];
  const withTasks = option === '--all';
  if (option !== undefined && !withTasks) return hint(state, 'type /export, or /export --all FILE');
  const name = file === '' ? `muster-${task.slice(0, 8)}.md` : file;
  return next(state, { type: 'export-conversation', task, file: name, withTasks });
}

/** `/thinking`: chooses how much of the thinking is shown: the named amount, or the next one. */
export function chooseThinking(state: AppState, argument: string): Update {
  const after = THINKING_DISPLAYS.indexOf(state.terminal.thinking) + 1;
  const following = THINKING_DISPLAYS[after % THINKING_DISPLAYS.length] ?? 'short';
  const thinking =
    argument === '' ? following : THINKING_DISPLAYS.find((each) => each === argument);
  if (thinking === undefined) return hint(state, '/thinking takes short, full or hidden');
  const always = `/config terminal.thinking ${thinking} keeps it`;
  return hint(changeTerminal(state, { thinking }), `thinking: ${thinking}; ${always}`);
}
