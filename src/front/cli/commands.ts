import type { Command } from './command.ts';
import { command as agentsList } from './commands/agents/list.ts';
import { command as agentsShow } from './commands/agents/show.ts';
import { command as agentsCheck } from './commands/agents/check.ts';
import { command as agentsExplain } from './commands/agents/explain.ts';
import { command as agentsNew } from './commands/agents/new.ts';
import { command as agentsImport } from './commands/agents/import.ts';
import { command as skillsList } from './commands/skills/list.ts';
import { command as skillsCheck } from './commands/skills/check.ts';
import { command as tasksList } from './commands/tasks/list.ts';
import { command as tasksShow } from './commands/tasks/show.ts';
import { command as tasksLog } from './commands/tasks/log.ts';
import { command as tasksContext } from './commands/tasks/context.ts';
import { command as tasksWatch } from './commands/tasks/watch.ts';
import { command as tasksStop } from './commands/tasks/stop.ts';
import { command as tasksResume } from './commands/tasks/resume.ts';
import { command as tasksSend } from './commands/tasks/send.ts';
import { command as tasksAnswer } from './commands/tasks/answer.ts';
import { command as tasksBackground } from './commands/tasks/background.ts';
import { command as tasksRerun } from './commands/tasks/rerun.ts';
import { command as tasksBranch } from './commands/tasks/branch.ts';
import { command as tasksRewind } from './commands/tasks/rewind.ts';
import { command as tasksExport } from './commands/tasks/export.ts';
import { command as tasksImport } from './commands/tasks/import.ts';
import { command as tasksDelete } from './commands/tasks/delete.ts';
import { command as tasksPrune } from './commands/tasks/prune.ts';
import { command as run } from './commands/run.ts';
import { command as usage } from './commands/usage.ts';
import { command as trustList } from './commands/trust/list.ts';
import { command as trustAdd } from './commands/trust/add.ts';
import { command as trustRevoke } from './commands/trust/revoke.ts';
import { command as models } from './commands/models.ts';
import { command as configShow } from './commands/config-show.ts';
import { command as sandbox } from './commands/sandbox.ts';
import { command as doctor } from './commands/doctor.ts';
import { command as completion } from './commands/completion.ts';
import { command as schema } from './commands/schema.ts';
import { command as help } from './commands/help.ts';

/** The commands that start with words, in the order of the help. A run with `-p` does not load this module. */
export const COMMANDS: readonly Command[] = [
  agentsList,
  agentsShow,
  agentsCheck,
  agentsExplain,
  agentsNew,
  agentsImport,
  skillsList,
  skillsCheck,
  tasksList,
  tasksShow,
  tasksLog,
  tasksContext,
  tasksWatch,
  tasksStop,
  tasksResume,
  tasksSend,
  tasksAnswer,
  tasksBackground,
  tasksRerun,
  tasksBranch,
  tasksRewind,
  tasksExport,
  tasksImport,
  tasksDelete,
  tasksPrune,
  run,
  usage,
  trustList,
  trustAdd,
  trustRevoke,
  models,
  configShow,
  sandbox,
  doctor,
  completion,
  schema,
  help,
];
