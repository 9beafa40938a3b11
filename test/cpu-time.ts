/**
 * Runs code and returns the CPU time that this process spent meanwhile, in milliseconds. Unlike elapsed time, it hardly
 * grows on a busy machine, so it can show that an algorithm does far too much work for a hostile input.
 */
export function measureCpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
