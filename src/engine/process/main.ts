import { PROCESS_TOOLS } from '../../tools/process-tools.ts';
import { serveCalls } from './serve-calls.ts';

/** The program of the process of an isolated task. */
serveCalls(PROCESS_TOOLS);
