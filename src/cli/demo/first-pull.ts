import { pull } from '../../app/pull.ts';
import type { PullReport } from '../../app/pull.ts';
import { queryMirror } from '../../app/commands/report.ts';
import type { Row } from '../../app/commands/report.ts';
import { textTable } from '../print/io.ts';
import type { createProgress } from '../print/progress.ts';
import { DEMO_DATABASE } from './stage.ts';
import type { DemoStage } from './stage.ts';

/** The most-bought products; the sums are exact, because they count whole units of 0.0001. */
export const QUESTION = `select product_name, count(*) as lines, printf('%.2f', sum(produit_total_e4) / 10000.0) as total
from bi_purchase_products group by product_name order by sum(produit_total_e4) desc limit 5`;

interface DemoKind {
  readonly kind: string;
  readonly inService: number;
  readonly inMirror: number;
}

export interface FirstPull {
  readonly report: PullReport;
  readonly kinds: readonly DemoKind[];
  readonly answer: readonly Row[];
}

/** Reads the whole service into the mirror, and asks the mirror a first question. */
export async function firstPull(
  stage: DemoStage,
  progress: Pick<ReturnType<typeof createProgress>, 'onProgress' | 'stop'>,
): Promise<FirstPull> {
  const { sandbox, config, logger, io } = stage;
  const report = await pull(config, {
    ...{ kinds: [], acceptNewSource: false, logger, signal: io.signal },
    onProgress: progress.onProgress,
  }).finally(progress.stop);
  const kinds = report.kinds.map(({ kind, rows }) => ({
    ...{ kind, inService: sandbox.world.count(kind) },
    inMirror: rows,
  }));
  const first = { report, kinds, answer: await queryMirror(config, QUESTION) };
  tell(stage, first);
  return first;
}

function tell({ say }: DemoStage, { report, kinds, answer }: FirstPull): void {
  const seconds = (report.durationMs / 1000).toFixed(1);
  say(`1. A simulated service is mirrored into ${DEMO_DATABASE}, in ${seconds} s:\n`);
  const rows = kinds.map(({ kind, inService, inMirror }) => [kind, inService, inMirror]);
  say(textTable(['kind', 'in the service', 'in the mirror'], rows));
  say('\nA first query:\n');
  say(`${QUESTION};\n`.split('\n'));
  const cells = answer.map((row) => Object.values(row));
  say(textTable(Object.keys(answer[0] ?? {}), cells));
}
