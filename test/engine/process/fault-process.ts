import { serveCalls } from '../../../src/engine/process/serve-calls.ts';
import { PROCESS_TOOLS } from '../../../src/tools/process-tools.ts';
import { FAULT_TOOLS } from './fault-tools.ts';

/** The program of the process of a task, with tools that misbehave. */
serveCalls([...PROCESS_TOOLS, ...FAULT_TOOLS]);
