import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Reporter, TestModule, Vitest } from 'vitest/node';
import type { TierSeconds } from '../../scripts/house/test-seconds.ts';
import { processorSeconds } from './processor-seconds.ts';
import { tierOf } from './tiers.ts';

const FOLDER = join(import.meta.dirname, '../../coverage');
const SHOWN = 20;

interface FileSeconds {
  readonly file: string;
  readonly seconds: number;
  readonly processor: number;
}

/** Reports at the end of a run which files took most; a tier that ran whole leaves its times in `coverage/`. */
export default class SecondsReporter implements Reporter {
  #vitest: Vitest | null = null;
  readonly #startedAt = performance.now();

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  async onTestRunEnd(modules: readonly TestModule[]): Promise<void> {
    const times = modules.map(secondsOf).sort((a, b) => b.processor - a.processor);
    if (times.length > 1) process.stdout.write(slowest(times));
    const tier = tierOf(process.env);
    const files = await this.#vitest?.globTestSpecifications();
    if (tier === null || files?.length !== modules.length) return;
    const seconds = rounded((performance.now() - this.#startedAt) / 1_000);
    const processor = times.reduce((sum, file) => sum + file.processor, processorSeconds());
    keepTimes({ tier, seconds, processor: rounded(processor), files: modules.length }, times);
  }
}

/** How long a file kept its worker: its tests, its imports, and what is set up before them. */
function secondsOf(module: TestModule): FileSeconds {
  const { environmentSetupDuration, prepareDuration, collectDuration, setupDuration, duration } =
    module.diagnostic();
  const ms = environmentSetupDuration + prepareDuration + collectDuration + setupDuration + duration;
  const { processorSeconds: processor = 0 } = module.meta();
  return { file: module.relativeModuleId, seconds: rounded(ms / 1_000), processor: rounded(processor) };
}

const column = (seconds: number): string => seconds.toFixed(1).padStart(8);
const rounded = (seconds: number): number => Math.round(seconds * 10) / 10;

function slowest(times: readonly FileSeconds[]): string {
  const lines = times
    .slice(0, SHOWN)
    .map((file) => `${column(file.processor)} ${column(file.seconds)} s ${file.file}\n`);
  return `Files that took most of the processor, and how long:\n${lines.join('')}`;
}

/** Replaces this tier's line in `test-seconds.json`, which `npm run house` prints, and writes its files beside it. */
function keepTimes(ran: TierSeconds, times: readonly FileSeconds[]): void {
  const path = join(FOLDER, 'test-seconds.json');
  const known = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as TierSeconds[]) : [];
  const tiers = [...known.filter(({ tier }) => tier !== ran.tier), ran];
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(path, `${JSON.stringify(tiers, null, 2)}\n`);
  writeFileSync(join(FOLDER, `test-seconds.${ran.tier}.json`), `${JSON.stringify(times, null, 2)}\n`);
}
