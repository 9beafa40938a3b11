/** The functions about definitions of agents, skills and templates that front ends use. */
export { parseSessionAgents } from '../agents/formats/claude/reader.ts';
export { checkAgents } from './agents/check-agents.ts';
export { resolveAgentFiles } from './agents/choose-agents.ts';
export { createAgent, readPromptFile } from './agents/create-agent.ts';
export { importAgents } from './agents/import-agents.ts';
export { listAgentsBelow, listAgentsIn, showAgent } from './agents/list-agents.ts';
export { listCommandsIn } from './agents/list-commands.ts';
export { checkSkillsIn, listSkillsIn } from './agents/list-skills.ts';
export { loadAgents } from './agents/load-agents.ts';
export { outputSchemaProblem } from './agents/output-schema.ts';
export { explainAgent } from './explain/explain-agent.ts';
export { listTemplatesIn } from './templates/list-templates.ts';
export { loadItems } from './templates/read-items.ts';
