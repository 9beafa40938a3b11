import type { loadProgramSupport } from '../api/index.ts';
import { dropMissing } from '../base/drop-missing.ts';
import { UsageError } from '../base/errors.ts';
import type { AgentDefinition } from '../protocol/agent.ts';
import { isAgentFunction, type AgentFields, type AgentFunction } from './agents.ts';
import { checkFields } from './check-fields.ts';
import { isTier, toFunctionModelId, type ProgramModels } from './own-models.ts';
import { readSchema } from './standard-schema.ts';

interface AgentReading {
  readonly models: ProgramModels;
  readonly tools: ReadonlySet<string>;
  readonly read: Awaited<ReturnType<typeof loadProgramSupport>>['readProgramAgents'];
}

/** Reads the agents of the program. Throws UsageError that lists everything that is wrong in them. */
export function readAgents(
  agents: Readonly<Record<string, AgentFields | AgentFunction>>,
  { models, tools, read }: AgentReading,
): readonly AgentDefinition[] {
  const isFunctionName = (name: string): boolean => {
    const agent = agents[name];
    return agent !== undefined && isAgentFunction(agent);
  };
  const objects = Object.entries(agents).map(([name, agent]) => {
    if (!isAgentFunction(agent)) return [name, toFileFields(name, agent, models)] as const;
    checkFields(agent, `agents.${name}`, {
      description: 'string',
      run: 'function',
      wallSeconds: 'finite number',
    });
    const { description, wallSeconds } = agent;
    const model = `own/${toFunctionModelId(name)}`;
    // The function gets the prompt of the task alone, and no tools.
    const fields = { prompt: description, tools: [], contextFiles: false } as const;
    return [name, { ...fields, description, model, ...dropMissing({ wallSeconds }) }] as const;
  });
  const { items, problems } = read(JSON.parse(JSON.stringify(Object.fromEntries(objects))), tools);
  const all = [
    ...problems,
    ...items.flatMap(({ name, problems: found }) =>
      found.filter(({ code }) => code !== 'no-tools' || !isFunctionName(name)),
    ),
  ];
  if (all.length > 0) {
    const lines = all.map(
      ({ path, message }) => `${path.replace(/^session:/, 'agents.')}: ${message}`,
    );
    throw new UsageError(`createMuster: ${lines.join('\n')}`);
  }
  return items;
}

/** Returns the fields of an agent as its file would have them: with the model that a name means, and with a JSON Schema. */
function toFileFields(name: string, agent: AgentFields, { named }: ProgramModels): object {
  const { model, outputSchema } = agent;
  // A name of a tier is one of Muster.
  const meant = model === undefined || isTier(model) ? undefined : named.get(model);
  return {
    ...agent,
    ...dropMissing({
      model: meant,
      outputSchema: outputSchema && readSchema(outputSchema, `agents.${name}.outputSchema`).json,
    }),
  };
}
