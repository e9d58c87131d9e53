/** The milliseconds of processor time that this process spends on some work: however busy the machine is, a bound on it holds. */
export async function processorMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
