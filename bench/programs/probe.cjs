'use strict';
// Is loaded before a measured program and reports its memory and CPU time on file descriptor 3.
const { writeSync } = require('node:fs');

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
  report({ peakMb: maxRSS / 1024, cpuMs: (userCPUTime + systemCPUTime) / 1000 });
});
