import { afterAll } from 'vitest';
import { processorSeconds } from './processor-seconds.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** What a file took of the processor: its worker and the programs that it started and awaited. */
    processorSeconds?: number;
  }
}

const before = processorSeconds();

afterAll(({}, file) => {
  file.meta.processorSeconds = processorSeconds() - before;
});
