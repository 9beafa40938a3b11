import { dropMissing } from '../src/base/drop-missing.ts';
import type { FinishReason, ModelRequest } from '../src/protocol/model.ts';
import {
  scriptedModel,
  type ScriptedModelAnswer,
  type ScriptedModelCall,
  type ScriptedModel,
} from '../src/testing/scripted-model.ts';

export type {
  ScriptedModelCall as ScriptedCall,
  ScriptedModel,
} from '../src/testing/scripted-model.ts';

/** One answer of a scripted model, with shorter names of its fields. Without any field it is an empty message. */
export interface ScriptedAnswer extends Pick<
  ScriptedModelAnswer,
  'text' | 'usage' | 'delayMs' | 'failure' | 'refused'
> {
  readonly reasoning?: string;
  readonly calls?: readonly ScriptedModelCall[];
  /** The finish reason. Absent: `tool_calls` with calls, otherwise `stop`. */
  readonly reason?: FinishReason;
}

/** The answers in order, or a function that gets each request and the number of requests before it. */
export type ModelScript =
  | readonly ScriptedAnswer[]
  | ((request: ModelRequest, index: number) => ScriptedAnswer | Promise<ScriptedAnswer>);

/** Creates a model that gives scripted answers (`scriptedModel` of the testing kit). */
export function createScriptedModel(script: ModelScript): ScriptedModel {
  return scriptedModel(
    typeof script === 'function'
      ? async (request, index) => toPortAnswer(await script(request, index))
      : script.map(toPortAnswer),
  );
}

function toPortAnswer({ reasoning, calls, reason, ...rest }: ScriptedAnswer): ScriptedModelAnswer {
  return { ...rest, ...dropMissing({ thinking: reasoning, toolCalls: calls, stop: reason }) };
}
