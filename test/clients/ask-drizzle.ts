import { cpSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { homeOf } from '../../scripts/clients/install.ts';
import { blocksOf, codeOf } from '../../scripts/clients/pages.ts';
import { PROBES, filesFor, runIn, withPort } from './ask.ts';
import type { Ask, ClientAnswers } from './client.ts';

/** Pulls the schema and reads as a page says, beside `data/`, then puts questions by this schema. */
export const askDrizzle: Ask = async (stage, { page, section }, questions) => {
  const { folder } = stage;
  const packages = join(folder, 'node_modules');
  if (!existsSync(packages)) symlinkSync(join(homeOf(page), 'node_modules'), packages);
  rmSync(join(folder, 'schema'), { recursive: true, force: true });
  for (const { section: title, language, code } of blocksOf(page)) {
    const [, name] = /^\/\/ (\S+)\n/.exec(code) ?? [];
    const isOurs = language === 'ts' && [section, 'Read'].includes(title);
    if (isOurs && name !== undefined) writeFileSync(join(folder, name), withPort(code, stage));
  }
  const [pull = '', read = ''] = codeOf(page, 'sh', ['Read']).split('\n');
  await runIn(stage, page, ['sh', '-c', pull]);
  const printed = await runIn(stage, page, ['sh', '-c', read]);
  const probe = 'ask_drizzle.mjs';
  cpSync(join(PROBES, probe), join(folder, probe));
  const files = filesFor(stage, '', JSON.stringify(questions));
  await runIn(stage, page, ['npx', 'tsx', probe, files.questions, files.answers]);
  const { answers } = JSON.parse(readFileSync(files.answers, 'utf8')) as ClientAnswers;
  return { printed, answers };
};
