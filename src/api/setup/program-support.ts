/** The functions that prepare what a program brings along. They are loaded when a program opens a session. */
export { readProgramAgents } from '../../agents/formats/muster/reader.ts';
export { createFunctionHook } from '../../hooks/function-hook.ts';
export { createProgramTool } from '../../tools/program/program-tool.ts';
export { createProgramEnvironments } from './program-environment.ts';
