import type { AnyTool } from '../../protocol/tool.ts';
import type { Delegation } from '../delegation.ts';
import type { Workshop } from '../workshop.ts';
import { askUserTool } from './ask-user.ts';
import { notifyTool } from './notify.ts';
import { skillTool } from './skill.ts';
import { taskListTool } from './task-list.ts';
import { taskOutputTool } from './task-output.ts';
import { taskReplayTool } from './task-replay.ts';
import { taskSendTool } from './task-send.ts';
import { taskStopTool } from './task-stop.ts';
import { taskTool } from './task.ts';

export interface TaskToolParts {
  readonly delegate: Delegation;
  /** What the definition is called that a word of a call means, its name first, for the rules to match. */
  typeNames(word: string): readonly [string, ...string[]];
}

/** The tools that need the engine: to ask the user, and to handle other tasks, in request order. */
export function taskTools(
  workshop: Workshop,
  { delegate, typeNames }: TaskToolParts,
): readonly AnyTool[] {
  return [
    skillTool(workshop, delegate),
    askUserTool(workshop),
    taskOutputTool(workshop),
    taskStopTool(workshop),
    taskSendTool(workshop),
    notifyTool(workshop),
    taskTool(delegate, typeNames),
    taskListTool(workshop),
    taskReplayTool(workshop),
  ];
}
