import { serveCalls } from '../../../src/engine/process/serve-calls.ts';
import { HOSTILE_TOOLS } from './hostile-tools.ts';

/** The program of the process of a task that was taken over. */
serveCalls(HOSTILE_TOOLS);
