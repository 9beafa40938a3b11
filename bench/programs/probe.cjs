'use strict';
// Is loaded before a measured program and reports its memory and CPU time on file descriptor 3.
const { existsSync, readFileSync, writeSync } = require('node:fs');

const STATUS = '/proc/self/status';

const report = (values) => writeSync(3, `${JSON.stringify(values)}\n`);

process.on('SIGUSR2', () => {
  // The second collection frees what the finalizers released that the first one ran.
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  report({ heapBytes: heapUsed + external });
});

process.on('exit', () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  // On Linux, `maxRSS` is at least the memory that the parent had when it started the program.
  const status = existsSync(STATUS) ? readFileSync(STATUS, 'utf8') : '';
  const [, peakKb = maxRSS] = /^VmHWM:\s+(\d+) kB/m.exec(status) ?? [];
  report({ peakMb: Number(peakKb) / 1024, cpuMs: (userCPUTime + systemCPUTime) / 1000 });
});
