import type { AnyTool } from '../../protocol/tool.ts';
import {
  type DelegationRunner,
  listCalledAgentNames,
  listCheckCommands,
} from '../delegation/delegation.ts';
import type { EngineContext } from '../delegation/engine-context.ts';
import { askUserTool } from './ask-user.ts';
import { boardTool } from './board.ts';
import { exitPlanModeTool } from './exit-plan-mode.ts';
import { mcpCallTool, mcpResourceTool } from './mcp-call.ts';
import { notifyTool } from './notify.ts';
import { runTemplateTool } from './run-template.ts';
import { skillTool } from './skill.ts';
import { taskListTool } from './task-list.ts';
import { taskOutputTool } from './task-output.ts';
import { taskLandTool } from './task-land.ts';
import { taskReplayTool } from './task-replay.ts';
import { taskSendTool } from './task-send.ts';
import { taskStopTool } from './task-stop.ts';
import { createDelegationTool } from './task.ts';
import { toolSearchTool } from './tool-search.ts';

/**
 * Creates the tools that need the engine, for other tasks and for the user, in the order in which requests list them.
 */
export function createTaskTools(
  engine: EngineContext,
  delegate: DelegationRunner,
): readonly AnyTool[] {
  return [
    skillTool(engine, delegate),
    askUserTool(engine),
    exitPlanModeTool(engine),
    taskOutputTool(engine),
    taskStopTool(engine),
    taskSendTool(engine),
    notifyTool(engine),
    createDelegationTool(
      delegate,
      (input) => listCalledAgentNames(engine, input),
      (input) => listCheckCommands(engine, input),
    ),
    taskListTool(engine),
    taskReplayTool(engine),
    boardTool(engine),
    taskLandTool(engine),
    runTemplateTool(engine),
    toolSearchTool(engine),
    mcpCallTool,
    mcpResourceTool,
  ];
}
