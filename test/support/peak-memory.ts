/**
 * A module for `--import`: the program prints the most memory that it took, in kilobytes, as the last line of stderr. Linux
 * counts it from the start of the program; the peak of `process.resourceUsage()` includes the process that has forked it, here
 * a worker of the tests.
 */
export const PEAK_MEMORY = `data:text/javascript,import { readFileSync } from 'node:fs';
process.on('exit', () => console.error(/VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]));`;
