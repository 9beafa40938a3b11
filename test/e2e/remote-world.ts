import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { TaskEvent } from '../../src/protocol/events/event.ts';
import { lastUserText, type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { eventsOf } from './muster.ts';
import { clean, tasks } from './tasks.ts';
import { openWorld, type World, type WorldOptions } from './world.ts';

const PROGRAM = resolve(import.meta.dirname, '../fixtures/acp-agent.mjs');

/** One step of the scripted agent: its name, and its argument. */
export type AgentStep = Readonly<Record<string, unknown>>;

/** The prompt with which the scripted agent takes these steps. */
export function stepsPrompt(...steps: readonly AgentStep[]): string {
  return `STEPS: ${JSON.stringify(steps)}`;
}

/** Where an agent's file lies, and what it says besides its program. */
interface RobotOptions {
  readonly fields?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly scope?: 'user' | 'project';
}

/** Writes the file of the agent `robot`, whose work the scripted agent does. */
export function writeRobot(
  { sandbox }: World,
  { fields = '', env = {}, scope = 'user' }: RobotOptions = {},
): void {
  const path =
    scope === 'user'
      ? join(sandbox.home, '.config/muster/agents/robot.md')
      : join(sandbox.workspace, '.muster/agents/robot.md');
  mkdirSync(dirname(path), { recursive: true });
  const acp = {
    command: process.execPath,
    args: [PROGRAM],
    env: { ACP_LOG: join(sandbox.workspace, 'agent.log'), ...env },
  };
  const head = `name: robot\ndescription: Takes the steps that it is told.\nacp: ${JSON.stringify(acp)}`;
  writeFileSync(path, `---\n${head}\n${fields}\n---\nYou are a robot.\n`);
}

/** Opens a world with the agent `robot`. */
export async function openRobotWorld(
  robot: RobotOptions = {},
  options: WorldOptions = {},
): Promise<World> {
  const world = await openWorld(options);
  writeRobot(world, robot);
  return world;
}

/** A model that delegates to the robot, and repeats the result that it gets. */
export function delegateToRobot(prompt: string): (request: RecordedRequest) => Answer {
  return (request) => {
    const results = request.messages.at(-1)?.toolResults ?? [];
    if (results.length > 0) return { text: 'done' };
    if (lastUserText(request) === null) return { text: 'done' };
    const input = { description: 'robot work', prompt, subagent_type: 'robot' };
    return { toolCalls: [{ name: 'Task', input }] };
  };
}

/** What the scripted agent has noted, one line for each thing. It can write there only in a task that may write. */
export function agentLog({ sandbox }: World): readonly string[] {
  const path = join(sandbox.workspace, 'agent.log');
  return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : [];
}

export async function eventsIn(world: World, id: string): Promise<readonly TaskEvent[]> {
  return eventsOf(await tasks(world, 'log', id, '--json'));
}

/** The ids of the tasks, the newest first. */
export async function taskIds(world: World): Promise<readonly string[]> {
  const list: readonly { readonly id: string }[] = JSON.parse(
    clean(await tasks(world, 'list', '--json')),
  );
  return list.map(({ id }) => id);
}
