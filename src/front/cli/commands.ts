import type { Command } from './command.ts';
import { agentsListCommand } from './commands/agents/list.ts';
import { agentsShowCommand } from './commands/agents/show.ts';
import { agentsCheckCommand } from './commands/agents/check.ts';
import { agentsExplainCommand } from './commands/agents/explain.ts';
import { agentsNewCommand } from './commands/agents/new.ts';
import { agentsImportCommand } from './commands/agents/import.ts';
import { commandsListCommand, commandsShowCommand } from './commands/slash-commands.ts';
import { skillsListCommand, skillsCheckCommand } from './commands/skills.ts';
import { tasksListCommand } from './commands/tasks/list.ts';
import { tasksShowCommand } from './commands/tasks/show.ts';
import { tasksLogCommand } from './commands/tasks/log.ts';
import { tasksBoardCommand } from './commands/tasks/board.ts';
import { tasksContextCommand } from './commands/tasks/context.ts';
import { tasksWatchCommand } from './commands/tasks/watch.ts';
import { tasksStopCommand, tasksBackgroundCommand } from './commands/tasks/stop.ts';
import {
  tasksResumeCommand,
  tasksSendCommand,
  tasksBranchCommand,
} from './commands/tasks/message.ts';
import { tasksAnswerCommand } from './commands/tasks/answer.ts';
import { tasksRerunCommand } from './commands/tasks/rerun.ts';
import { tasksTraceCommand } from './commands/tasks/trace.ts';
import { tasksRewindCommand } from './commands/tasks/rewind.ts';
import { tasksExportCommand, tasksImportCommand } from './commands/tasks/export.ts';
import { tasksApplyCommand, tasksDiffCommand, tasksDiscardCommand } from './commands/tasks/land.ts';
import { tasksDeleteCommand, tasksPruneCommand } from './commands/tasks/delete.ts';
import { runCommand } from './commands/run.ts';
import { usageCommand } from './commands/usage.ts';
import { trustListCommand, trustRevokeCommand } from './commands/trust/list.ts';
import { trustAddCommand } from './commands/trust/add.ts';
import { hooksImportCommand } from './commands/hooks/import.ts';
import { hooksListCommand } from './commands/hooks/list.ts';
import { hooksTestCommand } from './commands/hooks/test.ts';
import { acpCommand } from './commands/acp.ts';
import { mcpAddCommand, mcpAddJsonCommand, mcpRemoveCommand } from './commands/mcp/change.ts';
import { mcpImportCommand } from './commands/mcp/import.ts';
import { mcpGetCommand, mcpListCommand } from './commands/mcp/list.ts';
import { mcpLoginCommand, mcpLogoutCommand } from './commands/mcp/login.ts';
import { mcpServeCommand } from './commands/mcp/serve.ts';
import { mcpAcceptCommand, mcpTestCommand } from './commands/mcp/test.ts';
import {
  pluginDisableCommand,
  pluginEnableCommand,
  pluginRemoveCommand,
} from './commands/plugin/change.ts';
import { pluginInstallCommand, pluginUpdateCommand } from './commands/plugin/install.ts';
import { pluginListCommand, pluginShowCommand } from './commands/plugin/list.ts';
import {
  marketplaceAddCommand,
  marketplaceListCommand,
  marketplaceRemoveCommand,
  marketplaceUpdateCommand,
} from './commands/plugin/marketplace.ts';
import { webCommand } from './commands/web.ts';
import { loginCommand } from './commands/keys/login.ts';
import { logoutCommand } from './commands/keys/logout.ts';
import { modelsCommand } from './commands/models.ts';
import { configShowCommand } from './commands/config-show.ts';
import { configSetCommand, configUnsetCommand } from './commands/config-set.ts';
import { sandboxCommand } from './commands/sandbox.ts';
import { doctorCommand } from './commands/doctor.ts';
import { resetTerminalCommand } from './commands/reset-terminal.ts';
import { completionCommand } from './commands/completion.ts';
import { schemaCommand } from './commands/schema.ts';
import { helpCommand } from './commands/help.ts';

/** The commands that are called by words such as `tasks list`, in the order of the help. A run with `-p` does not load this module. */
export const CLI_COMMANDS: readonly Command[] = [
  agentsListCommand,
  agentsShowCommand,
  agentsCheckCommand,
  agentsExplainCommand,
  agentsNewCommand,
  agentsImportCommand,
  commandsListCommand,
  commandsShowCommand,
  skillsListCommand,
  skillsCheckCommand,
  tasksListCommand,
  tasksShowCommand,
  tasksLogCommand,
  tasksContextCommand,
  tasksBoardCommand,
  tasksWatchCommand,
  tasksStopCommand,
  tasksResumeCommand,
  tasksSendCommand,
  tasksAnswerCommand,
  tasksBackgroundCommand,
  tasksTraceCommand,
  tasksRerunCommand,
  tasksBranchCommand,
  tasksRewindCommand,
  tasksDiffCommand,
  tasksApplyCommand,
  tasksDiscardCommand,
  tasksExportCommand,
  tasksImportCommand,
  tasksDeleteCommand,
  tasksPruneCommand,
  runCommand,
  usageCommand,
  webCommand,
  trustListCommand,
  trustAddCommand,
  trustRevokeCommand,
  hooksListCommand,
  hooksTestCommand,
  hooksImportCommand,
  acpCommand,
  mcpListCommand,
  mcpServeCommand,
  mcpGetCommand,
  mcpAddCommand,
  mcpAddJsonCommand,
  mcpRemoveCommand,
  mcpImportCommand,
  mcpTestCommand,
  mcpAcceptCommand,
  mcpLoginCommand,
  mcpLogoutCommand,
  pluginInstallCommand,
  pluginListCommand,
  pluginShowCommand,
  pluginEnableCommand,
  pluginDisableCommand,
  pluginUpdateCommand,
  pluginRemoveCommand,
  marketplaceAddCommand,
  marketplaceListCommand,
  marketplaceUpdateCommand,
  marketplaceRemoveCommand,
  loginCommand,
  logoutCommand,
  modelsCommand,
  configShowCommand,
  configSetCommand,
  configUnsetCommand,
  sandboxCommand,
  doctorCommand,
  resetTerminalCommand,
  completionCommand,
  schemaCommand,
  helpCommand,
];
