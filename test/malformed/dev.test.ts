import { test } from 'vitest';
import { copiedMirror } from './mirror-file.ts';
import { playScenario, fillMirror } from './scenario.ts';
const open = copiedMirror(fillMirror);
test('collect', { timeout: 600_000 }, async () => {
  const found = new Map<string, { n: number; seeds: number[]; ex: string }>();
  const codes = new Map<string, number>();
  let answers = 0, pulls = 0, deleted = 0; const t0 = performance.now(); const c0 = process.cpuUsage();
  const from = Number(process.env['FROM'] ?? 1); const to = Number(process.env['TO'] ?? 200);
  for (let seed = from; seed <= to; seed++) {
    const played = await playScenario(seed, { session: await open() });
    answers += played.answers.length; pulls += played.pulls; deleted += played.deleted;
    for (const { code } of played.answers) codes.set(code, (codes.get(code) ?? 0) + 1);
    for (const problem of new Set(played.problems)) {
      if (/NUL in (fields|drift).field/.test(problem)) continue;
      const sig = problem.replace(/\d+/g, '#').slice(0, 90);
      const f = found.get(sig) ?? { n: 0, seeds: [], ex: problem.slice(0, 700) };
      f.n++; if (f.seeds.length < 5) f.seeds.push(seed); found.set(sig, f);
    }
  }
  console.log(answers, 'answers', pulls, 'pulls', deleted, 'deleted', Math.round(performance.now() - t0), 'ms', process.cpuUsage(c0));
  console.log([...codes].sort((a, b) => b[1] - a[1]).map(([c, n]) => `${n} ${c}`).join('\n'));
  for (const [, f] of [...found].sort((a, b) => b[1].n - a[1].n).slice(0, 60)) console.log(`### ${f.n}x seeds ${f.seeds.join()}\n    ${JSON.stringify(f.ex)}`);
});
