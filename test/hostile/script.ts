import {
  firstUserText,
  lastUserText,
  type Answer,
  type RecordedRequest,
} from '../../src/testing/index.ts';
import type { Script, Step } from './case.ts';
import { PathFlipper } from './path-flipper.ts';
import type { HostileWorld } from './world.ts';

/** The main agent's name in scripts. */
export const MAIN = 'main';

/** A subagent is known by `[NAME]` in its prompt. */
export function taskNameIn(prompt: string): string {
  return /\[([\w-]+)\]/.exec(prompt)?.[1] ?? MAIN;
}

/** Plays a script: a step for each request of a task, then `done`. */
export class ScriptPlayer {
  private readonly script: Script;
  private readonly world: HostileWorld;
  /** Requests so far, by task. */
  private readonly asked = new Map<string, number>();
  private flipper: PathFlipper | null = null;

  constructor(script: Script, world: HostileWorld) {
    this.script = script;
    this.world = world;
  }

  async answer(request: RecordedRequest): Promise<Answer> {
    await this.endFlipping();
    const name = this.nameOf(request);
    const count = this.asked.get(name) ?? 0;
    // One that is tried again is the same step.
    const index = request.attempt > 1 ? Math.max(0, count - 1) : count;
    if (request.attempt === 1) this.asked.set(name, count + 1);
    const step = this.stepsOf(name)[index];
    if (step === undefined) return { text: 'done' };
    if (request.attempt > 1 && step.again !== undefined) return this.world.fill(step.again);
    return withTaskId(await this.play(this.world.fill(step)), request);
  }

  async close(): Promise<void> {
    await this.endFlipping();
  }

  /** A subagent that goes on from its parent's history has its own name in its last message. */
  private nameOf(request: RecordedRequest): string {
    const names = [lastUserText(request), firstUserText(request)].map(taskNameIn);
    return names.find((name) => name !== MAIN && this.script.tasks?.[name] !== undefined) ?? MAIN;
  }

  private stepsOf(name: string): readonly Step[] {
    return (name === MAIN ? this.script.main : this.script.tasks?.[name]) ?? [];
  }

  private async play({ before = [], calls, answer = {} }: Step): Promise<Answer> {
    for (const act of before) {
      if ('flip' in act) {
        this.flipper = await PathFlipper.start(
          this.world.path(act.flip),
          this.world.fill(act.target),
        );
      } else this.world.act(act);
    }
    return calls === undefined ? answer : { ...answer, toolCalls: calls };
  }

  private async endFlipping(): Promise<void> {
    await this.flipper?.stop();
    this.flipper = null;
  }
}

/** With the id of the task that the results name last in the place of `@id@`. */
function withTaskId(answer: Answer, request: RecordedRequest): Answer {
  const texts = request.messages.flatMap(({ toolResults }) => toolResults.map(({ text }) => text));
  const ids = [...texts.join('\n').matchAll(/\btask(?:_id)?[ :"]+([a-z0-9]{12})\b/gi)];
  const id = ids.at(-1)?.[1];
  return id === undefined ? answer : JSON.parse(JSON.stringify(answer).replaceAll('@id@', id));
}
