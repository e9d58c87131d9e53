/** What a policy has come to over all schedules. */
export interface PolicyTotals {
  readonly policy: string;
  readonly entries: number;
  readonly doubled: number;
  readonly lost: number;
  readonly strangers: number;
  readonly parked: number;
}

/** One row of the table, with its head. */
export function tableRow({ policy, doubled, lost, strangers, parked, entries }: PolicyTotals): string {
  const head = 'policy                                doubled   lost   strangers adopted   parked   entries';
  const cells = [
    policy.padEnd(36),
    String(doubled).padStart(9),
    String(lost).padStart(7),
    String(strangers).padStart(20),
    String(parked).padStart(9),
    String(entries).padStart(10),
  ];
  return `${head}\n${cells.join('')}\n`;
}
